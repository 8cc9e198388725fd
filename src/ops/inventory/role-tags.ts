import { type Catalogue, tagsOnRoleChange } from '../../clusters/tags/index.js';
import type { NewTagAssignment, NodeRecord, StorePorts } from '../../store/index.js';

/** Roles of a node, those it is to get included. */
export const allRoles = (node: Pick<NodeRecord, 'roles' | 'pendingRoles'>): readonly string[] => [
  ...new Set([...node.roles, ...node.pendingRoles]),
];

export interface RolesChanged {
  readonly node: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** What changes of roles mean for the tags of nodes, worked out and not yet done. */
export interface TagsChange {
  readonly cluster: number;
  readonly lost: readonly { readonly node: number; readonly roles: readonly string[] }[];
  readonly given: readonly NewTagAssignment[];
}

/**
 * May say otherwise what tags roles give nodes, e.g. `mysql:1` and `mysql:2`; what it throws refuses the assignment.
 * It is asked once for all nodes of a change, before anything is changed.
 */
export type TagAllocator = (
  cluster: number,
  changes: readonly RolesChanged[],
  given: readonly NewTagAssignment[],
  catalogue: Catalogue,
) => Promise<readonly NewTagAssignment[]>;

/**
 * Nodes get the tags of roles that are new to them, and lose those that came with roles they have no more. What was
 * given or taken by hand stays as it is.
 */
export async function tagsChange(
  cluster: number,
  catalogue: Catalogue,
  changes: readonly RolesChanged[],
  allocate: TagAllocator,
): Promise<TagsChange> {
  const worked = changes.map(({ node, before, after }) => ({
    node,
    ...tagsOnRoleChange({ before, after, roles: catalogue.roles }),
  }));
  const given = worked.flatMap(({ node, given: own }) =>
    own.map(({ tag, role }): NewTagAssignment => ({ nodeId: node, tag, source: 'role', role })),
  );
  return {
    cluster,
    lost: worked.flatMap(({ node, lost }) => (lost.length === 0 ? [] : [{ node, roles: lost }])),
    given: given.length === 0 ? [] : await allocate(cluster, changes, given, catalogue),
  };
}

export async function changeTags(store: Pick<StorePorts, 'tags'>, { cluster, lost, given }: TagsChange): Promise<void> {
  for (const { node, roles } of lost) await store.tags.unassign(cluster, { nodeIds: [node], roles });
  if (given.length > 0) await store.tags.assign(cluster, given);
}
