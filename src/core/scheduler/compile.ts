import { taskKey } from '../task-on-node.ts';
import { hasWork } from '../task-types/off-agent.ts';
import type { SchedulerGraph } from './graph.ts';
import { normaliseLinks } from './joins.ts';
import type { Refusal, SchedulerPlan } from './plan.ts';
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

/**
 * Checks a plan and compiles it for `createScheduler` or `partition`. `offline` are the nodes that did not answer
 * before the run. A critical one refuses the run here, before strategies and cycles are checked, as in the reference.
 * The run learns of other offline nodes from its `begin` event.
 */
export function compilePlan(plan: SchedulerPlan, offline: readonly string[] = []): Compiled {
  const refuse = (refusal: Refusal): Compiled => ({ ok: false, refusal });
  if (plan.nodes.length === 0) return refuse({ reason: 'empty_graph' });

  const references = resolve(plan);
  if (references.problems.length > 0) return refuse({ reason: 'bad_reference', problems: references.problems });
  const { nodeIndex, edges, joins: rawJoins } = references;

  const { critical, groups } = faultTolerance(plan, nodeIndex);
  const offlineCritical = offline.filter((id) => nodeIndex.has(id) && critical[nodeIndex.get(id)!] === 1);
  if (offlineCritical.length > 0) return refuse({ reason: 'offline_critical', nodes: offlineCritical });

  const names = new Map<string, number>();
  const nameOf = plan.tasks.map((task) => {
    if (!names.has(task.id)) names.set(task.id, names.size);
    return names.get(task.id)!;
  });
  const nodeOf = plan.tasks.map((task) => nodeIndex.get(task.node)!);
  const tasksOfNode: number[][] = plan.nodes.map(() => []);
  nodeOf.forEach((node, task) => {
    tasksOfNode[node]!.push(task);
  });
  const { limits: nameLimit, bad } = limitsByName(plan, names, tasksOfNode);
  if (bad.length > 0) return refuse({ reason: 'bad_strategy', tasks: bad });

  const { direct, joins } = normaliseLinks(plan.tasks.length, edges, rawJoins);
  const successors: number[][] = [...direct, ...joins.map((join) => join.after)];
  joins.forEach((join, j) => {
    for (const t of join.before) successors[t]!.push(plan.tasks.length + j);
  });
  const sorted = topologicalOrder(successors);
  if ('cycle' in sorted) {
    const path = sorted.cycle
      .filter((v) => v < plan.tasks.length)
      .map((v) => taskKey(plan.tasks[v]!.id, plan.tasks[v]!.node));
    // A cycle that starts at a join would lose its repeated end.
    if (path[0] !== path[path.length - 1]) path.push(path[0]!);
    return refuse({ reason: 'cycle', path });
  }
  const { kept, bad: badEntries } = keptBySubgraphs(plan, successors);
  if (badEntries.length > 0) return refuse({ reason: 'bad_subgraph', entries: badEntries });

  const only = plan.only === undefined ? undefined : new Set(plan.only);
  const mode = plan.mode ?? 'apply';
  const weights = weigh({ nodeOf, successors, joins: joins.length }, sorted.order);
  const graph: SchedulerGraph = {
    nodes: plan.nodes.map((node) => node.id),
    sync: plan.nodes.map((node) => (node.kind === 'sync' ? 1 : 0)),
    critical,
    names: [...names.keys()],
    nameOf,
    nodeOf,
    rank: rankByWeight(weights),
    noWork: plan.tasks.map((task, at) => {
      const left = !kept[at] || (only !== undefined && !only.has(taskKey(task.id, task.node)));
      return left || !hasWork(task.type) ? 1 : 0;
    }),
    forgiven: plan.tasks.map((task) => (mode === 'noop_run' || task.fail_on_error === false ? 1 : 0)),
    retries: plan.tasks.flatMap((task, at) =>
      task.retry !== undefined && task.retry.count > 0 ? [[at, task.retry.count, task.retry.interval] as const] : [],
    ),
    successors,
    joins: joins.length,
    nameLimit,
    nodeLimit: plan.limits?.max_nodes ?? 0,
    groups,
    mode,
  };
  return { ok: true, graph, weights };
}

/** Resolves names to numbers. Reports all names that do not resolve. */
function resolve(plan: SchedulerPlan) {
  const problems: string[] = [];
  const nodeIndex = new Map<string, number>();
  plan.nodes.forEach((node, at) => {
    if (nodeIndex.has(node.id)) problems.push(`nodes[${at}]: node '${node.id}' is given twice`);
    nodeIndex.set(node.id, at);
  });
  const taskIndex = new Map<string, number>();
  plan.tasks.forEach((task, at) => {
    const key = taskKey(task.id, task.node);
    if (!nodeIndex.has(task.node))
      problems.push(`tasks[${at}]: node '${task.node}' of task '${task.id}' is not in nodes`);
    if (taskIndex.has(key)) problems.push(`tasks[${at}]: task '${key}' is given twice`);
    taskIndex.set(key, at);
  });
  const find = (key: string, place: string): number => {
    const at = taskIndex.get(key);
    if (at === undefined) problems.push(`${place}: there is no task '${key}'`);
    return at ?? -1;
  };
  const edges = plan.edges.map(
    ([from, to], at) => [find(from, `edges[${at}][0]`), find(to, `edges[${at}][1]`)] as const,
  );
  const joins = (plan.joins ?? []).map((join, at) => ({
    before: join.before.map((key, i) => find(key, `joins[${at}].before[${i}]`)),
    after: join.after.map((key, i) => find(key, `joins[${at}].after[${i}]`)),
  }));
  return { problems, nodeIndex, edges, joins };
}

/** A node is critical in a group of tolerance 0, or in no group. Sync points are critical only in such a group. */
function faultTolerance(plan: SchedulerPlan, nodeIndex: ReadonlyMap<string, number>) {
  const critical = plan.nodes.map((node) => (node.kind === 'sync' ? 0 : 1));
  const groups = (plan.fault_tolerance_groups ?? []).map((group) => ({
    name: group.name,
    nodes: [...new Set(group.node_ids)].flatMap((id) => nodeIndex.get(id) ?? []),
    tolerance: group.fault_tolerance,
  }));
  for (const group of groups) for (const node of group.nodes) critical[node] = 0;
  for (const group of groups) if (group.tolerance === 0) for (const node of group.nodes) critical[node] = 1;
  return { critical, groups: groups.filter((group) => group.nodes.length > 0) };
}
