import * as z from 'zod/mini';
import type { Wire } from '../contracts/wire.ts';
import { given } from '../data/given.ts';
import { optional, text, texts } from '../data/schema.ts';
import type { Call, NodeState } from '../words.ts';
import { judgeCriteria } from './criteria.ts';
import { IN_FLIGHT, lastAttempt } from './failures.ts';
import type { CallRecord, GroupPlan } from './group-plan.ts';
import { stableOrder } from './order.ts';
import { nextWithPermits } from './permits.ts';
import {
  type BaremetalState,
  type CurrentCall,
  failGroup,
  type GroupProgress,
  type NodeProgress,
  withGroup,
  withNode,
} from './progress.ts';
import {
  callOfRollout,
  cutRollout,
  decideRollouts,
  isRolledOut,
  nodesToLookAt,
  openedNodes,
  openNextWave,
  type RolledOut,
  restsInRollout,
  startRollout,
} from './rollout.ts';

/** The result of one node in one call. */
export const nodeResult = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    ...optional({
      system_id: text,
      /** Of its hardware. */
      model: text,
      warnings: texts,
    }),
  }),
  z.object({
    ok: z.literal(false),
    failure: z.object({ kind: text, message: text, ...optional({ hint: text }) }),
    ...optional({ system_id: text }),
  }),
]);
export type NodeResult = Wire<typeof nodeResult>;

/** How a call ended: all results have arrived, or it was cut short. */
export type CallEnd =
  | { readonly kind: 'complete' }
  | {
      readonly kind: 'timeout';
      readonly after_seconds?: number;
      /** The last error of the attempts of each node that had one, by its number. */
      readonly errors?: Readonly<Record<number, string>>;
    }
  /** The rollout of its group has reached its limit: what had started has ended, the rest has not started. */
  | { readonly kind: 'held' }
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
  /** Indexes into `nodes`, in the order in which they start; never empty. */
  readonly nodes: readonly number[];
}

/** What the turn of a group waits for, when no call of it is to be made now. */
export type WaveRest =
  | { readonly kind: 'soak'; readonly group: string; readonly until: number }
  /** These nodes are to be looked at (`recordLook`). */
  | { readonly kind: 'look'; readonly group: number; readonly nodes: readonly number[] }
  /** Their machines need permits (`withPermits`). */
  | { readonly kind: 'permits'; readonly group: number; readonly nodes: readonly number[] }
  /** These checks are to be asked (`recordChecks`). */
  | {
      readonly kind: 'check';
      readonly group: number;
      readonly checks: readonly string[];
      readonly nodes: readonly number[];
    };

/**
 * The initial state. `done` are nodes that need no work (update_site: unchanged and deployed): they count as
 * success and are never in a call.
 *
 * @param isLimited machines need permits before they are touched
 */
export function startBaremetal(
  groups: readonly GroupPlan[],
  nodeNames: readonly string[],
  done: readonly number[] = [],
  isLimited = false,
): BaremetalState {
  const finished = new Set(done);
  return {
    groups: groups.map((plan) => ({ plan, state: 'waiting', calls: [], verdicts: [], ...startRollout(plan) })),
    nodes: nodeNames.map((name, index) => ({
      name,
      state: finished.has(index) ? 'success' : 'waiting',
      attempts: 0,
    })),
    order: stableOrder(groups),
    processed: [],
    current: null,
    ...(isLimited && { permits: [] }),
  };
}

/**
 * The next call to make. Settles groups that need no call. `call: null` means that no group is left to process, except
 * the one of `rest`, those of `waiting`, those whose rollout is held, those that wait for a retried node, and their dependents. Must
 * not be called while a call is open.
 *
 * @param held groups that may not start yet. Those whose turn it is are `waiting`; other groups go on.
 */
