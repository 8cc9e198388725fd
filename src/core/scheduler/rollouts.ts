/**
 * Waves of a run: a node outside the open waves has no task ready, and nothing starts once as many nodes have failed as a
 * rollout allows. `nextWave` decides, after each event and before anything starts.
 */
import { resultOf } from '../checks/wave-checks.ts';
import { failuresLeft, nextWave, openWave, type RolloutState } from '../rollout/next-wave.ts';
import { operate, type RolloutRequest, type SteeredRollout, whyNotOperate } from '../rollout/operate.ts';
import { showGroupRollout } from '../rollout/show.ts';
import type { RolloutAction } from '../words.ts';
import type { SchedulerEvent } from './events.ts';
import { addCandidate } from './ready.ts';
import type { GraphRollout, Rollouts, Scheduler } from './state.ts';
import { isStopping } from './state.ts';
import { code, isFinal } from './status.ts';

const isOver = ({ step }: GraphRollout): boolean => step?.step === 'finished' || step?.step === 'aborted';

/** Whether a rollout keeps the run from ending. */
export const hasOpenRollout = ({ rollouts }: Scheduler): boolean =>
  rollouts !== undefined && !rollouts.all.every(isOver);

/** Whether a rollout was ended by an operator, or has more failures than anyone vouched for. */
export const hasFailedRollout = (s: Scheduler): boolean =>
  s.rollouts?.all.some((one) => one.decisions.aborted || isAtLimit(s, one)) ?? false;

/** Whether a rollout is not known to be well although its last nodes are done. */
export const isUnjudged = (s: Scheduler): boolean =>
  s.rollouts?.all.some((one) => nextWave(stateOf(s, one), one.plan.policy, s.now).step !== 'finished') ?? false;

/** Whether a task waits for the wave of its node. One without work waits for none. */
export const isInLaterWave = ({ rollouts, noWork, graph }: Scheduler, task: number): boolean =>
  rollouts !== undefined && noWork[task] === 0 && rollouts.closed.has(graph.nodeOf[task]!);

/** Whether a task may not start now, because a rollout has reached its limit. Those go on that an operator retries. */
export const isBarred = ({ rollouts, noWork, graph }: Scheduler, task: number): boolean =>
  rollouts?.isBarred === true && noWork[task] === 0 && !rollouts.retried.has(graph.nodeOf[task]!);

/** A task of the node has ended. */
export function noteResult({ rollouts, now }: Scheduler, node: number): void {
  const own = rollouts?.ofNode.get(node);
  if (own !== undefined) own.lastResultAt = now;
}

/** An operator tries a task of the node again. */
export function noteRetry({ rollouts }: Scheduler, node: number): void {
  if (rollouts?.ofNode.has(node)) rollouts.retried.add(node);
}

/** Why an operator cannot have the checks of a node asked again, or null. */
export function whyNotRetryNode({ rollouts, nodeIndex }: Scheduler, node: string): string | null {
  const number = nodeIndex.get(node);
  const own = number === undefined ? undefined : rollouts?.ofNode.get(number);
  if (number === undefined || own === undefined) return `no role of node ${node} has a rollout`;
  if (isOver(own)) return 'its rollout is over';
  return own.unwell.has(number) ? null : 'none of its checks has failed: retry a failed task by its name';
}

/** An operator has repaired a node of which a check is not well. It counts as failed until its checks are well. */
export function askAgain({ rollouts, nodeIndex }: Scheduler, node: string): void {
  const own = rollouts?.ofNode.get(nodeIndex.get(node)!);
  if (own === undefined) return;
  own.isChecking = false;
  own.decisions = { ...own.decisions, again: true };
}

/** Whether a check of a node was not well when it was asked last. */
export const isUnwell = ({ rollouts }: Scheduler, node: number): boolean =>
  rollouts?.ofNode.get(node)?.unwell.has(node) ?? false;

/** Decides about all rollouts of a run. Call it before anything starts; true: a wave was opened, and its tasks are touched. */
export function judgeRollouts(s: Scheduler): boolean {
  const { rollouts } = s;
  if (rollouts === undefined || !s.started || s.finished || s.paused || isStopping(s)) return false;
  for (const node of rollouts.retried)
    if (s.holder[node] === -1 && (s.lostOn[node]! > 0 || !hasWorkLeft(s, node))) rollouts.retried.delete(node);
  let hasOpened = false;
  for (const one of rollouts.all) {
    for (;;) {
      one.step = nextWave(stateOf(s, one), one.plan.policy, s.now);
      if (one.step.step !== 'open') break;
      open(s, rollouts, one);
      hasOpened = true;
    }
    if (one.step.step === 'look' && !one.isLooking) look(s, rollouts, one);
    if (one.step.step !== 'check') one.isChecking = false;
    else if (!one.isChecking) check(s, rollouts, one);
  }
  const wasBarred = rollouts.isBarred;
  rollouts.isBarred = rollouts.all.some((one) => !isOver(one) && isAtLimit(s, one));
  if (wasBarred && !rollouts.isBarred) for (const node of s.graph.nodes.keys()) addCandidate(s, node);
  return hasOpened;
}

function open(s: Scheduler, { closed }: Rollouts, one: GraphRollout): void {
  for (const node of one.plan.waves[one.decisions.opened]!) {
    closed.delete(node);
    s.touched.push(...s.tasksOfNode[node]!);
  }
  one.decisions = openWave(one.decisions, s.now);
}

/** The nodes of the last wave that are well are asked: those of earlier waves were asked after their own. */
function look(s: Scheduler, { all }: Rollouts, one: GraphRollout): void {
  one.isLooking = true;
  const nodes = one.plan.waves[one.decisions.opened - 1]!.filter((node) => s.lostOn[node] === 0);
  s.commands.push({ type: 'look', rollout: all.indexOf(one), nodes });
}

