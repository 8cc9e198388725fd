import type { Subgraph } from '../core/scheduler/plan.ts';
import type { FaultTolerance, Placement } from './placing/place-tasks.ts';
import type { GraphProblem } from './problem.ts';

/**
 * A graph planned for nodes: every task on each of its nodes, whether it runs and why not, and the order.
 * Tasks, nodes and sets are indexes into the lists of the plan. All-to-all order is stored as sets, so that a
 * plan grows with its tasks, not with its edges.
 */
export interface Plan {
  /** The nodes of the run in their order, then `master`, then the sync node, `null`. */
  readonly nodes: readonly string[];
  /** By task: where it is, and its dependencies without effect in this run. */
  readonly tasks: readonly (Placement & {
    readonly dropped: readonly DroppedDependency[];
    /** Of what it does; see `TaskChanges`. */
    readonly digest: string;
  })[];
  readonly instances: readonly TaskInstance[];
  /** By node, ascending indexes into `instances`. */
  readonly byNode: readonly (readonly number[])[];
  /** Sets of instances that others refer to, ascending. */
  readonly targets: readonly TargetSet[];
  readonly faultTolerance: readonly FaultTolerance[];
  /** Nodes chosen by each `policy: any`, once for equal tags. */
  readonly anyChoices: readonly AnyChoice[];
  readonly subgraphs: readonly Subgraph[];
  /** Warnings; with an error there is no plan. */
  readonly problems: readonly GraphProblem[];
}

export interface DroppedDependency {
  readonly field: DependencyField;
  readonly name: string;
  readonly reason: 'no such task' | 'not on the nodes it looks at';
}

type DependencyField = 'requires' | 'required_for' | 'cross_depends' | 'cross_depended_by';

/** One task on one node. */
export interface TaskInstance {
  readonly task: number;
  readonly node: number;
  /** The task's id with names like {CLUSTER_ID} replaced. */
  readonly id: string;
  /** `skipped` for everything that does not run. */
  readonly type: string;
  /** Absent for tasks that do not run. Shared between instances: never change it. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly failOnError: unknown;
  readonly skip?: SkipReason;
  /** Whether the task succeeded on this node before, with a known state. */
  readonly ranBefore: boolean;
  /** Another one than the one that succeeded here last. If it is skipped, only because of what succeeded then: its condition holds otherwise. */
  readonly hasChanged?: true;
  /** Indexes into `targets`: predecessors and successors. Never includes the instance itself. */
  readonly requires: readonly number[];
  readonly requiredFor: readonly number[];
}

/** `type`: a stage, or a disabled task. */
export type SkipReason = 'type' | 'not_selected' | 'condition';

export interface TargetSet {
  readonly instances: readonly number[];
  /** Set for relations over tags, whose pairs of tasks make joins. */
  readonly shared: boolean;
}

export interface AnyChoice {
  readonly roles: readonly unknown[];
  readonly candidates: readonly string[];
  readonly chosen: readonly string[];
}

/** The id of a node for executors; null for the sync node. */
export const nodeIdOf = (plan: Pick<Plan, 'nodes'>, node: number): string | null =>
  node === plan.nodes.length - 1 ? null : plan.nodes[node]!;

/** The other end of each relation of an instance, each once and never itself, ascending. */
export function related(plan: Plan, instance: number, direction: 'requires' | 'requiredFor'): number[] {
  const sets = plan.instances[instance]![direction];
  const found = new Set<number>();
  for (const set of sets) for (const target of plan.targets[set]!.instances) found.add(target);
  found.delete(instance);
  return [...found].sort((a, b) => a - b);
}
