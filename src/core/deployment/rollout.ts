import { type CheckFinding, resultOf } from '../checks/wave-checks.ts';
import type { RolloutStatus } from '../contracts/rollout.ts';
import { failuresLeft, mayStart, NOTHING_OPEN, nextWave, openWave, type RolloutState } from '../rollout/next-wave.ts';
import { operate, type RolloutRequest, type SteeredRollout, whyNotOperate } from '../rollout/operate.ts';
import { showGroupRollout } from '../rollout/show.ts';
import { cutWaves } from '../rollout/waves.ts';
import type { Call, RolloutAction } from '../words.ts';
import { CHECK_FAILED, CHECK_UNANSWERED, NOT_WELL } from './failures.ts';
import type { GroupPlan, RolloutPlan } from './group-plan.ts';
import {
  type BaremetalState,
  type GroupProgress,
  type NodeProgress,
  type RolloutProgress,
  withGroup,
  withNode,
} from './progress.ts';

/** A group that goes by waves. */
export interface RolledOut extends GroupProgress {
  readonly plan: GroupPlan & { readonly rollout: RolloutPlan };
  readonly rollout: RolloutProgress;
}

export const isRolledOut = (group: GroupProgress): group is RolledOut => group.rollout !== undefined;

export const startRollout = (plan: GroupPlan): { readonly rollout?: RolloutProgress } =>
  plan.rollout === undefined ? {} : { rollout: { ...NOTHING_OPEN, waves: null, step: null } };

/** Cuts the waves of a group whose turn has come: over the nodes that other groups have left to it. */
export function cutRollout(state: BaremetalState, index: number): BaremetalState {
  const group = state.groups[index] as RolledOut;
  const { rollout } = group.plan;
  const left = rollout.order.filter((node) => state.nodes[node]!.state !== 'success');
  return withRollout(state, index, { waves: cutWaves(rollout, left) });
}

/** Decides the next step of each rollout that has begun and is not over. */
export function decideRollouts(state: BaremetalState, now: number): BaremetalState {
  const groups = state.groups.map((group) =>
    isRolledOut(group) && group.state === 'waiting' && group.rollout.waves !== null
      ? { ...group, rollout: { ...group.rollout, step: stepOf(state, group, now) } }
      : group,
  );
  return { ...state, groups };
}

const stepOf = (state: BaremetalState, group: RolledOut, now: number) =>
  nextWave(stateOf(state, group), group.plan.rollout, now);

/** Opens the next wave of a group. */
export const openNextWave = (state: BaremetalState, index: number, now: number): BaremetalState =>
  withRollout(state, index, openWave(state.groups[index]!.rollout!, now));

const openedIn = ({ waves, opened }: RolloutProgress): number[] => (waves ?? []).slice(0, opened).flat();

/** The nodes of the opened waves that may start now, or have: at the limit, those alone that an operator retries. */
export function openedNodes(state: BaremetalState, group: RolledOut): readonly number[] {
  const opened = openedIn(group.rollout);
  return mayStart(stateOf(state, group), group.plan.rollout)
    ? opened
    : opened.filter((node) => isTriedAgain(state.nodes[node]!));
}

/** Whether an operator has the node retried in the calls of its groups. */
const isTriedAgain = ({ again, state }: NodeProgress): boolean =>
  again === true && (state === 'waiting' || state === 'prepared');

/** The next call of the opened waves: those that are prepared wait until all others are. */
export function callOfRollout(
  state: BaremetalState,
  group: RolledOut,
): { readonly call: Call; readonly nodes: readonly number[] } {
  const { nodes } = state;
  const opened = openedNodes(state, group);
  const inState = (wanted: string) =>
    opened.filter((node) => nodes[node]!.state === wanted && nodes[node]!.retrying === undefined);
  const unprepared = inState('waiting');
  return unprepared.length > 0
    ? { call: 'prepare', nodes: unprepared }
    : { call: 'deploy', nodes: inState('prepared') };
}

/** Whether a group cannot go on now: its rollout is held, or waits for nodes that are being retried. */
export function restsInRollout(state: BaremetalState, group: GroupProgress): boolean {
  if (!isRolledOut(group)) return false;
  const step = group.rollout.step?.step;
  if (step !== 'work') return step === 'hold';
  return callOfRollout(state, group).nodes.length === 0;
}

/** Whether another of these nodes, those of an open call of the group, may start now. */
export const mayStartNode = (state: BaremetalState, group: GroupProgress, nodes: readonly number[]): boolean =>
  failuresLeftIn(state, group, nodes) !== 0;

/** How many nodes of a call of the group may fail until no other starts; undefined: any number. */
export const failuresLeftIn = (
  state: BaremetalState,
  group: GroupProgress,
  nodes: readonly number[],
): number | undefined =>
  isRolledOut(group) && !nodes.every((node) => state.nodes[node]!.again === true)
    ? failuresLeft(stateOf(state, group), group.plan.rollout)
    : undefined;

/** The nodes of the opened waves that were well at their last result: to be looked at, and to be asked. */
export const nodesToLookAt = ({ nodes }: BaremetalState, { rollout }: RolledOut): number[] =>
  openedIn(rollout).filter((node) => nodes[node]!.state === 'success' && nodes[node]!.retrying === undefined);

