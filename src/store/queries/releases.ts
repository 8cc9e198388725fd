import { inUse } from '../failure.ts';
import { InputCheck } from '../input.ts';
import type { Session } from '../session.ts';
import type { New, Stored } from '../tables.ts';
import { newRow, recordOf } from './conversion.ts';
import { createDefaultGraph } from './default-graph.ts';
import { deleteRow, holdRow } from './identified-row.ts';
import { clustersOfReleases } from './users-of.ts';
import { insertVersion, VersionedStore } from './versioned-store.ts';

/** Releases, from which clusters are built. */
export type ReleaseRecord = Stored<'release'>;

type NewRelease = New<'release'>;

/** Releases. An unknown id is `not-found` for every call but `list` and `find`. */
export class ReleaseStore extends VersionedStore<'release'> {
  readonly #session: Session;

  constructor(session: Session) {
    super(session, 'release');
    this.#session = session;
  }

  /** Also creates an empty graph of type `default`. @throws `conflict` when name and version are taken. */
  async create(release: NewRelease): Promise<ReleaseRecord> {
    const now = new Date().toISOString();
    const check = new InputCheck();
    const row = newRow('release', check, release, { createdAt: now, updatedAt: now });
    check.done();
    return this.#session.write(async (transaction) => {
      const stored = await insertVersion(transaction, 'release', row);
      await createDefaultGraph(transaction, { kind: 'release', id: stored.id });
      return recordOf('release', stored);
    });
  }

  /**
   * Removes the release with its graphs, sequences and tags.
   * @throws `conflict` with `users` while clusters use it or are pending to.
   */
  delete(id: number): Promise<void> {
    return this.#session.write(async (transaction) => {
      const { name, version } = await holdRow(transaction, 'release', id);
      const users = await clustersOfReleases(transaction, [id]);
      if (users.length > 0) {
        throw inUse(
          `The release "${name}" ${version}`,
          users,
          "Move these clusters to another version first ('sitewright cluster move CLUSTER --release NAME==VERSION'), or delete them.",
        );
      }
      await deleteRow(transaction, 'release', id);
    });
  }
}
