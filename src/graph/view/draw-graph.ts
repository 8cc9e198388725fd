import { onlyOrders } from '../../core/task-types/index.ts';
import { GraphProblemError } from '../problem.ts';
import type { GraphTask } from '../tasks/task.ts';
import { type DefinitionGraph, taskGraph } from '../tasks/task-graph.ts';

export interface DrawOptions {
  readonly format?: 'dot' | 'mermaid';
  /** Tasks that would run; the others are drawn as skipped. Default: all. */
  readonly tasks?: readonly string[];
  /** Draw only this task and its direct predecessors. */
  readonly parentsFor?: string;
  /** Types to leave out: group, stage, skipped. */
  readonly remove?: readonly string[];
  /** In the DOT language: nodes of an SVG have the kind of their task as a class. Default: no. */
  readonly classes?: boolean;
  /** Draw dependencies between nodes, dashed. Default: yes. */
  readonly cross?: boolean;
}

/** The parts of a task that a drawing shows. */
export const DRAWN_FIELDS = [
  'id',
  'type',
  'requires',
  'required_for',
  'stage',
  'groups',
  'tasks',
  'cross_depends',
  'cross_depended_by',
] as const;

/** Throws GraphProblemError for an unknown task or type. */
export function drawGraph(tasks: readonly GraphTask[], options: DrawOptions = {}): string {
  const graph = taskGraph(tasks, { cross: options.cross ?? true });
  const unknown = (options.tasks ?? []).filter((name) => !tasks.some(({ id }) => id === name));
  if (unknown.length > 0) {
    throw new GraphProblemError(
      'graph.unknown-selection',
      `Tasks ${unknown.join(', ')} are not present in deployment graph`,
      'Correct the names.',
    );
  }
  const wrong = (options.remove ?? []).filter((type) => !onlyOrders(type));
  if (wrong.length > 0) {
    throw new GraphProblemError(
      'graph.unknown-type',
      `Task types ${wrong.join(', ')} do not exist`,
      'Only group, stage and skipped can be left out.',
    );
  }
  if (options.parentsFor !== undefined) keepParents(graph, options.parentsFor);
  const removed = new Set(options.remove);
  for (const name of graph.nodes()) {
    if (removed.has(graph.getNodeAttribute(name, 'task')?.type as string)) graph.dropNode(name);
  }
  const selected = options.tasks === undefined || options.tasks.length === 0 ? undefined : new Set(options.tasks);
  const looks = new Map(graph.nodes().map((name) => [name, lookOf(name, graph, selected)]));
  return options.format === 'mermaid' ? mermaid(graph, looks) : dot(graph, looks, options.classes === true);
}

function keepParents(graph: DefinitionGraph, task: string): void {
  if (!graph.hasNode(task))
    throw new GraphProblemError('graph.unknown-selection', `Task ${task} is not present in graph`, 'Correct the name.');
  const kept = new Set([task, ...graph.inNeighbors(task)]);
  for (const name of graph.nodes()) if (!kept.has(name)) graph.dropNode(name);
}

type Look = 'task' | 'group' | 'stage' | 'skipped';

const DOT_LOOKS: Readonly<Record<Look, string>> = {
  task: 'color=yellowgreen, style=filled',
  group: 'color=lightskyblue, shape=box, style="filled, rounded"',
  stage: 'color=red, shape=rect, style=filled',
  skipped: 'color=gray95',
};

function lookOf(name: string, graph: DefinitionGraph, selected: ReadonlySet<string> | undefined): Look {
  const type = graph.getNodeAttribute(name, 'task')?.type;
  if (type === 'group' || type === 'stage') return type;
  return type === 'skipped' || (selected !== undefined && !selected.has(name)) ? 'skipped' : 'task';
}

function dot(graph: DefinitionGraph, looks: ReadonlyMap<string, Look>, hasClasses: boolean): string {
  const strict = graph.selfLoopCount === 0 ? 'strict ' : '';
  const nodes = [...looks].map(
    ([name, look]) => `${dotId(name)} [${DOT_LOOKS[look]}${hasClasses ? `, class=${look}` : ''}];\n`,
  );
  const edges = edgesOf(graph).map(
    ({ from, to, cross }) => `${dotId(from)} -> ${dotId(to)}${cross ? ' [style=dashed]' : ''};\n`,
  );
  return `${strict}digraph G {\n${nodes.join('')}${edges.join('')}}\n`;
}

const KEYWORDS: ReadonlySet<string> = new Set(['node', 'edge', 'graph', 'digraph', 'subgraph', 'strict']);

/** A name in DOT syntax: in quotes unless it is a plain word. */
export function dotId(name: string): string {
  if (/^[A-Za-z_]\w*$/.test(name) && !KEYWORDS.has(name.toLowerCase())) return name;
  return `"${name.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')}"`;
}

function mermaid(graph: DefinitionGraph, looks: ReadonlyMap<string, Look>): string {
  const ids = new Map([...looks.keys()].map((name, at) => [name, `t${at}`]));
  const nodes = [...looks].map(([name, look]) => `  ${ids.get(name)}["${name.replace(/"/g, '#quot;')}"]:::${look}\n`);
  const edges = edgesOf(graph).map(
    ({ from, to, cross }) => `  ${ids.get(from)} ${cross ? '-.->' : '-->'} ${ids.get(to)}\n`,
  );
  const classes = [
    '  classDef task fill:#9acd32\n',
    '  classDef group fill:#87cefa\n',
    '  classDef stage fill:#ff6347\n',
    '  classDef skipped fill:#f2f2f2\n',
  ];
  return `flowchart TD\n${nodes.join('')}${edges.join('')}${classes.join('')}`;
}

/** Edges by source, in the order of the tasks. */
function edgesOf(graph: DefinitionGraph): { from: string; to: string; cross: boolean }[] {
  return graph
    .nodes()
    .flatMap((from) =>
      graph
        .outEdges(from)
        .map((edge) => ({ from, to: graph.target(edge), cross: graph.getEdgeAttribute(edge, 'kind') === 'cross' })),
    );
}
