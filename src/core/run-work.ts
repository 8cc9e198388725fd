import type { NodeReport } from './contracts/site-run-report.ts';

/** What an open run is doing and has still to do, by name: nodes of a site, or tasks on nodes. */
export interface RunWork {
  readonly running: readonly string[];
  readonly next: readonly string[];
}

/** What people decide about an open run. */
export type RunDecision = 'pause' | 'resume' | 'stop' | 'cancel' | 'approve' | 'reject';

/** What becomes of the work of a run by a decision, for the question before it. */
export const WORK_AFTER: Readonly<Record<RunDecision, { readonly running: string; readonly next: string }>> = {
  pause: { running: 'finishes', next: 'waits' },
  resume: { running: 'goes on', next: 'starts' },
  approve: { running: 'goes on', next: 'starts' },
  stop: { running: 'finishes', next: 'not started' },
  reject: { running: 'finishes', next: 'not started' },
  cancel: { running: 'aborted', next: 'not started' },
};

interface PlannedSite {
  readonly nodes: readonly string[];
  /** Those that need no work. */
  readonly done: readonly string[];
  readonly groups: readonly { readonly name: string; readonly nodes: readonly string[] }[];
}

/**
 * The work of a run on a site, from its plan.
 *
 * @param reports as recorded so far
 * @param working the nodes that its status shows at work; records say it only of some
 * @param before what waits for approval: only its nodes are next; `*` or absent: all
 */
export function workOfSite(
  plan: PlannedSite,
  reports: readonly NodeReport[],
  working: readonly string[],
  before = '*',
): RunWork {
  const known = new Map(reports.map((one) => [one.name, one]));
  const group = plan.groups.find(({ name }) => name === before);
  const recorded = reports.filter((one) => one.running !== undefined).map(({ name }) => name);
  const running = [...new Set([...working, ...recorded])];
  const ended = (name: string): boolean => ['success', 'failed'].includes(known.get(name)?.state ?? '');
  const isNext = (name: string): boolean => !plan.done.includes(name) && !running.includes(name) && !ended(name);
  return { running, next: (group?.nodes ?? plan.nodes).filter(isNext) };
}

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
