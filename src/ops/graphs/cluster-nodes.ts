import type { Store } from '../../store/index.ts';
import { problem } from '../problem.ts';

/**
 * Checks that nodes belong to a cluster. An unknown node is `not-found`; a node outside the cluster is `invalid`.
 * @throws `not-found`, `invalid`
 */
export async function checkClusterNodes(store: Store, cluster: number, asked: readonly number[] = []): Promise<void> {
  if (asked.length === 0) return;
  const there = new Map(
    (await store.nodes.list({ ids: [...new Set(asked)] })).map((node) => [node.id, node.clusterId]),
  );
  const gone = asked.filter((id) => !there.has(id));
  if (gone.length > 0) {
    throw problem('not-found', 'NodeCollection not found', { hint: `There is no node ${gone.join(', ')}.` });
  }
  const foreign = asked.filter((id) => there.get(id) !== cluster).sort((a, b) => a - b);
  if (foreign.length === 0) return;
  throw problem('invalid', `Nodes ${foreign.join(', ')} do not belong to the same cluster ${cluster}`, {
    hint: 'Assign them to the cluster first.',
  });
}
