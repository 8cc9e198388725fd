import type { SchedulerGraph } from '../../src/core/scheduler/graph.ts';

/** The part of each node: blocks of about `size` nodes in plan order. */
export function blocksOfNodes(graph: SchedulerGraph, size = 50): number[] {
  const parts = Math.max(1, Math.ceil(graph.nodes.length / size));
  const each = Math.ceil(graph.nodes.length / parts);
  return graph.nodes.map((_, node) => Math.floor(node / each));
}
