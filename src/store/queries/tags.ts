import type { Kysely, Transaction } from 'kysely';
import { conflict } from '../failure.ts';
import { InputCheck } from '../input.ts';
import type { Session } from '../session.ts';
import type { New, NewRow, Row, Stored, Tables } from '../tables.ts';
import { changedColumns, newRow, recordOf } from './conversion.ts';
import { assertRow, deleteRow, findRow, holdRow, insertRow, lockRow, readRow, updateRow } from './identified-row.ts';
import {
  assertOwner,
  columnsOfOwner,
  type GraphOwner,
  holdOwner,
  ownerColumn,
  ownerOf,
  reaching,
} from './owner-columns.ts';
import {
  addAssignments,
  listAssignments,
  type NewTagAssignment,
  removeAssignments,
  type TagAssignment,
  type TagAssignmentFilter,
} from './tag-assignments.ts';

export type TagOwner = GraphOwner;

/** A kind of work that nodes can do. */
export interface TagRecord extends Omit<Stored<'tag'>, 'releaseId' | 'pluginId' | 'clusterId'> {
  readonly owner: TagOwner;
}

export type NewTag = New<'tag'>;

/** Layers in the order in which they are listed. */
const LAYERS = ['release', 'plugin', 'cluster'] as const;

/**
 * Tags, and which nodes have them. An unknown id is `not-found`.
 *
 * Every write locks the owner's row, or the cluster's, first.
 */
export class TagStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** @throws `conflict` when the owner has a tag of this name; `not-found` for the owner. */
  async create(owner: TagOwner, tag: NewTag): Promise<TagRecord> {
    const check = new InputCheck();
    const row = rowOf(check, '', owner, tag);
    check.done();
    return this.#session.write(async (transaction) => {
      await holdOwner(transaction, owner);
      if ((await findTag(transaction, owner, row.name)) !== undefined) {
        const message = `Tag with name '${row.name}' already exists for ${owner.kind} ${owner.id}`;
        throw conflict(message, 'Change the existing one, or choose another name.');
      }
      return tagOf(await insertRow(transaction, 'tag', row));
    });
  }

  /** Replaces the owner's read-only tags by these; user-made tags of the same name stay. */
  async replaceReadOnly(owner: TagOwner, tags: readonly NewTag[]): Promise<readonly TagRecord[]> {
    const check = new InputCheck();
    const rows = new Map(
      tags.map((tag, index) => {
        const row = rowOf(check, `tags[${index}].`, owner, { ...tag, readOnly: true });
        return [row.name, row];
      }),
    );
    check.done();
    return this.#session.write(async (transaction) => {
      await holdOwner(transaction, owner);
      for (const present of await ownTags(transaction, owner)) {
        const wanted = rows.get(present.name);
        rows.delete(present.name);
        if (present.readOnly === 0) continue;
        if (wanted === undefined) await deleteRow(transaction, 'tag', present.id);
        else await updateRow(transaction, 'tag', present.id, wanted);
      }
      for (const row of rows.values()) await insertRow(transaction, 'tag', row);
      return (await ownTags(transaction, owner)).map(tagOf);
    });
  }

  get(id: number): Promise<TagRecord> {
    return this.#session.read(async (db) => tagOf(await readRow(db, 'tag', id)));
  }

  /** @throws `not-found` for the owner. */
  find(owner: TagOwner, name: string): Promise<TagRecord | null> {
    return this.#session.read(async (db) => {
      await assertOwner(db, owner);
      const row = await findTag(db, owner, name);
      return row === undefined ? null : tagOf(row);
    });
  }

  /** The owner's tags, by name. @throws `not-found` for the owner. */
  list(owner: TagOwner): Promise<readonly TagRecord[]> {
    return this.#session.read(async (db) => {
      await assertOwner(db, owner);
      return (await ownTags(db, owner)).map(tagOf);
    });
  }

  /** Tags of its release, of its enabled plugins, and its own: by name, then in this order. */
  ofCluster(clusterId: number): Promise<readonly TagRecord[]> {
    return this.#session.read(async (db) => {
      const { releaseId } = await readRow(db, 'cluster', clusterId);
      const rows = await db
        .selectFrom('tag')
        .selectAll()
        .where(reaching(db, clusterId, releaseId))
        .orderBy('name')
        .orderBy('id')
        .execute();
      const layer = (tag: TagRecord) => LAYERS.indexOf(tag.owner.kind);
      const tags = rows.map(tagOf);
      return tags.sort((one, other) => (one.name === other.name ? layer(one) - layer(other) : 0));
    });
  }

  /** Also changes read-only tags; the caller decides. A tag keeps its name, because nodes refer to it by name. */
  async update(id: number, change: Partial<Omit<NewTag, 'name'>>): Promise<TagRecord> {
    const check = new InputCheck();
    const columns = changedColumns('tag', check, change);
    check.done();
    return this.#session.write(async (transaction) => {
      const name = await lockRow(transaction, 'tag', id);
      return tagOf(await updateRow(transaction, 'tag', id, { ...columns, name }));
    });
  }

  /**
   * Removes the tag, and removes it and its instances from nodes unless another tag has the same name.
   * @throws `conflict` when it is read-only, unless `force`.
   */
  delete(id: number, options: { readonly force?: boolean } = {}): Promise<void> {
    return this.#session.write(async (transaction) => {
      const row = await holdRow(transaction, 'tag', id);
      if (row.readOnly !== 0 && options.force !== true) {
        const hint = 'Remove it from nodes instead; it disappears when its release or plugin drops it.';
        throw conflict(`The tag "${row.name}" belongs to a role and cannot be deleted.`, hint);
      }
      await deleteRow(transaction, 'tag', id);
      for (const cluster of await clustersOf(transaction, tagOf(row).owner)) {
        await lockRow(transaction, 'cluster', cluster);
        await removeFromNodes(transaction, cluster, row.name);
      }
    });
  }

  /** By node, tag, source and role. @throws `not-found` for the cluster. */
  assignments(clusterId: number, filter: TagAssignmentFilter = {}): Promise<readonly TagAssignment[]> {
    return this.#session.read(async (db) => {
      await assertRow(db, 'cluster', clusterId);
      return listAssignments(db, clusterId, filter);
    });
  }

  /**
   * Assigns tags to nodes, all or none; existing assignments stay.
   * @throws `invalid` naming the nodes outside the cluster.
   */
  assign(clusterId: number, assignments: readonly NewTagAssignment[]): Promise<void> {
    return this.#session.write(async (transaction) => {
      await lockRow(transaction, 'cluster', clusterId);
      await addAssignments(transaction, clusterId, assignments);
    });
  }

  /** Removes the assignments that match the filter, and returns how many. An empty filter matches all. */
  unassign(clusterId: number, filter: TagAssignmentFilter): Promise<number> {
    return this.#session.write(async (transaction) => {
      await lockRow(transaction, 'cluster', clusterId);
      return removeAssignments(transaction, clusterId, filter);
    });
  }
}

