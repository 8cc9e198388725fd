import { Dict, libraryFunctions, type Node, type Value } from '@sitewright/yaql';
import { partsOf } from './read-set.ts';

/** The paths of the state that an expression needs and that lead nowhere, each up to the key that is missing. */
export function missingPaths(tree: Node, roots: Readonly<Record<string, Value>>): readonly string[] {
  const found = new Set<string>();
  const visit = (node: Node, onItem: boolean): void => {
    const chain = chainOf(node, onItem);
    if (chain !== undefined) {
      const [root, ...keys] = chain;
      const length = firstMissing(roots[root as string], keys);
      if (length !== undefined) found.add([root, ...keys.slice(0, length)].join('.'));
    }
    // An error in the old state counts as a change.
    if (node.type === 'call' && node.name === 'old') return;
    for (const [part, partOnItem] of partsOf(node, onItem)) if (part !== null) visit(part, partOnItem);
  };
  visit(tree, false);
  // A path that continues behind a missing key adds nothing.
  return [...found].filter((path) => ![...found].some((other) => other !== path && path.startsWith(`${other}.`)));
}

/** Methods that need nothing but what they are called on. */
const METHODS: ReadonlySet<string> = new Set(
  libraryFunctions
    .filter(({ isMethod, parameters }) => isMethod && parameters.slice(1).every(({ required }) => !required))
    .map(({ name }) => name),
);

/** The function that one of these paths ends with: `$.nodes.values` is meant as `$.nodes.values()`. */
export const functionWithoutCall = (paths: readonly string[]): string | undefined =>
  paths.map((path) => path.slice(path.lastIndexOf('.') + 1)).find((key) => METHODS.has(key));

/** `$.a.b` as `['$', 'a', 'b']`; undefined for all else, and where a key may be absent, as in `$.get(a)`. */
function chainOf(node: Node, onItem: boolean): readonly string[] | undefined {
  if (node.type === 'variable') {
    if (node.name === '$node' || node.name === '$common') return [node.name];
    return node.name === '$' && !onItem ? ['$'] : undefined;
  }
  if (node.type !== 'binary' || node.operator !== '.') return undefined;
  const { right } = node;
  if (right.type !== 'constant' || typeof right.value !== 'string') return undefined;
  const before = chainOf(node.left, onItem);
  return before === undefined ? undefined : [...before, right.value];
}

/** How many keys lead to the missing one, that one included. */
function firstMissing(root: Value | undefined, keys: readonly string[]): number | undefined {
  let value = root;
  for (const [at, key] of keys.entries()) {
    if (!(value instanceof Dict)) return undefined;
    value = value.get(key);
    if (value === undefined) return at + 1;
  }
  return undefined;
}
