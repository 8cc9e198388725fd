import type { Run } from '../../core/contracts/runs.ts';
import { showTasks } from '../../core/next-steps.ts';
import { numberOf } from '../../core/run/subject.ts';
import { readingsOf, type TaskOnNode } from '../../core/task-on-node.ts';
import type { ApiClient } from '../shell/client.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { CliError, usageError } from '../shell/problem.ts';

/**
 * The task that a person means by `TASK@NODE`. Names of tasks and nodes may contain `@`: with more than one, the tasks
 * and nodes of the run decide. A text that means two tasks is refused.
 *
 * @param findRun called only if the text alone does not decide
 */
export async function findTask(
  client: ApiClient,
  findRun: () => Promise<Pick<Run, 'id' | 'number'>>,
  text: string,
): Promise<TaskOnNode> {
  const readings = readingsOf(text);
  const [first] = readings;
  if (first === undefined) throw usageError(`'${text}' is not a task on a node`, 'Write TASK@NODE.');
  if (readings.length === 1) return first;
  const run = await findRun();
  const { id } = run;
  const { graphs, node_names } = await client.call('GET /runs/:run/counts', { params: { run: id } });
  const tasks = new Set(graphs.flatMap((graph) => Object.keys(graph.tasks)));
  const nodes = new Set([...Object.values(node_names), ...graphs.flatMap((graph) => Object.keys(graph.nodes))]);
  const named = readings.filter(({ task }) => tasks.has(task));
  const exact = named.filter(({ node }) => nodes.has(node));
  // The run may know the node by another of its names.
  const meant = exact.length > 0 ? exact : named;
  const [only] = meant;
  if (only !== undefined && meant.length === 1) return only;
  const message =
    only === undefined
      ? `run ${numberOf(run)} has no task ${text}`
      : `'${text}' means ${meant.length} tasks of run ${numberOf(run)}: ${meant.map(({ task, node }) => `'${task}' on '${node}'`).join(', ')}`;
  throw new CliError(
    {
      code: only === undefined ? 'not-found' : 'ambiguous-task',
      message,
      hint:
        only === undefined
          ? `'${showTasks(numberOf(run))}' lists its tasks.`
          : 'Use the page of the run: it lists them.',
    },
    only === undefined ? EXIT.notFound : EXIT.invalid,
  );
}
