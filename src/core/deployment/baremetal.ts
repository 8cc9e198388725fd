import type { Call, NodeState } from '../words.js';
import { judgeCriteria } from './criteria.js';
import type { GroupFailure, NodeFailure } from './failures.js';
import type { CallRecord, CallVerdict, GroupPlan } from './group-plan.js';
import { stableOrder } from './order.js';
import { selectNodes } from './selectors.js';
import type { DeploymentStrategy, SiteNode } from './strategy.js';

/**
 * The baremetal step of spec/5 ("Process") as a pure state machine. The caller gets the next call from `nextCall`,
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
}

interface GroupProgress {
  readonly plan: GroupPlan;
  readonly state: NodeState;
  readonly failure?: GroupFailure;
  readonly calls: readonly CallRecord[];
  /** Results of the success criteria, one entry per call. The last entry of a call counts. */
  readonly verdicts: readonly CallVerdict[];
}

interface NodeProgress {
  readonly name: string;
  readonly state: NodeState;
  readonly failure?: NodeFailure;
  /** Warnings of a node that did not fail. */
  readonly warnings?: readonly string[];
  /** Group whose call last processed the node. */
  readonly group?: string;
  readonly system_id?: string;
  readonly started_at?: number;
  readonly ended_at?: number;
  /** Number of attempts: 1, plus one for each operator's retry that started. */
  readonly attempts: number;
  readonly running?: Call;
  /** A result that arrived after its call had ended. It changes nothing (design §8.5). */
  readonly late?: { readonly call: Call; readonly ok: boolean; readonly at: number; readonly message: string };
}

interface CurrentCall {
  readonly group: number;
  readonly call: Call;
  readonly nodes: readonly number[];
  readonly results: Readonly<Record<number, boolean>>;
}

/** The result of one node in one call. */
export type NodeResult =
  | { readonly ok: true; readonly system_id?: string; readonly warnings?: readonly string[] }
  | { readonly ok: false; readonly system_id?: string; readonly failure: Omit<NodeFailure, 'call'> };

/** How a call ended: all results have arrived, or it was cut short. */
export type CallEnd =
  | { readonly kind: 'complete' }
  | { readonly kind: 'timeout'; readonly after_seconds?: number }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'cancelled' };

export interface NextCall {
  readonly group: number;
  readonly name: string;
  readonly call: Call;
  /** Indexes into `nodes`, ascending; never empty. */
  readonly nodes: readonly number[];
}

/** Resolves every group's selectors once (spec/5, "Process" 1). */
export function planGroups(strategy: DeploymentStrategy, nodes: readonly SiteNode[]): GroupPlan[] {
  return strategy.groups.map((group) => ({
    name: group.name,
    critical: group.critical,
    depends_on: group.depends_on,
    nodes: selectNodes(group.selectors, nodes),
    ...(group.success_criteria ? { success_criteria: group.success_criteria } : {}),
  }));
}

/**
 * The initial state. `done` are nodes that need no work (update_site: unchanged and deployed): they count as
 * success and are never in a call.
 */
export function startBaremetal(
  groups: readonly GroupPlan[],
  nodeNames: readonly string[],
  done: readonly number[] = [],
): BaremetalState {
  const finished = new Set(done);
  return {
    groups: groups.map((plan) => ({ plan, state: 'not_started', calls: [], verdicts: [] })),
    nodes: nodeNames.map((name, index) => ({
      name,
      state: finished.has(index) ? 'success' : 'not_started',
      attempts: 0,
    })),
    order: stableOrder(groups),
    processed: [],
    current: null,
  };
}

/**
 * The next call to make. Settles groups that need no call. `call: null` means that no group is left to process, except
 * those of `waiting` and what depends on them. Must not be called while a call is open.
 *
 * @param held groups that may not start yet. Those whose turn it is are `waiting`; other groups go on.
 */
export function nextCall(
  state: BaremetalState,
  now: number,
  held: readonly string[] = [],
): { state: BaremetalState; call: NextCall | null; waiting: readonly string[] } {
  if (state.current) throw new Error('nextCall: a call is still open');
  let next = state;
  for (;;) {
    const { group, waiting } = groupToProcess(next, held);
    if (group < 0) return { state: next, call: null, waiting };
    const progress = next.groups[group]!;
    const call: Call = progress.state === 'prepared' ? 'deploy' : 'prepare';
    const wanted: NodeState = call === 'prepare' ? 'not_started' : 'prepared';
    const nodes = progress.plan.nodes.filter((index) => next.nodes[index]!.state === wanted);
    if (call === 'prepare' && next.processed[next.processed.length - 1] !== progress.plan.name) {
      next = { ...next, processed: [...next.processed, progress.plan.name] };
    }
    if (nodes.length > 0) {
      const current: CurrentCall = { group, call, nodes, results: {} };
      const record: CallRecord = { call, nodes, started_at: now, timed_out: false };
      return {
        state: withGroup({ ...next, current }, group, { ...progress, calls: [...progress.calls, record] }),
        call: { group, name: progress.plan.name, call, nodes },
        waiting,
      };
    }
    next = judge(next, group, call);
  }
}

