import type { Catalogue } from '../../clusters/tags/index.js';
import { tagsOfRole } from '../../clusters/tags/index.js';
import type { NewTagAssignment, NodeRecord, Store } from '../../store/index.js';

/** Roles of a node, those it is to get included. */
export const allRoles = (node: Pick<NodeRecord, 'roles' | 'pendingRoles'>): readonly string[] => [
  ...new Set([...node.roles, ...node.pendingRoles]),
];

export interface RolesChanged {
  readonly node: number;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** May say otherwise what tags roles give nodes, e.g. `mysql:1` and `mysql:2`; what it throws refuses the assignment. */
export type TagAllocator = (
  clusterId: number,
  given: readonly NewTagAssignment[],
) => Promise<readonly NewTagAssignment[]>;

/**
 * Gives nodes the tags of roles that are new to them, and takes away those that came with roles they have no more.
 * What was given or taken by hand stays as it is.
 */
export async function retagNodes(
  store: Pick<Store, 'tags'>,
  clusterId: number,
  catalogue: Catalogue,
  changes: readonly RolesChanged[],
  allocate: TagAllocator = async (_cluster, given) => given,
): Promise<void> {
  const given = changes.flatMap(({ node, before, after }) =>
    after
      .filter((role) => !before.includes(role))
      .flatMap((role) =>
        tagsOfRole(role, catalogue.roles.get(role)?.meta).map(
          (tag): NewTagAssignment => ({ nodeId: node, tag, source: 'role', role }),
        ),
      ),
  );
  const allocated = given.length === 0 ? [] : await allocate(clusterId, given);
  for (const { node, before, after } of changes) {
    const gone = before.filter((role) => !after.includes(role));
    if (gone.length > 0) await store.tags.unassign(clusterId, { nodeIds: [node], roles: gone });
  }
  if (allocated.length > 0) await store.tags.assign(clusterId, allocated);
}
