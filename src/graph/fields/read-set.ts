import type { Argument, Node } from '@sitewright/yaql';

/**
 * The top-level keys of `$` an expression can read, found without running it. Two nodes on which these keys are
 * equal give the same value, so one evaluation is enough. Null: it may read anything.
 */
export type ReadSet = readonly string[] | null;

/** Methods whose arguments see an item as `$`. */
const ITEM_METHODS: ReadonlySet<string> = new Set([
  'where',
  'select',
  'selectMany',
  'any',
  'all',
  'orderBy',
  'orderByDescending',
  'toDict',
  'takeWhile',
  'skipWhile',
  'indexWhere',
  'lastIndexWhere',
  'groupBy',
  'distinct',
]);

/** Functions whose arguments always see a whole state as `$`. */
const STATE_FUNCTIONS: ReadonlySet<string> = new Set([
  'new',
  'old',
  'changed',
  'changedAny',
  'changedAll',
  'added',
  'deleted',
]);

/** Functions with a different value at each call. */
const VARYING: ReadonlySet<string> = new Set(['random', 'randint', 'now']);

class Unbounded extends Error {}

export function readSetOf(tree: Node): ReadSet {
  const keys = new Set<string>();
  try {
    walk(tree, false, (key) => keys.add(key));
  } catch (error) {
    if (!(error instanceof Unbounded)) throw error;
    return null;
  }
  return [...keys].sort();
}

function walk(node: Argument, onItem: boolean, read: (key: string) => void): void {
  if (node === null) return;
  if (node.type === 'variable') {
    // Parts of `$node` are read by name; the whole of it may contain anything.
    if (node.name === '$node' || (isState(node) && !onItem)) throw new Unbounded();
    return;
  }
  const called = node.type === 'binary' ? node.right : node;
  if (called.type === 'call' && VARYING.has(called.name)) throw new Unbounded();
  const key = keyRead(node, onItem);
  if (key !== undefined) read(key);
  for (const [part, partOnItem] of partsOf(node, onItem, key !== undefined)) walk(part, partOnItem, read);
}

/** The children of a node, and whether `$` means an item there. `direct`: its receiver has been handled. */
export function partsOf(node: Node, onItem: boolean, direct = false): (readonly [Argument, boolean])[] {
  const all = (args: readonly Argument[], item = onItem) => args.map((arg) => [arg, item] as const);
  switch (node.type) {
    case 'constant':
    case 'variable':
      return [];
    case 'wrap':
      return all([node.inner]);
    case 'unary':
      return all([node.operand]);
    case 'rule':
      return all([node.source, node.destination]);
    case 'list':
    case 'map':
      return all(node.args);
    case 'call':
      return all(node.args, onItem && !STATE_FUNCTIONS.has(node.name));
    case 'index':
      return all(direct ? node.args : [node.value, ...node.args]);
    case 'binary': {
      const { operator, left, right } = node;
      if (operator !== '.' && operator !== '?.') return all([left, right]);
      const receiver = direct ? [] : all([left]);
      if (right.type !== 'call') return [...receiver, ...all([right])];
      return [...receiver, ...all(right.args, onItem || ITEM_METHODS.has(right.name))];
    }
  }
}

/** The key of the state that a node reads; undefined when it reads none. */
function keyRead(node: Node, onItem: boolean): string | undefined {
  if (node.type === 'index') {
    const [only, ...more] = node.args;
    return more.length === 0 && readsState(node.value, onItem) ? textOf(only ?? null) : undefined;
  }
  if (node.type !== 'binary' || (node.operator !== '.' && node.operator !== '?.')) return undefined;
  return readsState(node.left, onItem) ? memberKey(node.right) : undefined;
}

const isState = (node: Node): boolean => node.type === 'variable' && (node.name === '$' || node.name === '$1');

/** Whether a member of this node is a top-level key of a state or of the node's own part. */
const readsState = (node: Node, onItem: boolean): boolean =>
  node.type === 'variable' && (node.name === '$node' || (isState(node) && !onItem));

/** `name` of `.name`, `.get(name)` and `.get(name, default)`. */
function memberKey(right: Node): string | undefined {
  if (right.type === 'constant') return typeof right.value === 'string' ? right.value : undefined;
  if (right.type !== 'call' || right.name !== 'get') return undefined;
  const [first] = right.args;
  return first === undefined || first === null ? undefined : textOf(first);
}

const textOf = (node: Argument): string | undefined =>
  node?.type === 'constant' && typeof node.value === 'string' ? node.value : undefined;
