import { hasWork } from '../task-types/off-agent.ts';
import type { SchedulerGraph } from './graph.ts';
import type { Refusal, SchedulerPlan } from './plan.ts';
import { findLaterWaveNeeded, planWaves } from './plan-waves.ts';
import { limitsByName } from './strategy.ts';
import { keptBySubgraphs } from './subgraph.ts';
import { topologicalOrder } from './topology.ts';
import { rankByWeight, weigh } from './weights.ts';

type Compiled =
  | {
      readonly ok: true;
      readonly graph: SchedulerGraph /** By task, in plan order. */;
      readonly weights: readonly bigint[];
    }
  | { readonly ok: false; readonly refusal: Refusal };

/** Checks a plan and compiles it for `createScheduler` or `partition`. A task has the same number in both. */
export function compilePlan(plan: SchedulerPlan): Compiled {
  const refuse = (refusal: Refusal): Compiled => ({ ok: false, refusal });
  const { tasks, successors, joins, only, groups } = plan;
  if (plan.nodes.length === 0) return refuse({ reason: 'empty_graph' });
  const names = new Map<string, number>();
  const nameOf = tasks.map(({ id }) => {
    const name = names.get(id) ?? names.size;
    names.set(id, name);
    return name;
  });
  const nodeOf = tasks.map(({ node }) => node);
  const { limits: nameLimit, bad } = limitsByName(plan, names);
  if (bad.length > 0) return refuse({ reason: 'bad_strategy', tasks: bad });
  const sorted = topologicalOrder(successors);
  if ('cycle' in sorted) {
    const path = sorted.cycle.filter((vertex) => vertex < tasks.length);
    // A cycle that starts at a join would lose its repeated end.
    if (path[0] !== path[path.length - 1]) path.push(path[0]!);
    return refuse({ reason: 'cycle', path });
  }
  const { kept, bad: badEntries } = keptBySubgraphs(plan);
  if (badEntries.length > 0) return refuse({ reason: 'bad_subgraph', entries: badEntries });
  const mode = plan.mode ?? 'apply';
  const noWork = tasks.map(({ type }, task) => (kept[task] && only?.[task] !== 0 && hasWork(type) ? 0 : 1));
  const rollouts = planWaves(plan, nodeOf, noWork);
  const later = rollouts.length === 0 ? undefined : findLaterWaveNeeded({ successors, nodeOf, noWork }, rollouts);
  if (later !== undefined) return refuse({ reason: 'later_wave_needed', ...later });
  const weights = weigh({ nodeOf, successors, joins }, sorted.order);
  const graph: SchedulerGraph = {
    nodes: plan.nodes.map(({ id }) => id),
    sync: plan.nodes.map(({ kind }) => (kind === 'sync' ? 1 : 0)),
    critical: criticalNodes(plan),
    names: [...names.keys()],
    nameOf,
    nodeOf,
    rank: rankByWeight(weights),
    noWork,
    forgiven: tasks.map((task) => (mode === 'noop_run' || task.fail_on_error === false ? 1 : 0)),
    retries: tasks.flatMap(({ retry }, task) =>
      retry !== undefined && retry.count > 0 ? [[task, retry.count, retry.interval] as const] : [],
    ),
    successors,
    joins,
    nameLimit,
    nodeLimit: plan.limits?.max_nodes ?? 0,
    groups: groups.filter(({ nodes }) => nodes.length > 0),
    // A run that changes nothing goes without waves.
    ...(mode === 'apply' && rollouts.length > 0 && { rollouts }),
    mode,
  };
  return { ok: true, graph, weights };
}

/**
 * By node: 1 in a group of tolerance 0, or in no group. Sync points, and nodes with a rollout, which has a limit of its own, are critical
 * only in such a group.
 */
export function criticalNodes({
  nodes,
  groups,
  rollouts = [],
}: Pick<SchedulerPlan, 'nodes' | 'groups' | 'rollouts'>): number[] {
  const critical = nodes.map(({ kind }) => (kind === 'sync' ? 0 : 1));
  for (const { order } of rollouts) for (const node of order) critical[node] = 0;
  for (const group of groups) for (const node of group.nodes) critical[node] = 0;
  for (const group of groups) if (group.tolerance === 0) for (const node of group.nodes) critical[node] = 1;
  return critical;
}