/** What was found when the nodes of a group were looked at after the soak of a wave. */
export type Look =
  | { readonly problems: readonly { readonly node: string; readonly problem: string }[] }
  /** Nobody could look at them. */
  | { readonly unseen: string };

/** Records a look at nodes. Those that are not well any more have failed. @param at when it began: what changed since has not been seen */
export function recordLook(state: BaremetalState, index: number, look: Look, at: number): BaremetalState {
  if ('unseen' in look) return withRollout(state, index, { looked: { at, unseen: look.unseen } });
  const problems = new Map(look.problems.map(({ node, problem }) => [node, problem]));
  return nodesToLookAt(state, state.groups[index] as RolledOut).reduce(
    (next, number) => {
      const node = next.nodes[number]!;
      const message = problems.get(node.name);
      if (message === undefined) return next;
      return withNode(next, number, { ...node, state: 'failed', failure: { call: 'deploy', kind: NOT_WELL, message } });
    },
    withRollout(state, index, { looked: { at } }),
  );
}

/** Records the answers to the checks of a wave. Nodes whose checks are not well have failed. @param at when they were asked */
export function recordChecks(
  state: BaremetalState,
  index: number,
  findings: readonly CheckFinding[],
  at: number,
): BaremetalState {
  const asked = new Set(nodesToLookAt(state, state.groups[index] as RolledOut));
  const start = withRollout(state, index, { checked: { at, results: findings.map(resultOf) } });
  return findings.reduce((before, { name, unwell }) => {
    const failed = unwell.flatMap(({ verdict, text, nodes }) => nodes.map((number) => ({ verdict, text, number })));
    return failed.reduce((next, { verdict, text, number }) => {
      const node = next.nodes[number];
      if (node?.state !== 'success' || !asked.has(number)) return next;
      const kind = verdict === 'failed' ? CHECK_FAILED : CHECK_UNANSWERED;
      const message = `check ${name}: ${text}`;
      return withNode(next, number, { ...node, state: 'failed', failure: { call: 'deploy', kind, message } });
    }, before);
  }, start);
}

/** The rollouts of a run, as operators steer them. */
const steered = (state: BaremetalState): SteeredRollout[] =>
  state.groups.filter(isRolledOut).map((group) => steeredOf(state, group));

const steeredOf = (state: BaremetalState, group: RolledOut): SteeredRollout => ({
  name: group.plan.name,
  over: group.state === 'waiting' ? null : group.state === 'failed' ? 'it has failed' : 'its rollout is over',
  hasBegun: group.rollout.waves !== null,
  state: stateOf(state, group),
  policy: group.plan.rollout,
});

/** Why a request to rollouts must be refused, or null. */
export const whyNotOperateRollouts = (
  state: BaremetalState,
  action: RolloutAction,
  request: RolloutRequest,
  now: number,
): string | null => whyNotOperate(steered(state), 'group', action, request, now);

/** Does what an operator asks, for each group for which it has an effect. */
export function operateRollouts(
  state: BaremetalState,
  action: RolloutAction,
  request: RolloutRequest,
  now: number,
): BaremetalState {
  const groups = state.groups.map((group) => {
    const change = isRolledOut(group) ? operate(steeredOf(state, group), action, request, now) : null;
    return change === null ? group : { ...group, rollout: { ...group.rollout!, ...change } };
  });
  return decideRollouts({ ...state, groups }, now);
}

/** How the nodes of a rollout are, in numbers. */
function stateOf({ nodes }: BaremetalState, { rollout }: RolledOut): RolloutState {
  const waves = rollout.waves ?? [];
  const opened = waves.slice(0, rollout.opened).flatMap((wave) => wave.map((node) => nodes[node]!));
  const isOut = (node: NodeProgress): boolean =>
    node.running !== undefined || node.retrying !== undefined || isTriedAgain(node);
  const resting = opened.filter((node) => !isOut(node));
  const inState = (...states: readonly string[]): number =>
    resting.filter(({ state }) => states.includes(state)).length;
  return {
    ...rollout,
    waves: waves.length,
    total: waves.reduce((sum, wave) => sum + wave.length, 0),
    failed: waves.flat().filter((node) => isNotWell(nodes[node]!)).length,
    waiting: inState('waiting', 'prepared'),
    out: opened.length - resting.length,
    well: inState('success'),
    lastResultAt: opened.reduce((last, { ended_at = 0 }) => Math.max(last, ended_at), rollout.openedAt),
  };
}

/** One that is being retried is not well until it has succeeded. */
const isNotWell = ({ state, retrying, again }: NodeProgress): boolean =>
  state === 'failed' || ((retrying !== undefined || again === true) && state !== 'success');

const withRollout = (state: BaremetalState, index: number, change: Partial<RolloutProgress>): BaremetalState => {
  const group = state.groups[index]!;
  return withGroup(state, index, { ...group, rollout: { ...group.rollout!, ...change } });
};

/** How the rollout of a group stands. */
export function showRollout(state: BaremetalState, group: RolledOut): RolloutStatus {
  const ended = group.state === 'success' ? 'success' : group.state === 'waiting' ? undefined : 'stopped';
  return showGroupRollout(stateOf(state, group), group.plan.rollout, group.rollout.step, ended);
}

/** Whether the rollout of a group is held: an operator decides. */
export const isRolloutHeld = (state: BaremetalState): boolean =>
  state.groups.some((group) => group.state === 'waiting' && group.rollout?.step?.step === 'hold');