/** What came of a `look` command. */
export function recordLook({ rollouts }: Scheduler, rollout: number, at: number, unseen?: string): void {
  const one = rollouts?.all[rollout];
  if (one === undefined) return;
  one.isLooking = false;
  one.decisions = { ...one.decisions, looked: unseen === undefined ? { at } : { at, unseen } };
}

/** The nodes of the opened waves are asked, also those whose checks were not well before. */
function check(s: Scheduler, { all }: Rollouts, one: GraphRollout): void {
  one.isChecking = true;
  const { checks = [] } = one.plan.policy;
  s.commands.push({
    type: 'check',
    rollout: all.indexOf(one),
    checks,
    nodes: openedNodes(one).filter((node) => s.lostOn[node] === 0),
  });
}

/** What came of a `check` command. Nothing, if something has happened since that it does not know of. */
export function recordChecks(
  s: Scheduler,
  { rollout, at, findings }: Extract<SchedulerEvent, { type: 'checked' }>,
): void {
  const one = s.rollouts?.all[rollout];
  if (one === undefined || !one.isChecking) return;
  one.isChecking = false;
  one.decisions = { ...one.decisions, checked: { at, results: findings.map(resultOf) }, again: false };
  one.unwell = new Set(findings.flatMap(({ unwell }) => unwell.flatMap(({ nodes }) => nodes)));
}

const openedNodes = ({ plan, decisions }: GraphRollout): number[] => plan.waves.slice(0, decisions.opened).flat();

/** When to decide again although nothing happens: the end of a soak. */
export function nextSoak(s: Scheduler): number | undefined {
  if (s.rollouts === undefined || isStopping(s)) return undefined;
  const ends = s.rollouts.all.flatMap(({ step }) => (step?.step === 'soak' ? step.until : []));
  return ends.length === 0 ? undefined : Math.min(...ends);
}

export const whyNotOperateRollout = (
  s: Scheduler,
  action: RolloutAction,
  request: RolloutRequest,
  now: number,
): string | null => whyNotOperate(steered(s), 'role', action, request, now);

/** Does what an operator asks, for each rollout for which it has an effect. */
export function operateRollout(s: Scheduler, action: RolloutAction, request: RolloutRequest, now: number): void {
  for (const one of s.rollouts?.all ?? []) {
    const change = operate(steeredOf(s, one), action, request, now);
    if (change === null) continue;
    one.decisions = { ...one.decisions, ...change };
    if (change.aborted) one.step = { step: 'aborted' };
  }
}

const steered = (s: Scheduler): SteeredRollout[] => (s.rollouts?.all ?? []).map((one) => steeredOf(s, one));

const steeredOf = (s: Scheduler, one: GraphRollout): SteeredRollout => ({
  name: one.plan.name,
  over: isOver(one) ? 'its rollout is over' : null,
  hasBegun: one.decisions.opened > 0,
  state: stateOf(s, one),
  policy: one.plan.policy,
});

/** How the rollouts of a run stand, by name. Linear in the size of the run. */
export const showRollouts = (s: Scheduler) =>
  (s.rollouts?.all ?? []).map((one) => ({
    name: one.plan.name,
    policy: one.plan.policy,
    status: showGroupRollout(stateOf(s, one), one.plan.policy, one.step, endOf(s, one)),
    unwell: [...one.unwell].slice(0, 10).map((node) => s.graph.nodes[node]!),
  }));

function endOf(s: Scheduler, one: GraphRollout): 'success' | 'stopped' | undefined {
  if (one.step?.step === 'finished') return isAtLimit(s, one) ? 'stopped' : 'success';
  return one.step?.step === 'aborted' || s.finished ? 'stopped' : undefined;
}

const isAtLimit = (s: Scheduler, one: GraphRollout): boolean => failuresLeft(stateOf(s, one), one.plan.policy) === 0;

/** How the nodes of a rollout are, in numbers. A node of a later wave was not tried: it counts as failed when its wave opens. */
function stateOf(s: Scheduler, one: GraphRollout): RolloutState {
  const { plan, decisions, lastResultAt, unwell } = one;
  const counts = { failed: 0, waiting: 0, out: 0, well: 0 };
  for (const node of openedNodes(one)) {
    const isRetried = s.rollouts!.retried.has(node);
    const isLost = s.lostOn[node]! > 0 || unwell.has(node);
    if (isLost || isRetried) counts.failed++;
    if (s.holder[node] !== -1 || (isRetried && hasReadyTask(s, node))) counts.out++;
    else if (hasWorkLeft(s, node)) counts.waiting++;
    else if (!isLost) counts.well++;
  }
  const state: RolloutState = {
    ...decisions,
    ...counts,
    waves: plan.waves.length,
    total: plan.waves.flat().length,
    lastResultAt: Math.max(lastResultAt, decisions.openedAt),
  };
  // What else the run has to do waits for a limit, too.
  const isHeldUp =
    counts.waiting === 0 &&
    failuresLeft(state, plan.policy) === 0 &&
    s.graph.nodes.some((_, node) => hasWorkLeft(s, node));
  return isHeldUp ? { ...state, waiting: 1 } : state;
}

const hasReadyTask = (s: Scheduler, node: number): boolean =>
  s.tasksOfNode[node]!.some((task) => s.noWork[task] === 0 && s.status[task] === code.ready);

const hasWorkLeft = (s: Scheduler, node: number): boolean =>
  s.tasksOfNode[node]!.some((task) => s.noWork[task] === 0 && !isFinal(s.status[task]!));