/** Records that a node of the open call has started. For display only. */
export function startNode(state: BaremetalState, node: number, now: number): BaremetalState {
  const { current } = state;
  if (!current) return state;
  const progress = state.nodes[node]!;
  const group = state.groups[current.group]!.plan.name;
  const started_at = current.call === 'prepare' ? now : (progress.started_at ?? now);
  const { failure: _failure, late: _late, ended_at: _ended, ...kept } = progress;
  return withNode(state, node, {
    ...kept,
    group,
    started_at,
    attempts: progress.attempts + (current.call === 'prepare' ? 1 : 0),
    running: current.call,
  });
}

/** Records a node's result. If the open call does not wait for the node, the result is stored as late. */
export function finishNode(
  state: BaremetalState,
  node: number,
  call: Call,
  result: NodeResult,
  now: number,
): BaremetalState {
  const { current } = state;
  const progress = state.nodes[node]!;
  const awaited = current?.call === call && current.nodes.includes(node) && current.results[node] === undefined;
  if (!awaited) {
    const message = result.ok ? `${call} succeeded after the call had ended` : result.failure.message;
    return withNode(state, node, { ...progress, late: { call, ok: result.ok, at: now, message } });
  }
  const { running: _running, ...kept } = progress;
  const group = state.groups[current.group]!.plan.name;
  const identified = result.system_id === undefined ? kept : { ...kept, system_id: result.system_id };
  const settled: NodeProgress = result.ok
    ? {
        ...identified,
        state: call === 'prepare' ? 'prepared' : 'success',
        group,
        ...(call === 'deploy' ? { ended_at: now } : {}),
        ...(result.warnings?.length ? { warnings: [...(kept.warnings ?? []), ...result.warnings] } : {}),
      }
    : { ...identified, state: 'failure', group, ended_at: now, failure: { call, ...result.failure } };
  const results = { ...current.results, [node]: result.ok };
  return withNode({ ...state, current: { ...current, results } }, node, settled);
}

/**
 * Ends the open call and judges its group. After a timeout, nodes without a result fail, and the group fails whatever
 * its criteria say (design §8.5). After a stop, nodes that never started keep their state.
 */
export function finishCall(state: BaremetalState, end: CallEnd, now: number): BaremetalState {
  const { current } = state;
  if (!current) throw new Error('finishCall: no call is open');
  const { group, call } = current;
  const missing = current.nodes.filter((index) => current.results[index] === undefined);
  let next = state;
  const failMissing = (kind: 'timeout' | 'cancelled', message: string, only: (node: NodeProgress) => boolean) => {
    for (const index of missing) {
      const { running: _running, ...node } = next.nodes[index]!;
      if (!only(next.nodes[index]!)) continue;
      const name = state.groups[group]!.plan.name;
      next = withNode(next, index, {
        ...node,
        state: 'failure',
        group: name,
        ended_at: now,
        failure: { call, kind, message },
      });
    }
  };
  if (end.kind === 'timeout') {
    const limit = end.after_seconds === undefined ? '' : ` of ${end.after_seconds} s`;
    failMissing('timeout', `no result within the ${call} time limit${limit}`, () => true);
  } else if (end.kind === 'cancelled') {
    failMissing('cancelled', `the run was cancelled during ${call}`, (node) => node.running !== undefined);
  } else if (end.kind === 'complete' && missing.length > 0) {
    throw new Error(`finishCall: ${missing.length} nodes have no result`);
  }
  const progress = next.groups[group]!;
  const record = progress.calls[progress.calls.length - 1]!;
  const closed: CallRecord = { ...record, ended_at: now, timed_out: end.kind === 'timeout' };
  next = withGroup({ ...next, current: null }, group, { ...progress, calls: [...progress.calls.slice(0, -1), closed] });
  switch (end.kind) {
    case 'complete':
      return judge(next, group, call);
    case 'timeout': {
      const nodes = missing.map((index) => next.nodes[index]!.name);
      const after = end.after_seconds === undefined ? {} : { after_seconds: end.after_seconds };
      return failGroup(next, group, { kind: 'timeout', call, nodes, ...after });
    }
    case 'stopped':
    case 'cancelled':
      return failGroup(next, group, { kind: end.kind, call });
  }
}

