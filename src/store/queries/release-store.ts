import { conflict, inUse } from '../failure.js';
import { InputCheck, storable } from '../input.js';
import type { JsonObject } from '../ports/page.js';
import type { NewRelease, ReleaseChange, ReleaseRecord, ReleaseStore } from '../ports/release-store.js';
import type { Session } from '../session.js';
import type { ReleaseRow } from '../tables/cluster-rows.js';
import { createDefaultGraph } from './default-graph.js';
import { assertRow, deleteRow, holdRow, isId, readRow } from './identified-row.js';
import { clustersOfReleases } from './users-of.js';

/** ReleaseStore on either database. */
export class SqlReleaseStore implements ReleaseStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async create(release: NewRelease): Promise<ReleaseRecord> {
    const now = new Date().toISOString();
    const check = new InputCheck();
    const { name, version, ...others } = release;
    const columns = columnsOf(check, others);
    const row = {
      name: check.key('name', name),
      version: check.key('version', version),
      operatingSystem: columns.operatingSystem ?? '',
      description: columns.description ?? '',
      state: columns.state ?? 'available',
      isDeployable: columns.isDeployable ?? 1,
      rolesMetadata: columns.rolesMetadata ?? '{}',
      tagsMetadata: columns.tagsMetadata ?? '{}',
      metadata: columns.metadata ?? '{}',
      packageId: columns.packageId ?? null,
      createdAt: now,
      updatedAt: now,
    };
    check.done();
    return this.#session.write(async (transaction) => {
      if (row.packageId !== null) await assertRow(transaction, 'package', row.packageId);
      const stored = await transaction
        .insertInto('release')
        .values(row)
        .onConflict((on) => on.columns(['name', 'version']).doNothing())
        .returningAll()
        .executeTakeFirst();
      if (stored === undefined) throw taken(row.name, row.version);
      await createDefaultGraph(transaction, { kind: 'release', id: stored.id });
      return releaseOf(stored);
    });
  }

  get(id: number): Promise<ReleaseRecord> {
    return this.#session.read(async (db) => releaseOf(await readRow(db, 'release', id)));
  }

  find(name: string, version: string): Promise<ReleaseRecord | null> {
    return this.#session.read(async (db) => {
      const row = await db
        .selectFrom('release')
        .selectAll()
        .where('name', '=', storable(name))
        .where('version', '=', storable(version))
        .executeTakeFirst();
      return row === undefined ? null : releaseOf(row);
    });
  }

  async list(filter: { readonly ids?: readonly number[]; readonly packageId?: number } = {}) {
    const ids = filter.ids?.filter(isId);
    if (ids?.length === 0) return [];
    return this.#session.read(async (db) => {
      let query = db.selectFrom('release').selectAll();
      if (ids !== undefined) query = query.where('id', 'in', ids);
      if (filter.packageId !== undefined) query = query.where('packageId', '=', filter.packageId);
      return (await query.orderBy('id').execute()).map(releaseOf);
    });
  }

  async update(id: number, change: ReleaseChange): Promise<ReleaseRecord> {
    const check = new InputCheck();
    const columns = columnsOf(check, change);
    check.done();
    return this.#session.write(async (transaction) => {
      const present = await holdRow(transaction, 'release', id);
      if (columns.packageId != null) await assertRow(transaction, 'package', columns.packageId);
      const { name = present.name, version = present.version } = columns;
      const other = await transaction
        .selectFrom('release')
        .select('id')
        .where('name', '=', name)
        .where('version', '=', version)
        .where('id', '!=', id)
        .executeTakeFirst();
      if (other !== undefined) throw taken(name, version);
      const row = await transaction
        .updateTable('release')
        .set({ ...columns, updatedAt: new Date().toISOString() })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow();
      return releaseOf(row);
    });
  }

  delete(id: number): Promise<void> {
    return this.#session.write(async (transaction) => {
      const { name, version } = await holdRow(transaction, 'release', id);
      const users = await clustersOfReleases(transaction, [id]);
      if (users.length > 0) {
        throw inUse(
          `The release "${name}" ${version}`,
          users,
          'Delete these clusters first, or give them another release.',
        );
      }
      await deleteRow(transaction, 'release', id);
    });
  }
}

/** The columns a change sets; an absent field is undefined, which sets nothing. */
function columnsOf(check: InputCheck, change: ReleaseChange) {
  const json = (path: string, value: unknown) => (value === undefined ? undefined : check.json(path, value));
  const text = (value: string | undefined) => (value === undefined ? undefined : storable(value));
  return {
    name: change.name === undefined ? undefined : check.key('name', change.name),
    version: change.version === undefined ? undefined : check.key('version', change.version),
    operatingSystem: text(change.operatingSystem),
    description: text(change.description),
    state: change.state === undefined ? undefined : check.key('state', change.state),
    isDeployable: change.isDeployable === undefined ? undefined : Number(change.isDeployable),
    rolesMetadata: json('rolesMetadata', change.rolesMetadata),
    tagsMetadata: json('tagsMetadata', change.tagsMetadata),
    metadata: json('metadata', change.metadata),
    packageId: change.packageId,
  };
}

const taken = (name: string, version: string) =>
  conflict(
    `There is a release "${name}" with version ${version} already.`,
    'Change that one, or choose another version.',
  );

const releaseOf = (row: ReleaseRow): ReleaseRecord => ({
  ...row,
  isDeployable: row.isDeployable !== 0,
  rolesMetadata: JSON.parse(row.rolesMetadata) as JsonObject,
  tagsMetadata: JSON.parse(row.tagsMetadata) as JsonObject,
  metadata: JSON.parse(row.metadata) as JsonObject,
});
