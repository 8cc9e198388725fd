import type { graphSchema, taskSchema } from '../../../core/contracts/fuel/graphs.ts';
import type { Wire } from '../../../core/contracts/wire.ts';
import { type Fields, type GraphTask, presentTask } from '../../../graph/index.ts';
import type { UploadedGraph } from '../../../ops/index.ts';
import type { StoredGraph } from '../../../store/index.ts';

type GraphAnswer = Wire<typeof graphSchema>;

type TaskAnswer = Wire<typeof taskSchema>;

/** A task as graphs show it: with both spellings of the fields that have two. */
export const viewTask = (task: object): TaskAnswer => presentTask(task as GraphTask) as TaskAnswer;

/** A graph as the API shows it, without fields that were never set. */
export function viewGraph(graph: StoredGraph): GraphAnswer {
  const { id, name, nodeFilter, onSuccess, onError, onStop, owner, type } = graph;
  return {
    id,
    name,
    ...(nodeFilter === null ? {} : { node_filter: nodeFilter }),
    ...callback('on_success', onSuccess),
    ...callback('on_error', onError),
    ...callback('on_stop', onStop),
    tasks: graph.tasks.map(viewTask),
    relations: [{ model: owner.kind, model_id: owner.id, type }],
  };
}

/** The same after an upload, with possible mistakes. */
export const viewUploaded = ({ graph, warnings }: UploadedGraph): GraphAnswer => ({
  ...viewGraph(graph),
  ...(warnings.length === 0 ? {} : { warnings }),
});

const callback = (name: 'on_success' | 'on_error' | 'on_stop', value: unknown): object =>
  value === null || value === undefined ? {} : { [name]: value as Fields };
