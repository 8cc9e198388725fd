/**
 * A task on a node. Programs exchange the pair. `TASK@NODE` is for people: names of tasks and nodes may contain `@`, so
 * that the text alone does not tell where the one ends and the other begins.
 */
export interface TaskOnNode {
  readonly task: string;
  readonly node: string;
}

/** Identifies one execution for all time. A logical retry (by an operator or the workflow) is a new generation. */
export interface ExecutionKey extends TaskOnNode {
  /** The graph and the run's execution: `graphRunName`. */
  readonly run: string;
  /** From 1. */
  readonly generation: number;
}

/**
 * Asks an agent for one attempt of a task. It does not contain the task's parameters: the agent fetches the signed order by
 * its key, so that neither histories nor a stolen credential reveal anything. A retry by Temporal has the same generation: it
 * follows, it never runs again.
 */
export interface RunTask extends ExecutionKey {
  readonly type: string;
  readonly mode: 'apply' | 'noop';
  readonly debug?: true;
  /** The answer has the end of what it wrote: of checks. */
  readonly output?: true;
  /** Hash of the order's plan. */
  readonly plan: string;
}

/** Only the key, of anything that has one. */
export const executionKey = ({ run, task, node, generation }: ExecutionKey): ExecutionKey => ({
  run,
  task,
  node,
  generation,
});

/** Why a task did not run: a failed task, or with `task: null` the unreachable agent of a node. */
export interface RootCause {
  readonly task: string | null;
  readonly node: string;
}

export const taskKey = (task: string, node: string): string => `${task}@${node}`;

export const taskText = ({ task, node }: TaskOnNode): string => taskKey(task, node);

export const causeText = ({ task, node }: RootCause): string =>
  task === null ? `offline:${node}` : taskText({ task, node });

export const isSameTask = (a: RootCause, b: RootCause): boolean => a.task === b.task && a.node === b.node;

/** Every pair that a person may mean by `TASK@NODE`: the known tasks of the run tell which one it is. */
export function readingsOf(text: string): TaskOnNode[] {
  const readings: TaskOnNode[] = [];
  for (let at = text.indexOf('@', 1); at >= 0 && at < text.length - 1; at = text.indexOf('@', at + 1))
    readings.push({ task: text.slice(0, at), node: text.slice(at + 1) });
  return readings;
}

/** How much longer than the time limit of a task, which its node enforces, its run waits for the report of its end. */
export const TASK_MARGIN_SECONDS = 120;
