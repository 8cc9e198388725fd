import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import { inUse, StoreError } from '../failure.ts';
import { InputCheck } from '../input.ts';
import type { Session } from '../session.ts';
import type { New, Stored, Tables } from '../tables.ts';
import { newRow, recordOf } from './conversion.ts';
import { deleteRow, findRow, holdRow, listRows, lockRow, readRow } from './identified-row.ts';
import { clustersOfPlugins, clustersOfReleases } from './users-of.ts';

/** A package that is installed, without its archive. */
export type PackageRecord = Stored<'package'>;

type NewPackage = New<'package'> & { readonly archive: Uint8Array };

/** Installed packages. An unknown id is `not-found`. */
export class PackageStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Stores the package, replacing one of the same name and version. Computes the checksum. */
  async put(pack: NewPackage): Promise<{ readonly package: PackageRecord; readonly created: boolean }> {
    const now = new Date().toISOString();
    const check = new InputCheck();
    const bytes = Buffer.from(pack.archive);
    const { archive: _, ...about } = pack;
    const own = { checksum: checksumOf(bytes), size: bytes.length, installedAt: now, updatedAt: now };
    const row = newRow('package', check, about, own);
    check.done();
    return this.#session.write(async (transaction) => {
      const { name: _name, version: _version, installedAt: _installedAt, ...content } = row;
      const inserted = await transaction
        .insertInto('package')
        .values(row)
        .onConflict((on) => on.columns(['name', 'version']).doNothing())
        .returningAll()
        .executeTakeFirst();
      const stored =
        inserted ??
        (await transaction
          .updateTable('package')
          .set(content)
          .where('name', '=', row.name)
          .where('version', '=', row.version)
          .returningAll()
          .executeTakeFirstOrThrow());
      await transaction
        .insertInto('packageArchive')
        .values({ packageId: stored.id, bytes })
        .onConflict((on) => on.column('packageId').doUpdateSet({ bytes }))
        .execute();
      return { package: recordOf('package', stored), created: inserted !== undefined };
    });
  }

  get(id: number): Promise<PackageRecord> {
    return this.#session.read(async (db) => recordOf('package', await readRow(db, 'package', id)));
  }

  find(name: string, version: string): Promise<PackageRecord | null> {
    return this.#session.read(async (db) => {
      const row = await findRow(db, 'package', { name, version });
      return row === undefined ? null : recordOf('package', row);
    });
  }

  /** By id, ascending. */
  list(): Promise<readonly PackageRecord[]> {
    return this.#session.read(async (db) => (await listRows(db, 'package', {})).map((row) => recordOf('package', row)));
  }

  /** @throws `corrupt` when its checksum differs from the recorded one. */
  async readArchive(id: number): Promise<Uint8Array> {
    const { name, version, checksum, bytes } = await this.#session.read(async (db) => {
      const row = await readRow(db, 'package', id);
      const archive = await db
        .selectFrom('packageArchive')
        .select('bytes')
        .where('packageId', '=', id)
        .executeTakeFirstOrThrow();
      return { ...row, bytes: archive.bytes };
    });
    if (checksumOf(bytes) !== checksum) {
      throw new StoreError({
        kind: 'corrupt',
        message: `The stored archive of package "${name}" ${version} is not the one that was installed.`,
        hint: 'Install the package again.',
      });
    }
    return bytes;
  }

  /**
   * Removes the package with its releases and plugins.
   * @throws `conflict` with `users` while clusters use any of them; then nothing is removed.
   */
  delete(id: number): Promise<void> {
    return this.#session.write(async (transaction) => {
      const { name, version } = await holdRow(transaction, 'package', id);
      const { releaseIds, pluginIds } = await contentsOf(transaction, id);
      for (const release of releaseIds) await lockRow(transaction, 'release', release);
      for (const plugin of pluginIds) await lockRow(transaction, 'plugin', plugin);
      const users = new Map(
        [
          ...(await clustersOfReleases(transaction, releaseIds)),
          ...(await clustersOfPlugins(transaction, pluginIds)),
        ].map((user) => [user.id, user]),
      );
      if (users.size > 0) {
        const hint =
          "Disable its plugins in these clusters ('sitewright plugin disable PLUGIN --cluster CLUSTER'), or delete the clusters ('sitewright cluster delete CLUSTER').";
        throw inUse(`The package "${name}" ${version}`, [...users.values()], hint);
      }
      for (const release of releaseIds) await deleteRow(transaction, 'release', release);
      for (const plugin of pluginIds) await deleteRow(transaction, 'plugin', plugin);
      await deleteRow(transaction, 'package', id);
    });
  }
}

const checksumOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

async function contentsOf(db: Kysely<Tables>, id: number) {
  const releases = await db.selectFrom('release').select('id').where('packageId', '=', id).orderBy('id').execute();
  const plugins = await db.selectFrom('plugin').select('id').where('packageId', '=', id).orderBy('id').execute();
  return { releaseIds: releases.map((row) => row.id), pluginIds: plugins.map((row) => row.id) };
}