export function nextCall(
  state: BaremetalState,
  now: number,
  held: readonly string[] = [],
): { state: BaremetalState; call: NextCall | null; rest?: WaveRest; waiting: readonly string[] } {
  if (state.current) throw new Error('nextCall: a call is still open');
  let next = state;
  for (;;) {
    next = decideRollouts(next, now);
    const { group, waiting } = groupToProcess(next, held);
    if (group < 0) return { state: next, call: null, waiting };
    const progress = next.groups[group]!;
    if (isRolledOut(progress) || next.permits !== undefined) {
      const turn = isRolledOut(progress)
        ? turnOfRollout(next, group, progress, now)
        : turnWithPermits(next, group, progress.plan.nodes, now);
      if (turn.call || turn.rest) return { ...turn, waiting };
      next = turn.state;
      continue;
    }
    const call: Call = progress.state === 'prepared' ? 'deploy' : 'prepare';
    const nodes = nodesToCall(next, progress);
    if (call === 'prepare') next = process(next, progress.plan.name);
    if (nodes.length > 0) return { ...openCall(next, group, call, nodes, now), waiting };
    next = judge(next, group, call);
  }
}

/** One step of a group with a rollout: its next call, what it waits for, or how it has changed. */
function turnOfRollout(
  state: BaremetalState,
  index: number,
  group: RolledOut,
  now: number,
): { state: BaremetalState; call: NextCall | null; rest?: WaveRest } {
  const { step } = group.rollout;
  const rest = (what: WaveRest) => ({ state, call: null, rest: what });
  const became = (next: BaremetalState) => ({ state: next, call: null });
  if (step === null) return became(cutRollout(process(state, group.plan.name), index));
  switch (step.step) {
    case 'open':
      return became(whenItMaySucceed(state, index, 'deploy', (judged) => openNextWave(judged, index, now)));
    case 'work': {
      if (state.permits !== undefined) return turnWithPermits(state, index, openedNodes(state, group), now);
      const { call, nodes } = callOfRollout(state, group);
      if (call === 'prepare') return openCall(state, index, call, nodes, now);
      const judged = whenItMaySucceed(state, index, 'prepare', (met) => met);
      return judged.groups[index]!.state === 'failed' ? became(judged) : openCall(judged, index, call, nodes, now);
    }
    case 'soak':
      return rest({ kind: 'soak', group: group.plan.name, until: step.until });
    case 'look':
      return rest({ kind: 'look', group: index, nodes: nodesToLookAt(state, group) });
    case 'check': {
      const { checks = [] } = group.plan.rollout;
      return rest({ kind: 'check', group: index, checks, nodes: nodesToLookAt(state, group) });
    }
    case 'finished':
      return became(judge(state, index, 'deploy'));
    case 'aborted':
      return became(failGroup(state, index, { kind: 'rollout-aborted' }));
    case 'hold':
      throw new Error('turnOfRollout: the rollout is held');
  }
}

/** One step of a group whose machines need permits: as many of them as there are permits are prepared and deployed at a time. */
function turnWithPermits(
  state: BaremetalState,
  index: number,
  nodes: readonly number[],
  now: number,
): { state: BaremetalState; call: NextCall | null; rest?: WaveRest } {
  const next = nextWithPermits(state, nodes);
  const { name } = state.groups[index]!.plan;
  if ('call' in next && next.call === 'prepare')
    return openCall(processOnce(state, name), index, next.call, next.nodes, now);
  const judged = whenItMaySucceed(state, index, 'call' in next ? 'prepare' : 'deploy', (met) => met);
  if (judged.groups[index]!.state === 'failed') return { state: judged, call: null };
  if ('call' in next) return openCall(judged, index, next.call, next.nodes, now);
  if (next.wants.length > 0)
    return { state: judged, call: null, rest: { kind: 'permits', group: index, nodes: next.wants } };
  return { state: judge(processOnce(state, name), index, 'deploy'), call: null };
}

const processOnce = (state: BaremetalState, group: string): BaremetalState =>
  state.processed.includes(group) ? state : process(state, group);

