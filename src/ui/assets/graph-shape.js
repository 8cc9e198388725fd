// A graph of tasks in groups: by stage or by tag, each closed to one box or open.
import { sum } from './words.js';

/** Without a stage behind it. */
const LAST = 'after the last stage';
const UNTAGGED = 'without a tag';

/** The group of each task, by name. `tasks`: `{name, type, tags}`; `edges`: `[from, to]`. */
export function groupsOf({ tasks, edges }, by) {
  if (by === 'tag') return new Map(tasks.map(({ name, tags }) => [name, tags.join(', ') || UNTAGGED]));
  if (by !== 'stage') return new Map();
  const after = new Map(tasks.map(({ name }) => [name, []]));
  for (const [from, to] of edges) after.get(from)?.push(to);
  const stages = new Set(tasks.filter(({ type }) => type === 'stage').map(({ name }) => name));
  const distances = [...stages].map((stage) => [stage, after.get(stage).length]);
  const found = new Map();
  for (const { name } of tasks) found.set(name, stages.has(name) ? name : nextStage(name, after, stages));
  return distances.length === 0 ? new Map() : found;
}

/** The stage that a task comes before, with the fewest steps between. */
function nextStage(name, after, stages) {
  const seen = new Set([name]);
  let front = [name];
  while (front.length > 0) {
    const next = [];
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

/** The drawing: boxes of tasks and of closed groups, and one edge between two of them however many tasks it joins. */
export function boxesOf({ tasks, edges }, groups, open) {
  const boxOf = (name) => {
    const group = groups.get(name);
    return group === undefined || open.has(group) ? `task:${name}` : `group:${group}`;
  };
  const boxes = new Map();
  for (const { name } of tasks) {
    const key = boxOf(name);
    const group = groups.get(name);
    const box = boxes.get(key) ?? {
      key,
      isGroup: key.startsWith('group:'),
      name: key.slice(key.indexOf(':') + 1),
      parent: key.startsWith('task:') ? group : undefined,
      tasks: [],
    };
    box.tasks.push(name);
    boxes.set(key, box);
  }
  const joined = new Map();
  for (const [from, to, cross] of edges) {
    const [a, b] = [boxOf(from), boxOf(to)];
    if (a === b) continue;
    const key = `${a}\n${b}`;
    const one = joined.get(key) ?? { from: a, to: b, n: 0, cross: true };
    joined.set(key, { ...one, n: one.n + 1, cross: one.cross && cross === true });
  }
  return { boxes: [...boxes.values()], edges: [...joined.values()] };
}

/** Counts of several tasks in one. `counts`: by task. */
export function summed(tasks, counts) {
  const all = {};
  for (const task of tasks)
    for (const [status, n] of Object.entries(counts.get(task) ?? {})) all[status] = (all[status] ?? 0) + n;
  return sum(all) === 0 ? undefined : all;
}
