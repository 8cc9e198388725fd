import type { Node } from '../../yaql/index.js';
import { isSecretKey } from '../view/shown-value.js';
import { isItemMethod } from './read-set.js';

/** A path into the state that an expression reads, e.g. `$.murano.enabled`, as the expression writes it. */
export interface ReadPath {
  readonly text: string;
  /** Its value is not to be shown. */
  readonly secret: boolean;
}

/** The paths an expression reads from `$`, `$node` and `$common`, each once, in the order in which they stand. */
export function pathsRead(text: string, tree: Node): ReadPath[] {
  const found = new Map<string, ReadPath>();
  const visit = (node: Node, onItem: boolean): void => {
    const keys = pathKeys(node, onItem);
    if (keys !== undefined && keys.length > 0) {
      const path = text.slice(node.start, node.end).replace(/\s+/g, ' ');
      if (!found.has(path)) found.set(path, { text: path, secret: keys.some(isSecretKey) });
      return;
    }
    for (const [child, item] of children(node, onItem)) visit(child, item);
  };
  visit(tree, false);
  return [...found.values()];
}

/** The keys of a chain like `$.a.get(b, {}).c`; undefined for anything else. */
function pathKeys(node: Node, onItem: boolean): string[] | undefined {
  if (node.type === 'variable') {
    const isState = (node.name === '$' && !onItem) || node.name === '$node' || node.name === '$common';
    return isState ? [] : undefined;
  }
  if (node.type !== 'binary' || (node.operator !== '.' && node.operator !== '?.')) return undefined;
  const before = pathKeys(node.left, onItem);
  if (before === undefined) return undefined;
  const { right } = node;
  if (right.type === 'constant' && typeof right.value === 'string') return [...before, right.value];
  const first = right.type === 'call' && right.name === 'get' ? right.args[0] : undefined;
  return first?.type === 'constant' && typeof first.value === 'string' ? [...before, first.value] : undefined;
}

function children(node: Node, onItem: boolean): (readonly [Node, boolean])[] {
  const all = (nodes: readonly (Node | null)[], item = onItem) =>
    nodes.flatMap((one) => (one === null ? [] : [[one, item] as const]));
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
    case 'index':
      return all([node.value, ...node.args]);
    case 'binary':
      if (node.right.type !== 'call' || (node.operator !== '.' && node.operator !== '?.'))
        return all([node.left, node.right]);
      return [...all([node.left]), ...all(node.right.args, onItem || isItemMethod(node.right.name))];
    default:
      return all(node.args);
  }
}
