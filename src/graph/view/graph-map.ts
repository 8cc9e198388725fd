import type { ListedGraph } from './list-graph.ts';

/** How tasks are put into groups. */
export type Grouping = 'none' | 'stage' | 'tag';

/** A task, or the tasks of a closed group. */
interface MapBox {
  readonly name: string;
  readonly isGroup: boolean;
  /** The open group around it. */
  readonly parent: string | undefined;
  readonly tasks: string[];
  /** In pixels. */
  readonly width: number;
  readonly height: number;
}

/** Between two boxes, by their places in the list. */
interface MapEdge {
  readonly from: number;
  readonly to: number;
  /** All of it is between nodes. */
  readonly cross: boolean;
}

/** A graph for people to walk in: tasks in groups, each closed to one box or open. */
export interface GraphMap {
  readonly by: Grouping;
  /** The groupings to choose from. */
  readonly groupings: readonly Grouping[];
  readonly boxes: readonly MapBox[];
  /** One between two boxes, however many tasks it joins. */
  readonly edges: readonly MapEdge[];
  /** The open groups. */
  readonly frames: readonly string[];
}

export interface MapOptions {
  /** Default: none for few tasks, else by stage where there are stages. */
  readonly by?: Grouping;
  /** The groups that are open; `*`: all. */
  readonly open?: readonly string[];
}

/** Above so many tasks they are shown in groups at first. */
const FEW = 40;
/** Without a stage behind it. */
const LAST = 'after the last stage';
const UNTAGGED = 'without a tag';

const HEIGHT = 42;
const widthOf = (text: string): number => Math.min(320, 34 + text.length * 7.4);

export function mapGraph(graph: ListedGraph, { by, open = [] }: MapOptions = {}): GraphMap {
  const hasStages = graph.tasks.some(({ type }) => type === 'stage');
  const chosen = by ?? (graph.tasks.length <= FEW ? 'none' : hasStages ? 'stage' : 'tag');
  const groups = groupsOf(graph, chosen);
  const isOpen = (group: string): boolean => open.includes('*') || open.includes(group);
  const boxes: Unsized[] = [];
  const boxOfGroup = new Map<string, number>();
  const boxOf = new Map<string, number>();
  const frames = new Set<string>();
  for (const { name } of graph.tasks) {
    const group = groups.get(name);
    if (group !== undefined && !isOpen(group)) {
      const at = boxOfGroup.get(group) ?? boxes.push({ name: group, isGroup: true, parent: undefined, tasks: [] }) - 1;
      boxOfGroup.set(group, at);
      boxOf.set(name, at);
      boxes[at]!.tasks.push(name);
    } else {
      if (group !== undefined) frames.add(group);
      boxOf.set(name, boxes.push({ name, isGroup: false, parent: group, tasks: [name] }) - 1);
    }
  }
  const groupings: readonly Grouping[] = hasStages ? ['none', 'stage', 'tag'] : ['none', 'tag'];
  return { by: chosen, groupings, boxes: boxes.map(sized), edges: joined(graph, boxOf), frames: [...frames] };
}

type Unsized = Omit<MapBox, 'width' | 'height'>;

const sized = (box: Unsized): MapBox => ({
  ...box,
  width: widthOf(box.isGroup ? `▸ ${box.name} (${box.tasks.length})` : box.name),
  height: HEIGHT,
});

function joined({ edges }: ListedGraph, boxOf: ReadonlyMap<string, number>): MapEdge[] {
  const found = new Map<string, MapEdge>();
  for (const [a, b, cross] of edges) {
    const [from, to] = [boxOf.get(a)!, boxOf.get(b)!];
    if (from === to) continue;
    const key = `${from} ${to}`;
    found.set(key, { from, to, cross: (found.get(key)?.cross ?? true) && cross });
  }
  return [...found.values()];
}

/** The group of each task, by name. */
function groupsOf({ tasks, edges }: ListedGraph, by: Grouping): ReadonlyMap<string, string> {
  if (by === 'none') return new Map();
  if (by === 'tag') return new Map(tasks.map(({ name, tags }) => [name, tags.join(', ') || UNTAGGED]));
  const stages = new Set(tasks.filter(({ type }) => type === 'stage').map(({ name }) => name));
  if (stages.size === 0) return new Map();
  const after = new Map<string, string[]>(tasks.map(({ name }) => [name, []]));
  for (const [from, to] of edges) after.get(from)?.push(to);
  return new Map(tasks.map(({ name }) => [name, stages.has(name) ? name : nextStage(name, after, stages)]));
}

/** The stage that a task comes before, with the fewest steps between. */
function nextStage(name: string, after: ReadonlyMap<string, readonly string[]>, stages: ReadonlySet<string>): string {
  const seen = new Set([name]);
  // Iteration over a set includes members added meanwhile: breadth first.
  for (const one of seen)
    for (const to of after.get(one) ?? []) {
      if (stages.has(to)) return to;
      seen.add(to);
    }
  return LAST;
}

/** Of a drawing on paper, in inches: what Graphviz takes for 72 pixels. */
const inches = (pixels: number): number => pixels / 72;

/** The map in the DOT language, for a layout: boxes are `b0` …, frames `cluster_0` …, edges have their place as `id`. */
export function mapDot({ boxes, edges, frames }: GraphMap): string {
  const box = ({ width, height }: MapBox, at: number) =>
    `b${at} [width=${inches(width).toFixed(3)}, height=${inches(height).toFixed(3)}];\n`;
  const inside = (frame: string | undefined) =>
    boxes.flatMap((one, at) => (one.parent === frame ? [box(one, at)] : [])).join('');
  const framed = frames.map((frame, at) => `subgraph cluster_${at} { label="x"; margin=10;\n${inside(frame)}}\n`);
  const arrows = edges.map(({ from, to }, at) => `b${from} -> b${to} [id=${at}];\n`);
  return [
    'digraph G {\nrankdir=LR; nodesep=0.2; ranksep=0.64;\n',
    'node [shape=box, fixedsize=true, label=""]; edge [arrowhead=none];\n',
    ...framed,
    inside(undefined),
    ...arrows,
    '}\n',
  ].join('');
}
