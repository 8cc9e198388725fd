import type { Argument, Node } from '../../yaql/index.js';
import { readSetOf } from './read-set.js';

/** An expression with its parts that are the same on many nodes taken out and replaced by variables. */
export interface SplitExpression {
  readonly text: string;
  /** By variable, without the dollar sign. */
  readonly parts: readonly { readonly variable: string; readonly expression: string }[];
}

/** Compare a state with the older one: the costly part of most expressions. */
const COMPARING: ReadonlySet<string> = new Set(['changed', 'changedAll', 'changedAny']);

/**
 * Takes out what reads nothing that `isOwn` names: comparisons of states, and what membership is asked of. Evaluated
 * apart these give the very same: the first are booleans, of the second `in` uses the elements only. `changedAny` of
 * which some arguments are a node's own becomes the `or` it stands for. Null when there is nothing to take out.
 */
export function splitExpression(text: string, tree: Node, isOwn: (key: string) => boolean): SplitExpression | null {
  const splitter = new Splitter(text, isOwn);
  const split = splitter.rewrite(tree);
  return splitter.parts.length === 0 ? null : { text: split, parts: splitter.parts };
}

class Splitter {
  readonly parts: { readonly variable: string; readonly expression: string }[] = [];
  private readonly source: string;
  private readonly isOwn: (key: string) => boolean;

  constructor(source: string, isOwn: (key: string) => boolean) {
    this.source = source;
    this.isOwn = isOwn;
  }

  /** The text of a node with the parts in it replaced. */
  rewrite(node: Node): string {
    const replaced = this.replacement(node);
    if (replaced !== undefined) return replaced;
    let out = '';
    let at = node.start;
    for (const child of childrenOf(node)) {
      out += this.source.slice(at, child.start) + this.rewrite(child);
      at = child.end;
    }
    return out + this.source.slice(at, node.end);
  }

  private replacement(node: Node): string | undefined {
    if (node.type === 'binary' && node.operator === 'in' && this.isShared(node.right)) {
      return `(${this.rewrite(node.left)} in ${this.takeOut(node.right)})`;
    }
    if (node.type !== 'call' || !COMPARING.has(node.name)) return undefined;
    if (this.isShared(node)) return this.takeOut(node);
    const args = node.args.filter((arg): arg is Node => arg !== null && arg.type !== 'rule');
    if (node.name !== 'changedAny' || args.length !== node.args.length || !args.some((arg) => this.isShared(arg))) {
      return undefined;
    }
    const each = args.map((arg) => {
      const call = `changed(${this.textOf(arg)})`;
      return this.isShared(arg) ? this.variableFor(call) : call;
    });
    return `(${each.join(' or ')})`;
  }

  private isShared(node: Node): boolean {
    // A variable of the expression's own has no meaning outside it; a lone constant is not worth a name.
    if (hasOwnVariable(node)) return false;
    const reads = readSetOf(node);
    return reads !== null && reads.length > 0 && !reads.some(this.isOwn);
  }

  private takeOut(node: Node): string {
    return this.variableFor(this.textOf(node));
  }

  private textOf(node: Node): string {
    return this.source.slice(node.start, node.end);
  }

  private variableFor(expression: string): string {
    const known = this.parts.find((part) => part.expression === expression);
    if (known !== undefined) return `$${known.variable}`;
    const variable = `__shared${this.parts.length}`;
    this.parts.push({ variable, expression });
    return `$${variable}`;
  }
}

const given = (args: readonly Argument[]): Node[] => args.filter((arg) => arg !== null);

function childrenOf(node: Node): Node[] {
  switch (node.type) {
    case 'constant':
    case 'variable':
      return [];
    case 'wrap':
      return [node.inner];
    case 'unary':
      return [node.operand];
    case 'rule':
      return [node.source, node.destination];
    case 'binary':
      // What is inside a method's arguments sees other data as `$`.
      return node.operator === '.' || node.operator === '?.' ? [node.left] : [node.left, node.right];
    case 'index':
      return [node.value, ...given(node.args)];
    default:
      return given(node.args);
  }
}

function hasOwnVariable(node: Node): boolean {
  if (node.type === 'variable') return node.name !== '$' && node.name !== '$common';
  if (node.type === 'call' && (node.name === 'let' || node.name === 'def')) return true;
  if (node.type === 'binary' && node.operator === '->') return true;
  const inside = node.type === 'binary' ? [node.left, node.right] : childrenOf(node);
  return inside.some(hasOwnVariable);
}
