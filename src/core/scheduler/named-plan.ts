import { given } from '../data/given.ts';
import { policyOf, type WrittenRollout } from '../rollout/policy.ts';
import { taskKey } from '../task-on-node.ts';
import { compilePlan, criticalNodes } from './compile.ts';
import { linkTasks } from './links.ts';
import type { Refusal, SchedulerPlan } from './plan.ts';

/**
 * A plan as people write it, with tasks as `name@node`: input of `graph simulate`, and of the recorded cases of the reference
 * executor. Fields that are not described here are those of `SchedulerPlan`.
 */
export interface NamedPlan extends Pick<SchedulerPlan, 'nodes' | 'limits' | 'subgraphs' | 'mode'> {
  readonly tasks: readonly (Omit<SchedulerPlan['tasks'][number], 'node'> & { readonly node: string })[];
  /** `[from, to]`: `from` must end before `to` starts. Self-edges are dropped, duplicates count once. */
  readonly edges: readonly (readonly [string, string])[];
  readonly joins?: readonly { readonly before: readonly string[]; readonly after: readonly string[] }[];
  readonly fault_tolerance_groups?: readonly {
    readonly name: string;
    readonly node_ids: readonly string[];
    readonly fault_tolerance: number;
  }[];
  /** Roles with a rollout, each with its nodes in order. */
  readonly rollouts?: readonly {
    readonly role: string;
    readonly node_ids: readonly string[];
    readonly rollout: WrittenRollout;
  }[];
  /** Restricts the run to these tasks. The others end as `skipped`, in order, without work. */
  readonly only?: readonly string[];
}

/** Why a named plan is refused. */
export type NamedRefusal =
  | Exclude<Refusal, { readonly reason: 'bad_strategy' | 'cycle' | 'later_wave_needed' }>
  | { readonly reason: 'bad_strategy'; readonly tasks: readonly string[] }
  | { readonly reason: 'cycle'; readonly path: readonly string[] }
  | { readonly reason: 'later_wave_needed'; readonly tasks: readonly [task: string, needs: string] }
  | { readonly reason: 'offline_critical'; readonly nodes: readonly string[] }
  | { readonly reason: 'bad_reference'; readonly problems: readonly string[] };

type Compiled =
  | Extract<ReturnType<typeof compilePlan>, { ok: true }>
  | { readonly ok: false; readonly refusal: NamedRefusal };

/**
 * Compiles a named plan. `offline` are the nodes that did not answer before the run. A critical one refuses it here, before
 * strategies and cycles are checked, as in the reference. The run learns of other offline nodes from its `begin` event.
 */
export function compileNamed(named: NamedPlan, offline: readonly string[] = []): Compiled {
  const refuse = (refusal: NamedRefusal): Compiled => ({ ok: false, refusal });
  if (named.nodes.length === 0) return refuse({ reason: 'empty_graph' });
  const { plan, problems } = numbered(named);
  if (problems.length > 0) return refuse({ reason: 'bad_reference', problems });
  const critical = criticalNodes(plan);
  const indexOf = (id: string): number => plan.nodes.findIndex((node) => node.id === id);
  const offlineCritical = offline.filter((id) => critical[indexOf(id)] === 1);
  if (offlineCritical.length > 0) return refuse({ reason: 'offline_critical', nodes: offlineCritical });
  const compiled = compilePlan(plan);
  if (compiled.ok) return compiled;
  const { refusal } = compiled;
  const keys = (tasks: readonly number[]): string[] => tasks.map((task) => keyOfTask(named.tasks[task]!));
  switch (refusal.reason) {
    case 'bad_strategy':
      return refuse({ ...refusal, tasks: keys(refusal.tasks) });
    case 'cycle':
      return refuse({ ...refusal, path: keys(refusal.path) });
    case 'later_wave_needed': {
      const [task, needs] = keys([refusal.task, refusal.needs]) as [string, string];
      return refuse({ reason: refusal.reason, tasks: [task, needs] });
    }
    default:
      return refuse(refusal);
  }
}

const keyOfTask = ({ id, node }: NamedPlan['tasks'][number]): string => taskKey(id, node);

/** Names as numbers. Reports all names that do not resolve. */
function numbered(named: NamedPlan): { readonly plan: SchedulerPlan; readonly problems: readonly string[] } {
  const { nodes, tasks, limits, subgraphs, mode } = named;
  const problems: string[] = [];
  const nodeIndex = new Map<string, number>();
  nodes.forEach(({ id }, at) => {
    if (nodeIndex.has(id)) problems.push(`nodes[${at}]: node '${id}' is given twice`);
    nodeIndex.set(id, at);
  });
  const taskIndex = new Map<string, number>();
  tasks.forEach((task, at) => {
    const key = keyOfTask(task);
    if (!nodeIndex.has(task.node))
      problems.push(`tasks[${at}]: node '${task.node}' of task '${task.id}' is not in nodes`);
    if (taskIndex.has(key)) problems.push(`tasks[${at}]: task '${key}' is given twice`);
    taskIndex.set(key, at);
  });
  const find = (key: string, place: string): number => {
    const at = taskIndex.get(key);
    if (at === undefined) problems.push(`${place}: there is no task '${key}'`);
    return at ?? 0;
  };
  const edges = named.edges.map(
    ([from, to], at) => [find(from, `edges[${at}][0]`), find(to, `edges[${at}][1]`)] as const,
  );
  const side = (keys: readonly string[], place: string): number[] => [
    ...new Set(keys.map((key, at) => find(key, `${place}[${at}]`))),
  ];
  const joins = (named.joins ?? []).map(({ before, after }, at) => ({
    before: side(before, `joins[${at}].before`),
    after: side(after, `joins[${at}].after`),
  }));
  const only = named.only === undefined ? undefined : new Set(named.only);
  const plan: SchedulerPlan = {
    nodes,
    tasks: tasks.map((task) => ({ ...task, node: nodeIndex.get(task.node)! })),
    ...(problems.length > 0
      ? { successors: [], joins: 0 }
      : linkTasks(
          tasks.map(({ id }) => id),
          edges,
          joins,
        )),
    groups: (named.fault_tolerance_groups ?? []).map(({ name, node_ids, fault_tolerance }) => ({
      name,
      nodes: [...new Set(node_ids)].flatMap((id) => nodeIndex.get(id) ?? []),
      tolerance: fault_tolerance,
    })),
    ...(named.rollouts && {
      rollouts: named.rollouts.map(({ role, node_ids, rollout }) => ({
        name: role,
        policy: policyOf(rollout),
        order: node_ids.flatMap((id) => nodeIndex.get(id) ?? []),
      })),
    }),
    ...given({ limits, subgraphs, mode }),
    ...(only === undefined ? {} : { only: tasks.map((task) => (only.has(keyOfTask(task)) ? 1 : 0)) }),
  };
  return { plan, problems };
}