function process(state: BaremetalState, group: string): BaremetalState {
  const { processed } = state;
  return processed[processed.length - 1] === group ? state : { ...state, processed: [...processed, group] };
}

function openCall(
  state: BaremetalState,
  group: number,
  call: Call,
  nodes: readonly number[],
  now: number,
): { state: BaremetalState; call: NextCall } {
  const progress = state.groups[group]!;
  const current: CurrentCall = { group, call, nodes, results: {} };
  const record: CallRecord = { call, nodes, started_at: now, timed_out: false };
  return {
    state: withGroup({ ...state, current }, group, { ...progress, calls: [...progress.calls, record] }),
    call: { group, name: progress.plan.name, call, nodes },
  };
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
  const { system_id } = result;
  const identified = { ...kept, ...given({ system_id, model: result.ok ? result.model : undefined }) };
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
      return isRolledOut(progress) || next.permits !== undefined ? next : judge(next, group, call);
    case 'held':
      return next;
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
  const cannotGoOn = (index: number): boolean => {
    const group = state.groups[index]!;
    if (isRolledOut(group)) return restsInRollout(state, group);
    if (!group.plan.nodes.some((node) => state.nodes[node]!.retrying)) return false;
    if (state.permits === undefined) return nodesToCall(state, group).length === 0;
    const next = nextWithPermits(state, group.plan.nodes);
    return 'wants' in next && next.wants.length === 0;
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
  const next = prepared ?? ready.find((index) => !isHeld(index) && !cannotGoOn(index));
  return { group: next === undefined || cannotGoOn(next) ? -1 : next, waiting };
}

/** The nodes of a group's next call. Those that are being retried have calls of their own. */
function nodesToCall({ nodes }: BaremetalState, { plan, state }: GroupProgress): number[] {
  const wanted: NodeState = state === 'prepared' ? 'prepared' : 'waiting';
  return plan.nodes.filter((index) => nodes[index]!.state === wanted && !nodes[index]!.retrying);
}

/** Judges a group after a call (made or not needed) and updates its state. */
function judge(state: BaremetalState, group: number, call: Call): BaremetalState {
  const judged = withVerdicts(
    state,
    group,
    call,
    (node) => node === 'success' || (call === 'prepare' && node === 'prepared'),
  );
  if (judged.groups[group]!.state === 'failed') return judged;
  return withGroup(judged, group, { ...judged.groups[group]!, state: call === 'prepare' ? 'prepared' : 'success' });
}

/** Goes on with a group whose rollout is not over, unless too many of its nodes have failed for it to succeed. */
function whenItMaySucceed(
  state: BaremetalState,
  group: number,
  call: Call,
  goOn: (judged: BaremetalState) => BaremetalState,
): BaremetalState {
  const { verdicts, ...progress } = state.groups[group]!;
  // Of each call the last verdict is kept, however many waves there are.
  const others = withGroup(state, group, { ...progress, verdicts: verdicts.filter((one) => one.call !== call) });
  const judged = withVerdicts(others, group, call, (node) => node !== 'failed');
  return judged.groups[group]!.state === 'failed' ? judged : goOn(judged);
}

/** Judges a group, and fails it if it does not meet its criteria. */
function withVerdicts(
  state: BaremetalState,
  group: number,
  call: Call,
  isGood: (node: NodeState) => boolean,
): BaremetalState {
  const progress = state.groups[group]!;
  const good = progress.plan.nodes.filter((index) => isGood(state.nodes[index]!.state));
  const verdicts = judgeCriteria(progress.plan.success_criteria, {
    total: progress.plan.nodes.length,
    successful: good.length,
  });
  const judged = withGroup(state, group, { ...progress, verdicts: [...progress.verdicts, { call, verdicts }] });
  return verdicts.every((verdict) => verdict.met)
    ? judged
    : failGroup(judged, group, { kind: 'criteria', call, verdicts });
}
