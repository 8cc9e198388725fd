import type { SchedulerPlan } from './plan.ts';
import { reachable, reversed } from './topology.ts';

/**
 * The tasks that the subgraphs of a plan keep: those at or after `start` and at or before `end`. Reports an entry that
 * matches no task, because ignoring it would keep everything.
 */
export function keptBySubgraphs(plan: SchedulerPlan): { readonly kept: boolean[]; readonly bad: string[] } {
  const { subgraphs = [], successors } = plan;
  if (subgraphs.length === 0) return { kept: plan.tasks.map(() => true), bad: [] };
  const tasksByName = new Map<string, number[]>();
  plan.tasks.forEach((task, at) => {
    const list = tasksByName.get(task.id);
    if (list === undefined) tasksByName.set(task.id, [at]);
    else list.push(at);
  });
  const predecessors = reversed(successors);
  const bad: string[] = [];
  const side = (
    entries: readonly string[] | undefined,
    next: readonly (readonly number[])[],
  ): Uint8Array | undefined => {
    if (entries === undefined || entries.length === 0) return undefined;
    const from: number[] = [];
    for (const entry of entries) {
      const matched = matchEntry(entry, tasksByName, (at) => plan.nodes[plan.tasks[at]!.node]!.id);
      if (matched.length === 0) bad.push(entry);
      for (const at of matched) from.push(at);
    }
    return reachable(from, next);
  };
  const kept = plan.tasks.map(() => false);
  for (const subgraph of subgraphs) {
    const after = side(subgraph.start, successors);
    const before = side(subgraph.end, predecessors);
    for (let at = 0; at < kept.length; at++) {
      if ((after === undefined || after[at] === 1) && (before === undefined || before[at] === 1)) kept[at] = true;
    }
  }
  keepPreparations(plan, kept);
  return { kept, bad };
}

function keepPreparations({ tasks, successors }: SchedulerPlan, kept: boolean[]): void {
  // Joins are numbered after the tasks.
  const waiting = (at: number): readonly number[] =>
    successors[at]!.flatMap((next) => (next < tasks.length ? [next] : successors[next]!));
  // One preparation may be for another, which is listed after it or before.
  for (let isStable = false; !isStable; ) {
    isStable = true;
    for (const [at, { prepares, node }] of tasks.entries()) {
      if (!prepares || kept[at] || !waiting(at).some((next) => kept[next] && tasks[next]!.node === node)) continue;
      kept[at] = true;
      isStable = false;
    }
  }
}

/** `task` matches the task on all nodes; `task/1,3-5` on these nodes, with ranges of numeric ids. */
function matchEntry(
  entry: string,
  tasksByName: ReadonlyMap<string, readonly number[]>,
  nodeOf: (at: number) => string,
): readonly number[] {
  const whole = tasksByName.get(entry);
  if (whole !== undefined) return whole;
  const slash = entry.lastIndexOf('/');
  if (slash < 0) return [];
  const wanted = entry
    .slice(slash + 1)
    .split(',')
    .map((part) => part.trim());
  const literal = new Set(wanted);
  const ranges = wanted.flatMap((part) => {
    const range = /^(\d+)\s*-\s*(\d+)$/.exec(part);
    return range === null ? [] : [[BigInt(range[1]!), BigInt(range[2]!)] as const];
  });
  return (tasksByName.get(entry.slice(0, slash).trim()) ?? []).filter((at) => {
    const node = nodeOf(at);
    if (literal.has(node)) return true;
    return /^\d+$/.test(node) && ranges.some(([low, high]) => BigInt(node) >= low && BigInt(node) <= high);
  });
}
