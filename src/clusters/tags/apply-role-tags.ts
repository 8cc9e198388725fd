import type { NewTagAssignment, Store } from '../../store/index.ts';

/** A change of a role's tags that a node does not have yet. */
export interface RoleTagChange {
  readonly role: string;
  readonly given: readonly string[];
  /** Tags, or instances of tags, that the node has by the role. */
  readonly lost: readonly string[];
  /** All tags of the role now. */
  readonly now: readonly string[];
}

interface ChangedNode {
  readonly id: number;
  readonly roleTagChanges?: readonly RoleTagChange[];
}

/** Stores what changed in the tags of roles as tags of the nodes. Repeatable. */
export async function applyRoleTags(
  store: Pick<Store, 'atomically'>,
  cluster: number,
  nodes: readonly ChangedNode[],
): Promise<void> {
  const changes = nodes.flatMap(({ id, roleTagChanges = [] }) => roleTagChanges.map((one) => ({ ...one, nodeId: id })));
  if (changes.length === 0) return;
  const given = changes.flatMap(({ nodeId, role, given: tags, now }) =>
    tags.map((tag): NewTagAssignment => {
      const source = now.includes(tag) ? 'role' : 'extension';
      return { nodeId, tag, source, role };
    }),
  );
  // One removal for all nodes that lose the same.
  const lost = new Map<string, { readonly role: string; readonly tags: readonly string[]; nodeIds: number[] }>();
  for (const { role, lost: tags, nodeId } of changes) {
    const key = JSON.stringify([role, tags]);
    const same = lost.get(key);
    if (same !== undefined) same.nodeIds.push(nodeId);
    else if (tags.length > 0) lost.set(key, { role, tags, nodeIds: [nodeId] });
  }
  await store.atomically(async (within) => {
    for (const { role, ...gone } of lost.values()) await within.tags.unassign(cluster, { ...gone, roles: [role] });
    await within.tags.assign(cluster, given);
    const records = await within.nodes.list({ clusterId: cluster, ids: nodes.map(({ id }) => id) });
    await within.nodes.updateMany(
      records.map(({ id, roleTags }) => {
        const now = changes.filter(({ nodeId }) => nodeId === id).map((one) => [one.role, one.now] as const);
        return { id, change: { roleTags: { ...roleTags, ...Object.fromEntries(now) } } };
      }),
    );
  });
}
