import { DRAWN_FIELDS, type DrawOptions, drawGraph, GraphProblemError, type GraphTask } from '../../graph/index.ts';
import { problem } from '../problem.ts';

export interface GraphDrawing {
  readonly tasks: readonly GraphTask[];
  readonly options: DrawOptions;
}

/** The data for drawing a graph, without parameters of tasks. */
export const drawingOf = (tasks: readonly object[], options: DrawOptions = {}): GraphDrawing => ({
  // Their types are read anew where they are drawn.
  tasks: (tasks as readonly GraphTask[]).map(
    (task) => Object.fromEntries(DRAWN_FIELDS.map((field) => [field, task[field]])) as unknown as GraphTask,
  ),
  options,
});

/** In the language of the options. @throws ProblemError `invalid` for an unknown task or type */
export function draw({ tasks, options }: GraphDrawing): string {
  try {
    return drawGraph(tasks, options);
  } catch (error) {
    if (!(error instanceof GraphProblemError)) throw error;
    throw problem('invalid', error.message, { hint: error.hint ?? 'Correct the request.' });
  }
}
