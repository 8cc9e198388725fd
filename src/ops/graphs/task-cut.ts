import { onlyOrders } from '../../core/task-types/index.ts';
import { type DefinitionGraph, type GraphTask, reachable, taskGraph } from '../../graph/index.ts';
import { problem } from '../problem.ts';

/** Part of a graph of old tasks: those after one task and before another. */
export interface GraphCut {
  readonly start?: string;
  readonly end?: string;
  /** Task types to keep although they are outside. */
  readonly include?: readonly string[];
}

/**
 * The tasks from `start` to `end`, inclusive, in order. Only graphs of tasks before version 2.0.0 can be cut this way;
 * later ones are also ordered between nodes. @throws `invalid`
 */
export function cutTasks<T extends { readonly id: string }>(tasks: readonly T[], cut: GraphCut = {}): readonly T[] {
  const { start, end, include = [] } = cut;
  if (start === undefined && end === undefined) return tasks;
  const given = tasks as unknown as readonly GraphTask[];
  if (given.some(({ type, version }) => !onlyOrders(type) && major(version) >= 2)) {
    throw problem('invalid', 'Both "start" and "end" parameters are not allowed for task-based deployment.', {
      hint: 'Name the tasks with tasks=, or use subgraphs when executing.',
    });
  }
  const graph = taskGraph(given);
  const after = start === undefined ? undefined : reached(graph, start, 'outbound');
  const before = end === undefined ? undefined : reached(graph, end, 'inbound');
  return tasks.filter((task) => {
    if (include.includes(String((task as unknown as GraphTask).type))) return true;
    return (after?.has(task.id) ?? true) && (before?.has(task.id) ?? true);
  });
}

function reached(graph: DefinitionGraph, from: string, direction: 'inbound' | 'outbound'): ReadonlySet<string> {
  if (!graph.hasNode(from) || graph.getNodeAttribute(from, 'task') === undefined) {
    throw problem('invalid', `Cannot find task ${from} by its name.`, { hint: 'Correct the name.' });
  }
  return reachable(graph, from, direction);
}

const major = (version: unknown): number => Number.parseInt(String(version ?? '0'), 10);
