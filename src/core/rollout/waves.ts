import type { Amount, Growth, RolloutPolicy, StopAt } from './policy.ts';

type Steps = Pick<RolloutPolicy, 'first' | 'growth'>;

/** The sizes of the waves of a rollout to so many nodes. Together they are all of them, and none is empty. */
export function waveSizes({ first, growth }: Steps, total: number): number[] {
  const sizes: number[] = [];
  let left = total;
  for (let size = countOf(first, total); left > 0; size = nextSize(growth, size, total)) {
    sizes.push(Math.min(size, left));
    left -= Math.min(size, left);
  }
  return sizes;
}

/** Nodes in the order of their rollout, cut into its waves. */
export function cutWaves<Node>(steps: Steps, nodes: readonly Node[]): Node[][] {
  let start = 0;
  return waveSizes(steps, nodes.length).map((size) => nodes.slice(start, (start += size)));
}

function nextSize(growth: Growth, size: number, total: number): number {
  if (growth === 'all') return total;
  if (growth === 'double') return 2 * size;
  return 'add' in growth ? size + countOf(growth.add, total) : countOf(growth.by, total);
}

/** Never more than asked, but at least one node: otherwise a small group would never be reached. */
const countOf = (amount: Amount, total: number): number =>
  typeof amount === 'number' ? amount : Math.max(1, Math.floor((Number(amount.slice(0, -1)) * total) / 100));

/** The number of failed nodes that stops a rollout to so many. A percentage is exact: 5 % of 30 nodes are reached at 2. */
export const failuresAllowed = (stop: StopAt, total: number): number =>
  'failed' in stop ? stop.failed : Math.max(1, Math.ceil((stop.percent * total) / 100));
