import { didYouMean } from '../text/did-you-mean.ts';
import { type CallEnd, cutShort } from './baremetal.ts';
import { type BaremetalState, failDependents, type GroupProgress, type NodeProgress, withNode } from './progress.ts';
import { isRolledOut } from './rollout.ts';

/** Why an operator's retry must be rejected, or null. */
export function whyNotRetry(state: BaremetalState, nodeName: string): string | null {
  const node = state.nodes.find((candidate) => candidate.name === nodeName);
  if (!node) {
    const meant = didYouMean(
      nodeName,
      state.nodes.map(({ name }) => name),
    );
    return `no node ${nodeName} in this run${meant === undefined ? '' : `. ${meant}`}`;
  }
  if (node.retrying) return `node ${nodeName} is being retried`;
  if (node.state !== 'failed') return `node ${nodeName} has not failed: it is ${node.state}`;
  if (node.running) return `node ${nodeName} is still running`;
  if (!state.groups.some((group) => group.plan.nodes.some((index) => state.nodes[index] === node)))
    return `node ${nodeName} is in no group`;
  const aborted = state.groups.find(
    ({ plan, rollout }) => rollout?.aborted && plan.nodes.some((index) => state.nodes[index] === node),
  );
  if (aborted) return `the rollout of group ${aborted.plan.name}, to which node ${nodeName} belongs, was aborted`;
  return null;
}

/**
 * Retries a failed node at an operator's request in the next calls of its groups: reopens the node, its groups, and groups
 * that failed only because they depend on those. Call it only between calls.
 */
export function retryNode(state: BaremetalState, nodeName: string): BaremetalState {
  if (state.current) throw new Error('retryNode: a call is still open');
  if (whyNotRetry(state, nodeName) !== null) return state;
  const node = indexOf(state, nodeName);
  const { failure: _failure, ended_at: _ended, ...kept } = state.nodes[node]!;
  const isInRollout = state.groups.some((group) => isRolledOut(group) && group.plan.nodes.includes(node));
  const waiting = { ...kept, state: 'waiting' as const, ...(isInRollout && { again: true as const }) };
  return reopen(withNode(state, node, waiting), node, () => true);
}

/**
 * Starts to retry a failed node in parallel with calls of groups, at any time: the node is prepared by a call of its own
 * (`startNode`, `finishNode`, `finishRetriedCall`), then deployed if `mayDeployRetried`, until `endRetry`. Its groups reopen; each is judged
 * again when the retry has ended.
 */
export function startRetry(state: BaremetalState, nodeName: string): BaremetalState {
  const node = indexOf(state, nodeName);
  const { failure: _failure, ended_at: _ended, ...kept } = state.nodes[node]!;
  const own = ({ plan }: GroupProgress): boolean => plan.nodes.includes(node);
  const last = state.groups.findIndex((group) => group.plan.name === kept.group && own(group));
  const group = last < 0 ? state.groups.findIndex(own) : last;
  const retrying = withNode(state, node, { ...kept, state: 'waiting', retrying: { call: 'prepare', group } });
  // A group that is between its calls, or in one, is judged after it anyway.
  return reopen(retrying, node, (one, index) => index !== state.current?.group && one.state !== 'prepared');
}

/**
 * Whether a retried node that was prepared may be deployed by its retry: its group has met its criteria for that. Otherwise the
 * group deploys it, when it has been judged with the node.
 */
export function mayDeployRetried(state: BaremetalState, node: number): boolean {
  const { retrying, state: prepared } = state.nodes[node]!;
  if (!retrying || prepared !== 'prepared') return false;
  const { current } = state;
  if (current?.group === retrying.group && current.call === 'prepare') return false;
  const judged = state.groups[retrying.group]!.verdicts.findLast(({ call }) => call === 'prepare');
  return judged?.verdicts.every(({ met }) => met) ?? false;
}

/** Goes on to deploy a retried node. */
export const deployRetried = (state: BaremetalState, node: number): BaremetalState =>
  changed(state, node, ({ retrying, ...kept }) => ({ ...kept, retrying: { ...retrying!, call: 'deploy' } }));

/** Ends the call of a retried node. A node without a result fails as in a group's call. */
export function finishRetriedCall(state: BaremetalState, node: number, end: CallEnd, now: number): BaremetalState {
  const { retrying, running } = state.nodes[node]!;
  return retrying && running ? cutShort(state, node, retrying, end, now) : state;
}

/** Ends the retry of a node: from now on, calls of groups take it, and its groups are judged with it. */
export const endRetry = (state: BaremetalState, node: number): BaremetalState =>
  changed(state, node, ({ retrying: _retrying, ...kept }) => kept);

/** Records that the work of a node is being aborted, or no more. For display only. */
export const showAbort = (state: BaremetalState, node: number, is: boolean): BaremetalState =>
  changed(state, node, ({ aborting: _aborting, ...kept }) => (is ? { ...kept, aborting: true } : kept));

const indexOf = (state: BaremetalState, nodeName: string): number =>
  state.nodes.findIndex(({ name }) => name === nodeName);

const changed = (state: BaremetalState, node: number, change: (one: NodeProgress) => NodeProgress): BaremetalState =>
  withNode(state, node, change(state.nodes[node]!));

/** Reopens those of a node's groups that `may` be, and groups that failed only because they depend on another. */
function reopen(
  state: BaremetalState,
  node: number,
  may: (group: GroupProgress, index: number) => boolean,
): BaremetalState {
  const groups = state.groups.map((group, index) => {
    const { failure, ...rest } = group;
    const own = group.plan.nodes.includes(node) && group.state !== 'waiting' && may(group, index);
    return own || failure?.kind === 'dependency' ? { ...rest, state: 'waiting' as const } : group;
  });
  // Groups that still depend on another failed group fail again immediately, for that reason.
  return groups.reduce<BaremetalState>(
    (next, group, index) => (group.state === 'failed' ? failDependents(next, index) : next),
    { ...state, groups },
  );
}
