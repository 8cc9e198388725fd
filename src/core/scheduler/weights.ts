import type { SchedulerGraph } from './graph.ts';

type WeighedGraph = Pick<SchedulerGraph, 'nodeOf' | 'successors' | 'joins'>;

/**
 * The weight of each task: the sum over its direct successors of their weight plus 1 on the same node, or 10 on another.
 * It counts paths, so it exceeds 53 bits in a chain of diamonds. A join counts as its product of edges without
 * enumerating it.
 */
export function weigh(graph: WeighedGraph, order: readonly number[]): bigint[] {
  const { nodeOf, successors, joins } = graph;
  const tasks = nodeOf.length;
  const weights = new Array<bigint>(tasks).fill(0n);
  const joinWeights = new Array<bigint>(joins).fill(0n);
  /** By join: how many of its tasks are on each node, to correct 10 to 1. */
  const joinNodes: Map<number, number>[] = Array.from({ length: joins }, () => new Map());
  for (let at = order.length - 1; at >= 0; at--) {
    const v = order[at]!;
    let sum = 0n;
    if (v >= tasks) {
      const nodes = joinNodes[v - tasks]!;
      for (const to of successors[v]!) {
        sum += weights[to]! + 10n;
        nodes.set(nodeOf[to]!, (nodes.get(nodeOf[to]!) ?? 0) + 1);
      }
      joinWeights[v - tasks] = sum;
      continue;
    }
    for (const to of successors[v]!) {
      if (to >= tasks) sum += joinWeights[to - tasks]! - 9n * BigInt(joinNodes[to - tasks]!.get(nodeOf[v]!) ?? 0);
      else sum += weights[to]! + (nodeOf[to] === nodeOf[v] ? 1n : 10n);
    }
    weights[v] = sum;
  }
  return weights;
}

/** Rank of each task by weight, heaviest first, ties in plan order. */
export function rankByWeight(weights: readonly bigint[]): number[] {
  const sorted = weights.map((_, task) => task);
  sorted.sort((a, b) => (weights[a] === weights[b] ? a - b : weights[a]! > weights[b]! ? -1 : 1));
  const rank = new Array<number>(weights.length);
  for (let place = 0; place < sorted.length; place++) rank[sorted[place]!] = place;
  return rank;
}
