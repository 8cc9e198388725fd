import { DONE_STATUSES, TASK_STATUSES, type TaskStatus, WORK_STATUSES } from '../words.ts';

/** The only place that counts the tasks of a run: statuses, reports, the API, the command line and the page use it. */

/** Number of tasks by status. */
export type TaskCounts = Readonly<Record<TaskStatus, number>>;

/** With zeros left out. */
export type SomeCounts = Readonly<Partial<TaskCounts>>;

export const NO_TASKS: TaskCounts = {
  waiting: 0,
  running: 0,
  retrying: 0,
  success: 0,
  ignored: 0,
  failed: 0,
  blocked: 0,
  not_reached: 0,
  skipped: 0,
};

/** The status of a task whose graph has ended: waiting tasks are not reached. */
export const endedStatus = (status: TaskStatus): TaskStatus => (status === 'waiting' ? 'not_reached' : status);

export function sumCounts(all: readonly SomeCounts[]): TaskCounts {
  const sum = { ...NO_TASKS };
  for (const counts of all) for (const status of TASK_STATUSES) sum[status] += counts[status] ?? 0;
  return sum;
}

/** `counts` of a graph that has ended. */
export const endedCounts = <Counts extends SomeCounts>(counts: Counts): Counts =>
  counts.waiting ? { ...counts, waiting: 0, not_reached: (counts.not_reached ?? 0) + counts.waiting } : counts;

const sumOf = (counts: SomeCounts, statuses: readonly TaskStatus[]): number =>
  statuses.reduce((sum, status) => sum + (counts[status] ?? 0), 0);

/** Tasks that ran to an end: the n of progress. */
export const doneOf = (counts: SomeCounts): number => sumOf(counts, DONE_STATUSES);

/** Tasks with work: the m of progress. Planned and operators' skips are not among them. */
export const workOf = (counts: SomeCounts): number => sumOf(counts, WORK_STATUSES);

/** How much of the work is done, in percent. */
export function percentOf(counts: SomeCounts): number {
  const work = workOf(counts);
  return work === 0 ? 100 : Math.floor((100 * doneOf(counts)) / work);
}

/** All tasks, and those that have settled, run or not. */
export const allOf = (counts: SomeCounts): number => sumOf(counts, TASK_STATUSES);
export const settledOf = (counts: SomeCounts): number =>
  allOf(counts) - sumOf(counts, ['waiting', 'running', 'retrying']);
