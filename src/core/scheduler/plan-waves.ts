import { cutWaves } from '../rollout/waves.ts';
import type { SchedulerGraph } from './graph.ts';
import type { LaterWaveNeeded, SchedulerPlan } from './plan.ts';
import { topologicalOrder } from './topology.ts';

type PlannedRollouts = NonNullable<SchedulerGraph['rollouts']>;

/** The rollouts of a plan over the nodes that have work. A node is in the first that names it. */
export function planWaves(
  { rollouts = [] }: SchedulerPlan,
  nodeOf: readonly number[],
  noWork: readonly number[],
): PlannedRollouts {
  const free = new Set(nodeOf.filter((_, task) => noWork[task] === 0));
  return rollouts.flatMap(({ name, policy, order }) => {
    const own = order.filter((node) => free.delete(node));
    return own.length === 0
      ? []
      : [{ name, policy, waves: cutWaves({ first: policy.first, growth: policy.growth }, own) }];
  });
}

/**
 * A task of an earlier wave that waits for one of a later wave: neither would ever start. Also over several rollouts, where each has a wave
 * that waits for a later one of another.
 */
export function findLaterWaveNeeded(
  { successors, nodeOf, noWork }: Pick<SchedulerGraph, 'successors' | 'nodeOf' | 'noWork'>,
  rollouts: PlannedRollouts,
): LaterWaveNeeded | undefined {
  const place = new Map<number, { readonly name: string; readonly wave: number }>();
  for (const { name, waves } of rollouts)
    waves.forEach((nodes, wave) => {
      for (const node of nodes) place.set(node, { name, wave: wave + 1 });
    });
  const tasksOf = new Map<string, number[]>();
  const keyOf = ({ name, wave }: { readonly name: string; readonly wave: number }): string =>
    JSON.stringify([name, wave]);
  nodeOf.forEach((node, task) => {
    const at = place.get(node);
    if (at === undefined || noWork[task] === 1) return;
    const tasks = tasksOf.get(keyOf(at));
    if (tasks === undefined) tasksOf.set(keyOf(at), [task]);
    else tasks.push(task);
  });
  // A gate between two waves waits for all tasks of the one, and all of the other wait for it.
  const gates = successors.length;
  const all = successors.map((list) => [...list]);
  for (const { name, waves } of rollouts)
    for (let wave = 1; wave < waves.length; wave++) {
      for (const task of tasksOf.get(keyOf({ name, wave }))!) all[task]!.push(all.length);
      all.push([...tasksOf.get(keyOf({ name, wave: wave + 1 }))!]);
    }
  const sorted = topologicalOrder(all);
  if (!('cycle' in sorted)) return undefined;
  const links = betweenGates(sorted.cycle.slice(1), gates).map(({ from, to }) => {
    const [own, other] = [place.get(nodeOf[to]!)!, place.get(nodeOf[from]!)!];
    return { task: to, needs: from, waves: [own.wave, other.wave], rollouts: [own.name, other.name] } as const;
  });
  const isBackwards = ({ waves: [own, other], rollouts: [name, needed] }: LaterWaveNeeded) =>
    name === needed && own < other;
  return links.find(isBackwards) ?? links.find(({ rollouts: [name, needed] }) => name !== needed);
}

/** The first and the last task of each stretch of a cycle from a gate to the next one. */
function betweenGates(cycle: readonly number[], gates: number): { readonly from: number; readonly to: number }[] {
  const start = cycle.findIndex((vertex) => vertex >= gates);
  const round = [...cycle.slice(start), ...cycle.slice(0, start + 1)];
  const at = round.flatMap((vertex, place) => (vertex >= gates ? place : []));
  return at.slice(1).map((end, one) => ({ from: round[at[one]! + 1]!, to: round[end - 1]! }));
}
