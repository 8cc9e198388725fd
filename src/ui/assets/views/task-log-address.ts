// The task whose log is shown, in the address of the page.
import type { TaskOnNode } from '../../../core/task-on-node.ts';

/** Names of both may contain any character, so that each has its own parameter. */
export const logOf = ({ task, node }: TaskOnNode) => ({ log: task, log_node: node });

export const NO_LOG = { log: '', log_node: '' };

/** Null if none is. */
export function shownLog(query: URLSearchParams): TaskOnNode | null {
  const [task, node] = [query.get('log'), query.get('log_node')];
  return task === null || node === null ? null : { task, node };
}

/** The link to the log of a task: `LogLink` marks it so, and the closed log gives the focus back to it. */
export const linkOf = ({ task, node }: TaskOnNode): HTMLElement | null =>
  document.querySelector(`[data-log="${CSS.escape(task)}"][data-log-node="${CSS.escape(node)}"]`);

/** So near its end a log goes on by itself; further up someone is reading. */
const NEAR_END = 40;
export const isNearEnd = (log: HTMLElement): boolean => log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END;
