import { Traced } from './traced.ts';

/** One step of a path: a key, an index, all members of a mapping (`*`), or all items of a list (`[*]`). */
export type PathStep = string | number | typeof MEMBERS | typeof ITEMS;

const MEMBERS = Symbol('*');
const ITEMS = Symbol('[*]');

/** Longer paths are refused: no document is nested so deep. */
const MAX_STEPS = 100;

const TOKEN = /\.?(?:\[(?:(-?\d{1,9}|\*)|'([^']*)'|"([^"]*)")\]|'([^']*)'|"([^"]*)"|(\*)|([^\s.[\]'"*$()?,|&]+))/y;

/**
 * Reads the paths of Deckhand's documents: the part of JSONPath that names places (`.a.b[0].'x.y'`, `$.a`, `.a[*].b`, `.m.*`).
 * A leading point or `$` is optional. @returns undefined for any other text
 */
export function readPath(text: string): readonly PathStep[] | undefined {
  const start = text.startsWith('$') ? 1 : 0;
  if (text.slice(start) === '.' || text.length === start) return [];
  const steps: PathStep[] = [];
  TOKEN.lastIndex = start;
  for (let at = start; at < text.length; at = TOKEN.lastIndex) {
    // A key follows the one before it after a point only.
    if (at > start && text[at] !== '.' && text[at] !== '[') return undefined;
    const token = TOKEN.exec(text);
    if (token === null || steps.length >= MAX_STEPS) return undefined;
    const [, index, inSingle, inDouble, single, double, star, word] = token;
    if (index === '*') steps.push(ITEMS);
    else if (index !== undefined) steps.push(Number(index));
    else if (star !== undefined) steps.push(MEMBERS);
    else steps.push(inSingle ?? inDouble ?? single ?? double ?? word ?? '');
  }
  return steps;
}

/** All values at a path, in the order of the document. */
export function findAll(root: Traced, path: readonly PathStep[]): readonly Traced[] {
  let found: readonly Traced[] = [root];
  for (const step of path) {
    if (found.length === 0) break;
    found = found.flatMap((node) => childrenAt(node, step));
  }
  return found;
}

function childrenAt(node: Traced, step: PathStep): readonly Traced[] {
  if (step === MEMBERS) return [...(node.entries()?.values() ?? [])];
  // As the reference does: a value that is no list is taken for a list of it.
  if (step === ITEMS) return node.items() ?? (node.value === null ? [] : [node]);
  const one = typeof step === 'number' ? node.items()?.at(step) : node.entries()?.get(String(step));
  return one === undefined ? [] : [one];
}

/** The same with each value at the path changed; a change to undefined removes the value. */
export function changeAll(
  root: Traced,
  path: readonly PathStep[],
  change: (found: Traced) => Traced | undefined,
): Traced | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return change(root);
  const inner = (node: Traced): Traced | undefined => changeAll(node, rest, change);
  if (step === MEMBERS || typeof step === 'string') {
    const entries = root.entries();
    if (!entries) return root;
    const keys = step === MEMBERS ? [...entries.keys()] : entries.has(String(step)) ? [String(step)] : [];
    return root.withEntries(keys.map((key) => [key, inner(entries.get(key)!)]));
  }
  const items = root.items();
  if (!items) return root;
  const at = typeof step === 'number' ? (step < 0 ? items.length + step : step) : undefined;
  return root.withItems(
    items.flatMap((item, index) => (at === undefined || index === at ? (inner(item) ?? []) : item)),
  );
}

/** More items than this are not made for an index. */
const MAX_INDEX = 10_000;

/**
 * The same with a value at a path that is not there yet: missing mappings are made, and lists filled up with empty
 * mappings. @returns undefined where something else is in the way
 */
export function createAt(root: Traced, path: readonly PathStep[], value: Traced): Traced | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  const { from } = value;
  const next = (present: Traced | undefined): Traced | undefined => {
    if (rest.length === 0) return value;
    const empty = typeof rest[0] === 'number' ? Traced.list([], from) : Traced.mapping([], from);
    return createAt(present ?? empty, rest, value);
  };
  if (typeof step === 'string') {
    const entries = root.entries();
    const made = entries && next(entries.get(step));
    return made && root.withEntries([[step, made]]);
  }
  const items = root.items();
  if (!items || typeof step !== 'number' || step < 0 || step > MAX_INDEX) return undefined;
  const filled = [...items];
  while (filled.length <= step) filled.push(Traced.mapping([], from));
  const made = next(filled[step]);
  if (made === undefined) return undefined;
  filled[step] = made;
  return root.withItems(filled);
}
