// A graph of tasks in groups: by stage or by tag, each closed to one box or open.
import type { Answer } from './api.ts';
import { type Counts, sum } from './words.ts';

/** Tasks of a graph in their order. */
export type Shape = Answer<'GET /runs/:run/graph'>;

/** A task, or the tasks of a closed group. */
export interface Box {
  readonly key: string;
  readonly isGroup: boolean;
  readonly name: string;
  /** The open group around it. */
  readonly parent: string | undefined;
  readonly tasks: string[];
}

/** Between two boxes, however many tasks it joins. */
export interface Edge {
  readonly from: string;
  readonly to: string;
  /** All of it is between nodes. */
  readonly cross: boolean;
}

/** Without a stage behind it. */
const LAST = 'after the last stage';
const UNTAGGED = 'without a tag';

/** The group of each task, by name. */
export function groupsOf({ tasks, edges }: Shape, by: string): Map<string, string> {
  if (by === 'tag') return new Map(tasks.map(({ name, tags }) => [name, tags.join(', ') || UNTAGGED]));
  const stages = new Set(tasks.filter(({ type }) => type === 'stage').map(({ name }) => name));
  if (by !== 'stage' || stages.size === 0) return new Map();
  const after = new Map<string, string[]>(tasks.map(({ name }) => [name, []]));
  for (const [from, to] of edges) after.get(from)?.push(to);
  return new Map(tasks.map(({ name }) => [name, stages.has(name) ? name : nextStage(name, after, stages)]));
}

/** The stage that a task comes before, with the fewest steps between. */
function nextStage(name: string, after: ReadonlyMap<string, readonly string[]>, stages: ReadonlySet<string>): string {
  const seen = new Set([name]);
  let front = [name];
  while (front.length > 0) {
    const next: string[] = [];
    for (const one of front)
      for (const to of after.get(one) ?? []) {
        if (stages.has(to)) return to;
        if (!seen.has(to)) {
          seen.add(to);
          next.push(to);
        }
      }
    front = next;
  }
  return LAST;
}

/** The drawing: boxes of tasks and of closed groups, and one edge between two of them. */
export function boxesOf(
  { tasks, edges }: Shape,
  groups: ReadonlyMap<string, string>,
  open: ReadonlySet<string>,
): { readonly boxes: readonly Box[]; readonly edges: readonly Edge[] } {
  const closedGroupOf = (task: string): string | undefined => {
    const group = groups.get(task);
    return group === undefined || open.has(group) ? undefined : group;
  };
  const boxes = new Map<string, Box>();
  const boxOf = new Map<string, Box>();
  for (const { name } of tasks) {
    const group = closedGroupOf(name);
    const isGroup = group !== undefined;
    const key = isGroup ? `group:${group}` : `task:${name}`;
    const box = boxes.get(key) ?? {
      key,
      isGroup,
      name: group ?? name,
      parent: isGroup ? undefined : groups.get(name),
      tasks: [],
    };
    box.tasks.push(name);
    boxes.set(key, box);
    boxOf.set(name, box);
  }
  const joined = new Map<string, Edge>();
  for (const [from, to, cross] of edges) {
    const [a, b] = [boxOf.get(from), boxOf.get(to)];
    if (a === undefined || b === undefined || a === b) continue;
    const key = `${a.key}\n${b.key}`;
    const before = joined.get(key);
    joined.set(key, { from: a.key, to: b.key, cross: (before?.cross ?? true) && cross });
  }
  return { boxes: [...boxes.values()], edges: [...joined.values()] };
}

/** Counts of several tasks in one. */
export function summed(tasks: readonly string[], counts: ReadonlyMap<string, Counts>): Counts | undefined {
  const all = totalOf(tasks.map((task) => counts.get(task) ?? {}));
  return sum(all) === 0 ? undefined : all;
}

/** Several counts in one. */
export function totalOf(several: readonly Counts[]): Counts {
  const all: { -readonly [Status in keyof Counts]: Counts[Status] } = {};
  for (const counts of several)
    for (const [status, n] of Object.entries(counts) as [keyof Counts, number][]) all[status] = (all[status] ?? 0) + n;
  return all;
}