const rowOf = (check: InputCheck, at: string, owner: TagOwner, tag: NewTag): NewRow<'tag'> =>
  newRow('tag', check, tag, columnsOfOwner(owner), at);

const ownTags = (db: Kysely<Tables>, owner: TagOwner): Promise<Row<'tag'>[]> =>
  db.selectFrom('tag').selectAll().where(ownerColumn[owner.kind], '=', owner.id).orderBy('name').execute();

const findTag = (db: Kysely<Tables>, owner: TagOwner, name: string): Promise<Row<'tag'> | undefined> =>
  findRow(db, 'tag', { [ownerColumn[owner.kind]]: owner.id, name });

/** Clusters in which the owner's tags can be assigned, in locking order. */
async function clustersOf(db: Kysely<Tables>, owner: TagOwner): Promise<number[]> {
  if (owner.kind === 'cluster') return [owner.id];
  const rows =
    owner.kind === 'release'
      ? await db.selectFrom('cluster').select('id').where('releaseId', '=', owner.id).orderBy('id').execute()
      : await db
          .selectFrom('clusterPlugin')
          .select('clusterId as id')
          .where('pluginId', '=', owner.id)
          .where('enabled', '=', 1)
          .orderBy('clusterId')
          .execute();
  return rows.map((row) => row.id);
}

/** Removes a name and its instances from the nodes, unless another tag of the cluster has it. */
async function removeFromNodes(transaction: Transaction<Tables>, clusterId: number, name: string): Promise<void> {
  const { releaseId } = await readRow(transaction, 'cluster', clusterId);
  const others = await transaction
    .selectFrom('tag')
    .leftJoin('clusterPlugin', (join) =>
      join
        .onRef('clusterPlugin.pluginId', '=', 'tag.pluginId')
        .on('clusterPlugin.clusterId', '=', clusterId)
        .on('clusterPlugin.enabled', '=', 1),
    )
    .select('tag.id')
    .where('tag.name', '=', name)
    .where((eb) =>
      eb.or([
        eb('tag.clusterId', '=', clusterId),
        eb('tag.releaseId', '=', releaseId),
        eb('clusterPlugin.enabled', '=', 1),
      ]),
    )
    .executeTakeFirst();
  if (others !== undefined) return;
  await transaction
    .deleteFrom('tagNodeAssignment')
    .where('clusterId', '=', clusterId)
    // ";" sorts right after ":", so this is the range of all instances.
    .where((eb) => eb.or([eb('tag', '=', name), eb.and([eb('tag', '>=', `${name}:`), eb('tag', '<', `${name};`)])]))
    .execute();
}

function tagOf({ releaseId, pluginId, clusterId, ...row }: Row<'tag'>): TagRecord {
  return { ...recordOf('tag', row), owner: ownerOf({ releaseId, pluginId, clusterId }) };
}
