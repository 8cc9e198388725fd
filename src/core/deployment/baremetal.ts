import { given } from '../data/given.ts';
import type { Call, NodeState } from '../words.ts';
import { judgeCriteria } from './criteria.ts';
import { IN_FLIGHT, lastAttempt, type NodeFailure } from './failures.ts';
import type { CallRecord, GroupPlan } from './group-plan.ts';
import { stableOrder } from './order.ts';
import {
  type BaremetalState,
  type CurrentCall,
  failGroup,
  type GroupProgress,
  type NodeProgress,
  withGroup,
  withNode,
} from './progress.ts';
import { selectNodes } from './selectors.ts';
import type { DeploymentStrategy, SiteNode } from './strategy.ts';

/** The result of one node in one call. */
export type NodeResult =
  | { readonly ok: true; readonly system_id?: string; readonly warnings?: readonly string[] }
  | { readonly ok: false; readonly system_id?: string; readonly failure: Omit<NodeFailure, 'call'> };

/** How a call ended: all results have arrived, or it was cut short. */
export type CallEnd =
  | { readonly kind: 'complete' }
  | {
      readonly kind: 'timeout';
      readonly after_seconds?: number;
      /** The last error of the attempts of each node that had one, by its number. */
      readonly errors?: Readonly<Record<number, string>>;
    }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'cancelled' };

/** The state of a run that has ended: waiting tasks are not reached. */
export function endBaremetal(state: BaremetalState): BaremetalState {
  const ended = <One extends { readonly state: NodeState }>(one: One): One =>
    one.state === 'waiting' ? { ...one, state: 'not_reached' } : one;
  return { ...state, groups: state.groups.map(ended), nodes: state.nodes.map(ended) };
}

export interface NextCall {
  readonly group: number;
  readonly name: string;
  readonly call: Call;
  /** Indexes into `nodes`, ascending; never empty. */
  readonly nodes: readonly number[];
}

/** Resolves every group's selectors once (docs/explain/design.md#spec-5, "Process" 1). */
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
    groups: groups.map((plan) => ({ plan, state: 'waiting', calls: [], verdicts: [] })),
    nodes: nodeNames.map((name, index) => ({
      name,
      state: finished.has(index) ? 'success' : 'waiting',
      attempts: 0,
    })),
    order: stableOrder(groups),
    processed: [],
    current: null,
  };
}

/**
 * The next call to make. Settles groups that need no call. `call: null` means that no group is left to process, except
 * those of `waiting`, those that wait for a retried node, and their dependents. Must not be called while a
 * call is open.
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
    const nodes = nodesToCall(next, progress);
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

/** Records that a node of the open call, or of its own retry, has started. For display only. */
export function startNode(state: BaremetalState, node: number, now: number): BaremetalState {
  const progress = state.nodes[node]!;
  const open = progress.retrying ?? state.current;
  if (!open) return state;
  const group = state.groups[open.group]!.plan.name;
  const times =
    open.call === 'prepare'
      ? { started_at: now }
      : {
          started_at: progress.started_at ?? now,
          deploying_at: now,
          ...given({ prepared_at: progress.prepared_at }),
        };
  const {
    failure: _failure,
    late: _late,
    prepared_at: _prepared,
    deploying_at: _at,
    ended_at: _ended,
    ...kept
  } = progress;
  return withNode(state, node, {
    ...kept,
    group,
    ...times,
    attempts: progress.attempts + (open.call === 'prepare' ? 1 : 0),
    running: open.call,
  });
}

/** Records a node's result. If neither the open call nor a retry waits for the node, the result is stored as late. */
export function finishNode(
  state: BaremetalState,
  node: number,
  call: Call,
  result: NodeResult,
  now: number,
): BaremetalState {
  const { current } = state;
  const progress = state.nodes[node]!;
  const { retrying } = progress;
  const ofCurrent = current?.call === call && current.nodes.includes(node) && current.results[node] === undefined;
  const awaited = retrying === undefined ? ofCurrent : retrying.call === call && progress.running === call;
  if (!awaited) {
    const message = result.ok ? `${call} succeeded after the call had ended` : result.failure.message;
    const isOpen = !result.ok && result.failure.kind === IN_FLIGHT;
    const late = { call, ok: result.ok, at: now, message, ...(isOpen && { open: true as const }) };
    return withNode(state, node, { ...progress, late });
  }
  const { running: _running, ...kept } = progress;
  const group = state.groups[(retrying ?? current!).group]!.plan.name;
  const identified = result.system_id === undefined ? kept : { ...kept, system_id: result.system_id };
  const settled: NodeProgress = result.ok
    ? {
        ...identified,
        state: call === 'prepare' ? 'prepared' : 'success',
        group,
        ...(call === 'deploy' ? { ended_at: now } : { prepared_at: now }),
        ...(result.warnings?.length ? { warnings: [...(kept.warnings ?? []), ...result.warnings] } : {}),
      }
    : { ...identified, state: 'failed', group, ended_at: now, failure: { call, ...result.failure } };
  if (retrying !== undefined) return withNode(state, node, settled);
  const results = { ...current!.results, [node]: result.ok };
  return withNode({ ...state, current: { ...current!, results } }, node, settled);
}

