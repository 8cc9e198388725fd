import type { RolloutDecisions, WaveStep } from '../rollout/next-wave.ts';
import type { Call, NodeState } from '../words.ts';
import type { GroupFailure, NodeFailure } from './failures.ts';
import type { CallRecord, CallVerdict, GroupPlan } from './group-plan.ts';

/**
 * How far the baremetal step of docs/explain/design.md#spec-5 ("Process") is: a pure state machine. The caller gets the next call from `nextCall`,
 * makes it, reports every node's result with `finishNode`, ends it with `finishCall`, and repeats until no call is
 * left. The caller passes all times (milliseconds); nothing here reads a clock.
 *
 * Guarantees: a node is prepared at most once and deployed at most once, by the first group that reaches it, unless
 * an operator requests a retry. Results that arrive after the end of their call change nothing and are stored as late.
 */
export interface BaremetalState {
  readonly groups: readonly GroupProgress[];
  readonly nodes: readonly NodeProgress[];
  /** Group names in processing order (stable: document order among ready groups). */
  readonly order: readonly string[];
  /** Groups in the order in which they were processed, without those that failed by dependency. */
  readonly processed: readonly string[];
  readonly current: CurrentCall | null;
  /** Nodes whose machines the run may touch; absent: nothing limits it. */
  readonly permits?: readonly number[];
  /** Prepared nodes that need permits again: the run gave theirs back while it was held or paused. */
  readonly needAgain?: readonly number[];
}

export interface GroupProgress {
  readonly plan: GroupPlan;
  readonly state: NodeState;
  readonly failure?: GroupFailure;
  readonly calls: readonly CallRecord[];
  /** Results of the success criteria, one entry per call. The last entry of a call counts. */
  readonly verdicts: readonly CallVerdict[];
  /** Of a group with a rollout. */
  readonly rollout?: RolloutProgress;
}

export interface RolloutProgress extends RolloutDecisions {
  /** The nodes that had work when the turn of the group came; null before that. */
  readonly waves: readonly (readonly number[])[] | null;
  /** The last decision. */
  readonly step: WaveStep | null;
}

export interface NodeProgress {
  readonly name: string;
  readonly state: NodeState;
  readonly failure?: NodeFailure;
  /** Warnings of a node that did not fail. */
  readonly warnings?: readonly string[];
  /** Group whose call last processed the node. */
  readonly group?: string;
  readonly system_id?: string;
  readonly model?: string;
  readonly started_at?: number;
  /** When it was prepared, and when its deployment began. */
  readonly prepared_at?: number;
  readonly deploying_at?: number;
  readonly ended_at?: number;
  /** Number of attempts: 1, plus one for each operator's retry that started. */
  readonly attempts: number;
  readonly running?: Call;
  /** Its work in MAAS is being aborted, after its call was cut short. */
  readonly aborting?: boolean;
  /** An operator's retry in parallel with calls of groups: its call, and the group that it works for. */
  readonly retrying?: { readonly call: Call; readonly group: number };
  /** An operator's retry in the next calls of its groups. In a rollout, the node is not well until it has succeeded. */
  readonly again?: true;
  /** A result that arrived after its call had ended. It changes nothing (docs/explain/design.md#deployment-groups). */
  readonly late?: {
    readonly call: Call;
    readonly ok: boolean;
    readonly at: number;
    readonly message: string;
    /** MAAS may still do what the call asked for. */
    readonly open?: true;
  };
}

export interface CurrentCall {
  readonly group: number;
  readonly call: Call;
  readonly nodes: readonly number[];
  readonly results: Readonly<Record<number, boolean>>;
}

/** Fails a group, and all that depend on it. */
export function failGroup(state: BaremetalState, group: number, failure: GroupFailure): BaremetalState {
  return failDependents(withGroup(state, group, { ...state.groups[group]!, state: 'failed', failure }), group);
}

export function failDependents(state: BaremetalState, failed: number): BaremetalState {
  let next = state;
  const { name } = state.groups[failed]!.plan;
  state.groups.forEach((group, index) => {
    if (!group.plan.depends_on.includes(name) || next.groups[index]!.state !== 'waiting') return;
    const dependencies = group.plan.depends_on.filter((dependency) => {
      return next.groups.some((other) => other.plan.name === dependency && other.state === 'failed');
    });
    const root = rootsOf(next, dependencies);
    next = failGroup(next, index, { kind: 'dependency', dependencies, root });
  });
  return next;
}

function rootsOf(state: BaremetalState, failed: readonly string[]): string[] {
  const roots = new Set<string>();
  for (const name of failed) {
    const failure = state.groups.find((group) => group.plan.name === name)?.failure;
    if (failure?.kind === 'dependency') for (const root of failure.root) roots.add(root);
    else roots.add(name);
  }
  return [...roots];
}

export function withGroup(state: BaremetalState, index: number, group: GroupProgress): BaremetalState {
  return { ...state, groups: state.groups.map((old, i) => (i === index ? group : old)) };
}

export function withNode(state: BaremetalState, index: number, node: NodeProgress): BaremetalState {
  const nodes = state.nodes.slice();
  nodes[index] = node;
  return { ...state, nodes };
}
