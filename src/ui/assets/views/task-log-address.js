// The task whose log is shown, in the address of the page.

/** Names of both may contain any character, so that each has its own parameter. */
export const logOf = ({ task, node }) => ({ log: task, log_node: node });

export const NO_LOG = { log: '', log_node: '' };

/** Null if none is. */
export function shownLog(query) {
  const [task, node] = [query.get('log'), query.get('log_node')];
  return task === null || node === null ? null : { task, node };
}

/** The link to the log of a task: `LogLink` marks it so, and the closed log gives the focus back to it. */
export const linkOf = ({ task, node }) =>
  document.querySelector(`[data-log="${CSS.escape(task)}"][data-log-node="${CSS.escape(node)}"]`);