/**
 * Ends the open call and judges its group. After a timeout, nodes without a result fail, and the group fails
 * regardless of its criteria (docs/explain/design.md#deployment-groups). After a stop, nodes that never started keep their state.
 */
export function finishCall(state: BaremetalState, end: CallEnd, now: number): BaremetalState {
  const { current } = state;
  if (!current) throw new Error('finishCall: no call is open');
  const { group, call } = current;
  const missing = current.nodes.filter((index) => current.results[index] === undefined);
  if (end.kind === 'complete' && missing.length > 0) {
    throw new Error(`finishCall: ${missing.length} nodes have no result`);
  }
  let next = missing.reduce((before, index) => cutShort(before, index, current, end, now), state);
  const progress = next.groups[group]!;
  const record = progress.calls[progress.calls.length - 1]!;
  const closed: CallRecord = { ...record, ended_at: now, timed_out: end.kind === 'timeout' };
  next = withGroup({ ...next, current: null }, group, { ...progress, calls: [...progress.calls.slice(0, -1), closed] });
  switch (end.kind) {
    case 'complete':
      return judge(next, group, call);
    case 'timeout': {
      const nodes = missing.map((index) => next.nodes[index]!.name);
      const after = given({ after_seconds: end.after_seconds });
      return failGroup(next, group, { kind: 'timeout', call, nodes, ...after });
    }
    case 'stopped':
    case 'cancelled':
      return failGroup(next, group, { kind: end.kind, call });
  }
}

/** Ends a call of a node that has no result, when the call was cut short. After a stop, the node keeps its state. */
export function cutShort(
  state: BaremetalState,
  index: number,
  { call, group }: Pick<CurrentCall, 'call' | 'group'>,
  end: CallEnd,
  now: number,
): BaremetalState {
  const { running, ...node } = state.nodes[index]!;
  const fail = (kind: 'timeout' | 'cancelled', message: string): BaremetalState =>
    withNode(state, index, {
      ...node,
      state: 'failed',
      group: state.groups[group]!.plan.name,
      ended_at: now,
      failure: { call, kind, message },
    });
  if (end.kind === 'timeout') {
    const limit = end.after_seconds === undefined ? '' : ` of ${end.after_seconds} s`;
    return fail('timeout', `no result within the ${call} time limit${limit}${lastAttempt(end.errors?.[index])}`);
  }
  return end.kind === 'cancelled' && running !== undefined
    ? fail('cancelled', `the run was cancelled during ${call}`)
    : state;
}

/** Whether a critical group failed: the run then halts after the baremetal step (docs/explain/design.md#spec-5, "Process" 4). */
export function halts(state: BaremetalState): boolean {
  return state.groups.some((group) => group.plan.critical && group.state === 'failed');
}

function groupToProcess(
  state: BaremetalState,
  held: readonly string[],
): { readonly group: number; readonly waiting: readonly string[] } {
  const byName = new Map(state.groups.map((group, index) => [group.plan.name, index]));
  const ordered = state.order.map((name) => byName.get(name)!);
  const waitsForRetry = (index: number): boolean => {
    const group = state.groups[index]!;
    return group.plan.nodes.some((node) => state.nodes[node]!.retrying) && nodesToCall(state, group).length === 0;
  };
  // A group between its two calls comes first: nothing else may run before its deploy.
  const prepared = ordered.find((index) => state.groups[index]!.state === 'prepared');
  const isOpen = (name: string): boolean => state.groups[byName.get(name)!]!.state === 'waiting';
  const ready = ordered.filter((index) => {
    const { name, depends_on } = state.groups[index]!.plan;
    return isOpen(name) && !depends_on.some(isOpen);
  });
  const isHeld = (index: number): boolean => held.includes(state.groups[index]!.plan.name);
  const waiting = ready.filter(isHeld).map((index) => state.groups[index]!.plan.name);
  const next = prepared ?? ready.find((index) => !isHeld(index) && !waitsForRetry(index));
  return { group: next === undefined || waitsForRetry(next) ? -1 : next, waiting };
}

/** The nodes of a group's next call. Those that are being retried have calls of their own. */
function nodesToCall({ nodes }: BaremetalState, { plan, state }: GroupProgress): number[] {
  const wanted: NodeState = state === 'prepared' ? 'prepared' : 'waiting';
  return plan.nodes.filter((index) => nodes[index]!.state === wanted && !nodes[index]!.retrying);
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
