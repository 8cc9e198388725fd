import type { Catalogue } from '../../clusters/tags/catalogue.ts';
import { roleTagsAfter, tagsOnRoleChange } from '../../clusters/tags/role-tag-changes.ts';
import type { NewTagAssignment, NodeRecord, StorePorts } from '../../store/index.ts';

/** Roles of a node, including pending ones. */
export const allRoles = (node: Pick<NodeRecord, 'roles' | 'pendingRoles'>): readonly string[] => [
  ...new Set([...node.roles, ...node.pendingRoles]),
];

export interface RolesChanged {
  readonly node: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** How role changes affect the tags of nodes, not yet applied. */
export interface TagsChange {
  readonly cluster: number;
  readonly roles: Catalogue['roles'];
  readonly changed: readonly RolesChanged[];
  readonly lost: readonly { readonly node: number; readonly roles: readonly string[] }[];
  readonly given: readonly NewTagAssignment[];
}

/**
 * May change the tags that roles give nodes, e.g. to `mysql:1` and `mysql:2`. An error refuses the assignment. Called
 * once for all nodes of a change, before the change.
 */
export type TagAllocator = (
  cluster: number,
  changes: readonly RolesChanged[],
  given: readonly NewTagAssignment[],
  catalogue: Catalogue,
) => Promise<readonly NewTagAssignment[]>;

/** Nodes get the tags of new roles and lose those of removed roles. Manual assignments and removals stay. */
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
    roles: catalogue.roles,
    changed: changes,
    lost: worked.flatMap(({ node, lost }) => (lost.length === 0 ? [] : [{ node, roles: lost }])),
    given: given.length === 0 ? [] : await allocate(cluster, changes, given, catalogue),
  };
}

export async function changeTags(
  store: Pick<StorePorts, 'tags' | 'nodes'>,
  { cluster, roles, changed, lost, given }: TagsChange,
): Promise<void> {
  const after = new Map(changed.map((one) => [one.node, one.after]));
  const nodes = await store.nodes.list({ ids: [...after.keys()], clusterId: cluster });
  await store.nodes.updateMany(
    nodes.map(({ id, roleTags }) => ({ id, change: { roleTags: roleTagsAfter(roleTags, after.get(id)!, roles) } })),
  );
  for (const { node, roles } of lost) await store.tags.unassign(cluster, { nodeIds: [node], roles });
  if (given.length > 0) await store.tags.assign(cluster, given);
}
