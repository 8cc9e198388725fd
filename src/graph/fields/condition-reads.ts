import type { Node } from '@sitewright/yaql';
import { isSecretKey } from '../../core/text/secrets.ts';
import { partsOf } from './read-set.ts';

/** A path of the state that an expression reads, as written there: `$.murano.enabled`. */
interface ReadPath {
  readonly text: string;
  /** Its value must not be shown. */
  readonly secret: boolean;
}

/** The paths an expression reads from `$`, `$node` and `$common`, each once, in the order of the text. */
export function pathsRead(text: string, tree: Node): ReadPath[] {
  const found = new Map<string, ReadPath>();
  const visit = (node: Node, onItem: boolean): void => {
    const keys = pathKeys(node, onItem);
    if (keys !== undefined && keys.length > 0) {
      const path = text.slice(node.start, node.end).replace(/\s+/g, ' ');
      if (!found.has(path)) found.set(path, { text: path, secret: keys.some(isSecretKey) });
      return;
    }
    for (const [part, partOnItem] of partsOf(node, onItem)) if (part !== null) visit(part, partOnItem);
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
