/**
 * A task on a node. Programs exchange the pair. `TASK@NODE` is for people: names of tasks and nodes may contain `@`, so
 * that the text alone does not tell where the one ends and the other begins.
 */
export interface TaskOnNode {
  readonly task: string;
  readonly node: string;
}

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
