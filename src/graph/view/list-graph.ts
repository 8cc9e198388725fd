import { isRegex } from '../tasks/name-pattern.ts';
import type { GraphTask } from '../tasks/task.ts';
import { taskGraph } from '../tasks/task-graph.ts';

/** A graph of definitions as plain data: its tasks, and their order. */
export interface ListedGraph {
  /** `tags`: roles and tags that place the task. */
  readonly tasks: { readonly name: string; readonly type: string; readonly tags: string[] }[];
  /** True: between nodes. */
  readonly edges: [from: string, to: string, cross: boolean][];
}

/** Undefined names that tasks depend on are left out. */
export function listGraph(tasks: readonly GraphTask[]): ListedGraph {
  const graph = taskGraph(tasks, { cross: true });
  const known = new Set(tasks.map(({ id }) => id));
  return {
    tasks: tasks.map((task) => ({ name: task.id, type: String(task.type), tags: placesOf(task) })),
    edges: graph
      .edges()
      .map((edge): [string, string, boolean] => [
        graph.source(edge),
        graph.target(edge),
        graph.getEdgeAttribute(edge, 'kind') === 'cross',
      ])
      .filter(([from, to]) => known.has(from) && known.has(to)),
  };
}

const placesOf = ({ roles, role, tags }: GraphTask): string[] => {
  const names = [tags, roles, role].flat().filter((one): one is string => typeof one === 'string');
  return [...new Set(names.map((name) => (isRegex(name) ? 'all nodes' : name)))].sort();
};
