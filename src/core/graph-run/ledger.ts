import type { FailedTask } from '../contracts/graph-run.ts';
import { given } from '../data/given.ts';
import type { SchedulerCommand } from '../scheduler/events.ts';
import { pairOf, type SchedulerGraph } from '../scheduler/graph.ts';
import { taskReports } from '../scheduler/report.ts';
import type { Scheduler } from '../scheduler/state.ts';
import type { TaskOnNode } from '../task-on-node.ts';
import { utf8Length } from '../text/text.ts';
import type { TaskStatus } from '../words.ts';
import type { PartStatus } from './part-status.ts';
import { NO_TASKS, type TaskCounts } from './task-counts.ts';
import { failureText, REASON_LENGTH, type TaskEnd, type TaskRow } from './task-end.ts';

/** Size limit of a record: half of a payload's limit (docs/explain/design.md#limits). */
const RECORD_BYTES = 100_000;
const ROWS_A_RECORD = 500;

/**
 * The state of the tasks of one part, collected from the scheduler's commands: history rows to write, counts, and why
 * tasks failed. Owned by one driver and changed in place. Tasks are numbers of the part's graph. The cost of a call does not depend on the size of the part.
 */
export class Ledger {
  readonly #graph: SchedulerGraph;
  readonly #counts: Record<TaskStatus, number>;
  /** By task: its newest row. */
  readonly #rows = new Map<number, TaskRow>();
  /** By attempt and task, in order of their first change. */
  readonly #unwritten = new Map<number, TaskRow>();
  /** By node: tasks that make it a failing one. */
  readonly #failing = new Map<string, number>();
  readonly #failed = new Set<number>();
  readonly #running = new Set<number>();
  readonly #silent = new Map<string, number>();

  /**
   * Tasks without work are skipped from the start, and have the rows of the plan.
   *
   * @param known rows that are already written, by number of the task
   */
  constructor(graph: SchedulerGraph, known: ReadonlyMap<number, TaskRow> = new Map()) {
    this.#graph = graph;
    const skipped = graph.noWork.reduce((sum, none) => sum + none, 0);
    this.#counts = { ...NO_TASKS, waiting: graph.nameOf.length - skipped, skipped };
    for (const [at, row] of known) this.#put(at, row);
    this.#unwritten.clear();
  }

  /** A live view of the current counts. */
  get counts(): TaskCounts {
    return this.#counts;
  }

  /** Number of rows that wait to be written. */
  get pending(): number {
    return this.#unwritten.size;
  }

  /** Number of nodes on which a task failed, or whose agents did not answer. */
  get failing(): number {
    return this.#failing.size;
  }

  /** Records a scheduler command; `now` in milliseconds. Ignores commands that are not about a task. */
  note(command: SchedulerCommand, now: number): void {
    if (command.type !== 'start' && command.type !== 'retrying' && command.type !== 'settled') {
      if (command.type !== 'reopened') return;
    }
    const number = command.task;
    const before = this.#rows.get(number) ?? { ...pairOf(this.#graph, number), status: 'waiting' as const, attempt: 0 };
    const { task, node, attempt } = before;
    const at = new Date(now).toISOString();
    switch (command.type) {
      case 'start':
        this.#put(number, { task, node, status: 'running', attempt: command.attempt, started_at: at });
        return;
      case 'retrying':
        this.#put(number, { ...before, status: 'retrying', ended_at: at });
        return;
      case 'settled': {
        const cause = given({ root_cause: command.cause });
        this.#put(number, { ...before, ...cause, status: command.status, ended_at: before.ended_at ?? at });
        return;
      }
      case 'reopened':
        this.#put(number, { task, node, status: 'waiting', attempt });
        return;
    }
  }

  /** Records how a task's newest attempt ended. Call it before the scheduler receives the event. */
  ended(task: number, end: TaskEnd): void {
    const row = this.#rows.get(task);
    if (row === undefined) return;
    const message = end.message?.slice(0, REASON_LENGTH);
    this.#rows.set(task, { ...row, end: message === undefined ? end : { ...end, message } });
  }

