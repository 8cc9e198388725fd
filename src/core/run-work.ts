import type { NodeReport } from './contracts/site-run-report.ts';
import type { NodeState } from './words.ts';

/** What an open run is doing and has still to do, by name: nodes of a site, or tasks on nodes. */
export interface RunWork {
  readonly running: readonly string[];
  readonly next: readonly string[];
}

/** What people decide about an open run, or about a rollout in it. */
export type RunDecision = 'pause' | 'resume' | 'stop' | 'cancel' | 'approve' | 'reject' | RolloutVerb;

export type RolloutVerb = 'promote' | 'hold' | 'abort-rollout';

/** What becomes of the work of a run by a decision, for the question before it. */
export const WORK_AFTER: Readonly<Record<RunDecision, { readonly running: string; readonly next: string }>> = {
  pause: { running: 'finishes', next: 'waits' },
  resume: { running: 'goes on', next: 'starts' },
  approve: { running: 'goes on', next: 'starts' },
  stop: { running: 'finishes', next: 'not started' },
  reject: { running: 'finishes', next: 'not started' },
  cancel: { running: 'aborted', next: 'not started' },
  promote: { running: 'goes on', next: 'starts, wave by wave' },
  hold: { running: 'finishes', next: 'waits after the open wave' },
  'abort-rollout': { running: 'finishes', next: 'not started' },
};

/**
 * The work of a run on a site: its nodes as they are now.
 *
 * @param before what waits for approval: only its nodes are next; `*` or absent: all
 * @param only the group whose rollout is meant; absent: all work
 */
export function workOfSite(
  nodes: readonly NodeReport[],
  groups: readonly { readonly name: string; readonly nodes: readonly string[] }[],
  before = '*',
  only?: string,
): RunWork {
  const nodesOf = (group: string | undefined) =>
    new Set(groups.find(({ name }) => name === group)?.nodes ?? nodes.map(({ name }) => name));
  const [isMeant, isOwn] = [nodesOf(before), nodesOf(only)];
  const named = (which: (node: NodeReport) => boolean): string[] =>
    nodes.filter((node) => isOwn.has(node.name) && which(node)).map(({ name }) => name);
  return {
    running: named(({ running }) => running !== undefined),
    next: named(({ name, state, running }) => running === undefined && isMeant.has(name) && LEFT.includes(state)),
  };
}

const LEFT: readonly NodeState[] = ['waiting', 'prepared'];

interface TaskOfRun {
  readonly task: string;
  /** `null` for a task without a node. */
  readonly node: string;
  readonly status: string;
}

/** The work of a run of graphs. `nameOf`: of a node, by its id. */
export function workOfGraphs(tasks: readonly TaskOfRun[], nameOf: (node: string) => string, before = '*'): RunWork {
  const named = ({ task, node }: TaskOfRun): string => (node === 'null' ? task : `${task}@${nameOf(node)}`);
  const isNext = ({ task, status }: TaskOfRun): boolean => status === 'waiting' && (before === '*' || task === before);
  return {
    running: tasks.filter(({ status }) => status === 'running' || status === 'retrying').map(named),
    next: tasks.filter(isNext).map(named),
  };
}
