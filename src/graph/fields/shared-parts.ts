import type { Argument, Node } from '@sitewright/yaql';
import { readSetOf } from './read-set.ts';

/** An expression in which variables replace the parts that are equal on many nodes. */
export interface SplitExpression {
  readonly text: string;
  /** By variable, without the dollar sign. */
  readonly parts: readonly SharedPart[];
}

export interface SharedPart {
  readonly variable: string;
  readonly expression: string;
  /** It removes a node's own keys by name, which its read set does not show. */
  readonly withoutOwn: boolean;
}

/** Functions that compare a state with the older one: the costly part of most expressions. */
const COMPARING: ReadonlySet<string> = new Set(['changed', 'changedAll', 'changedAny']);

/**
 * Extracts parts that read none of a node's own keys: comparisons of states, and right sides of `in`. Evaluated
 * separately they give the same result: the former are booleans, of the latter `in` uses only elements. `changedAny`
 * with some arguments of a node's own data becomes the equivalent `or`. Null when there is nothing to extract.
 */
export function splitExpression(text: string, tree: Node, ownKeys: readonly string[]): SplitExpression | null {
  const splitter = new Splitter(text, ownKeys);
  const split = splitter.rewrite(tree);
  return splitter.parts.length === 0 ? null : { text: split, parts: splitter.parts };
}

class Splitter {
  readonly parts: SharedPart[] = [];
  readonly #source: string;
  readonly #ownKeys: ReadonlySet<string>;

  constructor(source: string, ownKeys: readonly string[]) {
    this.#source = source;
    this.#ownKeys = new Set(ownKeys);
  }

  /** The text of a node with the parts in it replaced. */
  rewrite(node: Node): string {
    const replaced = this.#replacement(node);
    if (replaced !== undefined) return replaced;
    let out = '';
    let at = node.start;
    for (const child of childrenOf(node)) {
      out += this.#source.slice(at, child.start) + this.rewrite(child);
      at = child.end;
    }
    return out + this.#source.slice(at, node.end);
  }

  #replacement(node: Node): string | undefined {
    if (node.type === 'binary' && node.operator === 'in' && this.#isShared(node.right)) {
      return `(${this.rewrite(node.left)} in ${this.#extract(node.right)})`;
    }
    if (node.type !== 'call' || !COMPARING.has(node.name)) return undefined;
    if (this.#isShared(node)) return this.#extract(node);
    const args = node.args.filter((arg): arg is Node => arg !== null && arg.type !== 'rule');
    const whole = node.name === 'changed' && args.length === 1 && isWholeState(args[0]!);
    const divisible = node.name === 'changedAny' && args.some((arg) => this.#isShared(arg) || isWholeState(arg));
    if (args.length !== node.args.length || !(whole || divisible)) return undefined;
    return `(${args.map((arg) => this.#comparison(arg)).join(' or ')})`;
  }

  #comparison(arg: Node): string {
    if (isWholeState(arg)) return this.#wholeComparison();
    const call = `changed(${this.#textOf(arg)})`;
    return this.#isShared(arg) ? this.#variableFor(call) : call;
  }

  /** Two states differ when one of the node's own keys differs, or the rest does. */
  #wholeComparison(): string {
    const keys = [...this.#ownKeys].map((key) => JSON.stringify(key));
    const each = keys.map((key) => `changed([$.containsKey(${key}), $.get(${key})])`);
    const rest = this.#variableFor(`changed($.deleteAll([${keys.join(', ')}]))`, true);
    return [...each, rest].join(' or ');
  }

  #isShared(node: Node): boolean {
    // A variable defined in the expression has no meaning outside it; a constant gains nothing from a variable.
    if (hasOwnVariable(node)) return false;
    const reads = readSetOf(node);
    return reads !== null && reads.length > 0 && !reads.some((key) => this.#ownKeys.has(key));
  }

  #extract(node: Node): string {
    return this.#variableFor(this.#textOf(node));
  }

  #textOf(node: Node): string {
    return this.#source.slice(node.start, node.end);
  }

  #variableFor(expression: string, withoutOwn = false): string {
    const known = this.parts.find((part) => part.expression === expression);
    if (known !== undefined) return `$${known.variable}`;
    const variable = `__shared${this.parts.length}`;
    this.parts.push({ variable, expression, withoutOwn });
    return `$${variable}`;
  }
}

const isWholeState = (node: Node): boolean => node.type === 'variable' && node.name === '$';

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
      // The arguments of a method see other data as `$`.
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