  /** Records whether a task waits for a node whose agent does not answer. */
  silent(node: string, is: boolean): void {
    addTo(this.#silent, node, is ? 1 : -1);
  }

  /** Nodes that tasks wait for now; at most ten. */
  silentNodes(): string[] {
    return first(this.#silent.keys(), 10);
  }

  /** Takes the next rows to write, up to the limit of a payload. */
  takeRows(): TaskRow[] {
    const taken: TaskRow[] = [];
    let bytes = 0;
    for (const [key, row] of this.#unwritten) {
      bytes += utf8Length(JSON.stringify(row)) + 1;
      if (taken.length > 0 && (bytes > RECORD_BYTES || taken.length === ROWS_A_RECORD)) break;
      taken.push(row);
      this.#unwritten.delete(key);
    }
    return taken;
  }

  status(): PartStatus {
    return {
      counts: { ...this.#counts },
      running: first(this.#running, 10).map((task): TaskOnNode => pairOf(this.#graph, task)),
      failed: this.failed(20),
      failing_nodes: this.#failing.size,
      silent: this.silentNodes(),
    };
  }

  /** How many of the failed tasks were lost: whether they succeeded is unknown. */
  lost(): number {
    return [...this.#failed].filter((at) => this.#rows.get(at)?.end?.outcome === 'lost').length;
  }

  /** Rows of unfinished tasks for `restoreLedger`. Call it after all rows are written. */
  keep(): KeptRows {
    return [...this.#rows].filter(([, { status }]) => KEPT.has(status));
  }

  /** Failed tasks with reasons, at most `most`. */
  failed(most: number): FailedTask[] {
    return first(this.#failed, most).map((at) => {
      const { task, node, attempt, end } = this.#rows.get(at)!;
      return { task, node, attempts: attempt, reason: end === undefined ? 'it failed' : failureText(end) };
    });
  }

  #put(at: number, row: TaskRow): void {
    if (this.#graph.noWork[at] === 1) return;
    const old = this.#rows.get(at);
    this.#counts[old?.status ?? 'waiting']--;
    this.#counts[row.status]++;
    addTo(this.#failing, row.node, Number(isFailing(row)) - Number(old !== undefined && isFailing(old)));
    member(this.#failed, at, row.status === 'failed');
    member(this.#running, at, row.status === 'running');
    this.#rows.set(at, row);
    this.#unwritten.set(row.attempt * this.#graph.nameOf.length + at, row);
  }
}

/** By number of the task in the part: the newest rows of tasks that failed, run, or wait for a retry. */
export type KeptRows = readonly (readonly [number, TaskRow])[];

/** Restores the ledger of a continued part from the saved rows and the scheduler. */
export function restoreLedger(scheduler: Scheduler, kept: KeptRows): Ledger {
  const rows = new Map<number, TaskRow>();
  taskReports(scheduler).forEach(({ task, node, status, attempts, cause }, at) => {
    if (attempts === 0 && status === 'waiting') return;
    rows.set(at, {
      task,
      node,
      status,
      attempt: attempts,
      ...given({ root_cause: cause }),
    });
  });
  for (const [at, row] of kept) rows.set(at, row);
  return new Ledger(scheduler.graph, rows);
}

const KEPT: ReadonlySet<string> = new Set<TaskRow['status']>(['failed', 'running', 'retrying']);

/** Blocked by its own node, whose agent did not answer; not by a failure elsewhere. */
const isOfflineItself = ({ status, root_cause, node }: TaskRow): boolean =>
  status === 'blocked' && root_cause?.task === null && root_cause.node === node;

const isFailing = (row: TaskRow): boolean => row.status === 'failed' || isOfflineItself(row);

function addTo(map: Map<string, number>, key: string, change: number): void {
  if (change === 0) return;
  const sum = (map.get(key) ?? 0) + change;
  if (sum > 0) map.set(key, sum);
  else map.delete(key);
}

function member(set: Set<number>, task: number, is: boolean): void {
  if (is) set.add(task);
  else set.delete(task);
}

function first<T>(items: Iterable<T>, most: number): T[] {
  const taken: T[] = [];
  for (const item of items) {
    if (taken.length === most) break;
    taken.push(item);
  }
  return taken;
}
