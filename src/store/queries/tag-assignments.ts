import type { Kysely, Transaction } from 'kysely';
import { InputCheck, storable } from '../input.ts';
import type { Row, Stored, Tables } from '../tables.ts';
import { inBatches } from './batches.ts';

export interface TagAssignment extends Omit<Stored<'tagNodeAssignment'>, 'role'> {
  /** The role that brought it; null for a user's tag. */
  readonly role: string | null;
}

/** All given conditions must hold. */
export interface TagAssignmentFilter {
  readonly nodeIds?: readonly number[];
  readonly tags?: readonly string[];
  readonly sources?: readonly TagSource[];
  readonly roles?: readonly (string | null)[];
}

export type NewTagAssignment = Omit<TagAssignment, 'clusterId'>;

/** By node, tag, source and role. */
export async function listAssignments(
  db: Kysely<Tables>,
  clusterId: number,
  filter: TagAssignmentFilter,
): Promise<TagAssignment[]> {
  const rows = await db
    .selectFrom('tagNodeAssignment')
    .selectAll()
    .where('clusterId', '=', clusterId)
    .orderBy('nodeId')
    .orderBy('tag')
    .orderBy('source')
    .orderBy('role')
    .execute();
  return rows.filter(matcher(filter)).map(assignmentOf);
}

/** Lock the cluster's row first. @throws StoreError of kind `invalid` naming nodes outside the cluster */
export async function addAssignments(
  transaction: Transaction<Tables>,
  clusterId: number,
  assignments: readonly NewTagAssignment[],
): Promise<void> {
  const check = new InputCheck();
  const rows = assignments.map((given, index) => ({
    clusterId,
    nodeId: given.nodeId,
    tag: check.key(`assignments[${index}].tag`, given.tag),
    source: given.source,
    role: given.role === null ? '' : check.key(`assignments[${index}].role`, given.role),
  }));
  const members = await transaction.selectFrom('node').select('id').where('clusterId', '=', clusterId).execute();
  const ids = new Set(members.map((node) => node.id));
  for (const nodeId of new Set(rows.map((row) => row.nodeId))) {
    if (ids.has(nodeId)) continue;
    check.refuse('assignments', `Node ${nodeId} is not in cluster ${clusterId}.`, 'Assign the node a role first.');
  }
  check.done();
  for (const batch of inBatches(rows)) {
    await transaction
      .insertInto('tagNodeAssignment')
      .values(batch)
      .onConflict((on) => on.columns(['nodeId', 'tag', 'source', 'role']).doNothing())
      .execute();
  }
}

/** Lock the cluster's row first. Returns how many were removed. */
export async function removeAssignments(
  transaction: Transaction<Tables>,
  clusterId: number,
  filter: TagAssignmentFilter,
): Promise<number> {
  const rows = await transaction
    .selectFrom('tagNodeAssignment')
    .selectAll()
    .where('clusterId', '=', clusterId)
    .execute();
  const gone = rows.filter(matcher(filter));
  for (const { nodeId, tag, source, role } of gone) {
    await transaction
      .deleteFrom('tagNodeAssignment')
      .where('nodeId', '=', nodeId)
      .where('tag', '=', tag)
      .where('source', '=', source)
      .where('role', '=', role)
      .execute();
  }
  return gone.length;
}

function matcher(filter: TagAssignmentFilter): (row: Row<'tagNodeAssignment'>) => boolean {
  const nodeIds = filter.nodeIds && new Set(filter.nodeIds);
  const tags = filter.tags && new Set(filter.tags.map(storable));
  const sources = filter.sources && new Set<string>(filter.sources);
  const roles = filter.roles && new Set(filter.roles.map((role) => (role === null ? '' : storable(role))));
  return (row) =>
    (nodeIds?.has(row.nodeId) ?? true) &&
    (tags?.has(row.tag) ?? true) &&
    (sources?.has(row.source) ?? true) &&
    (roles?.has(row.role) ?? true);
}

const assignmentOf = (row: Row<'tagNodeAssignment'>): TagAssignment => ({
  ...row,
  role: row.role === '' ? null : row.role,
});

/** Who gave a node its tag: an assigned role, a user, or an extension. */
export type TagSource = Stored<'tagNodeAssignment'>['source'];