/** Why an operator's retry must be rejected, or null. */
export function whyNotRetry(state: BaremetalState, nodeName: string): string | null {
  const node = state.nodes.find((candidate) => candidate.name === nodeName);
  if (!node) return `no node ${nodeName} in this run`;
  if (node.state !== 'failure') return `node ${nodeName} has not failed: it is ${node.state}`;
  if (node.running) return `node ${nodeName} is still running`;
  if (!state.groups.some((group) => group.plan.nodes.some((index) => state.nodes[index] === node)))
    return `node ${nodeName} is in no group`;
  return null;
}

/**
 * Retries a failed node at an operator's request: reopens the node, its groups, and groups that failed only because
 * they depend on those. Call it only between calls.
 */
export function retryNode(state: BaremetalState, nodeName: string): BaremetalState {
  if (state.current) throw new Error('retryNode: a call is still open');
  if (whyNotRetry(state, nodeName) !== null) return state;
  const node = state.nodes.findIndex((candidate) => candidate.name === nodeName);
  const { failure: _failure, ended_at: _ended, ...kept } = state.nodes[node]!;
  const reopened = withNode(state, node, { ...kept, state: 'not_started' });
  const reopen = (group: GroupProgress): GroupProgress => {
    const { failure, ...rest } = group;
    const own = group.plan.nodes.includes(node) && group.state !== 'not_started';
    return own || failure?.kind === 'dependency' ? { ...rest, state: 'not_started' } : group;
  };
  const groups = reopened.groups.map(reopen);
  // Groups that still depend on another failed group fail again at once, for that reason.
  return groups.reduce<BaremetalState>(
    (next, group, index) => (group.state === 'failure' ? failDependents(next, index) : next),
    { ...reopened, groups },
  );
}

/** Whether a critical group failed: the run then halts after the baremetal step (spec/5, "Process" 4). */
export function halts(state: BaremetalState): boolean {
  return state.groups.some((group) => group.plan.critical && group.state === 'failure');
}

function groupToProcess(
  state: BaremetalState,
  held: readonly string[],
): { readonly group: number; readonly waiting: readonly string[] } {
  const byName = new Map(state.groups.map((group, index) => [group.plan.name, index]));
  const ordered = state.order.map((name) => byName.get(name)!);
  // A group between its two calls comes first: nothing else may run before its deploy.
  const prepared = ordered.find((index) => state.groups[index]!.state === 'prepared');
  const isOpen = (name: string): boolean => state.groups[byName.get(name)!]!.state === 'not_started';
  const ready = ordered.filter((index) => {
    const { name, depends_on } = state.groups[index]!.plan;
    return isOpen(name) && !depends_on.some(isOpen);
  });
  const isHeld = (index: number): boolean => held.includes(state.groups[index]!.plan.name);
  const waiting = ready.filter(isHeld).map((index) => state.groups[index]!.plan.name);
  return { group: prepared ?? ready.find((index) => !isHeld(index)) ?? -1, waiting };
}

/** Judges a group after a call (made or not needed) and updates its state. */
function judge(state: BaremetalState, group: number, call: Call): BaremetalState {
  const progress = state.groups[group]!;
  const good = progress.plan.nodes.filter((index) => {
    const node = state.nodes[index]!.state;
    return node === 'success' || (call === 'prepare' && node === 'prepared');
  });
  const verdicts = judgeCriteria(progress.plan.success_criteria, {
    total: progress.plan.nodes.length,
    successful: good.length,
  });
  const judged: GroupProgress = { ...progress, verdicts: [...progress.verdicts, { call, verdicts }] };
  if (verdicts.every((verdict) => verdict.met)) {
    return withGroup(state, group, { ...judged, state: call === 'prepare' ? 'prepared' : 'success' });
  }
  return failGroup(withGroup(state, group, judged), group, { kind: 'criteria', call, verdicts });
}

function failGroup(state: BaremetalState, group: number, failure: GroupFailure): BaremetalState {
  return failDependents(withGroup(state, group, { ...state.groups[group]!, state: 'failure', failure }), group);
}

function failDependents(state: BaremetalState, failed: number): BaremetalState {
  let next = state;
  const { name } = state.groups[failed]!.plan;
  state.groups.forEach((group, index) => {
    if (!group.plan.depends_on.includes(name) || next.groups[index]!.state !== 'not_started') return;
    const dependencies = group.plan.depends_on.filter((dependency) => {
      return next.groups.some((other) => other.plan.name === dependency && other.state === 'failure');
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

function withGroup(state: BaremetalState, index: number, group: GroupProgress): BaremetalState {
  return { ...state, groups: state.groups.map((old, i) => (i === index ? group : old)) };
}

function withNode(state: BaremetalState, index: number, node: NodeProgress): BaremetalState {
  const nodes = state.nodes.slice();
  nodes[index] = node;
  return { ...state, nodes };
}
