import { YaqlError } from '../errors.ts';
import { Lexer, type Token } from './lexer.ts';
import type { OperatorEntry, OperatorTable } from './operators.ts';
import type { Argument, Node } from './syntax-tree.ts';

export interface Grammar {
  readonly operators: OperatorTable;
  /** Whether `value(args)` calls a value. */
  readonly allowDelegates: boolean;
  /** Whether `True`, `False` and `None` are values, not words. */
  readonly pythonLiterals: boolean;
}

/** Nodes inside one another. The reference implementation gives up at about 140 when it evaluates. */
export const maxNodeDepth = 400;

/** Parses one expression. YaqlLexicalException, YaqlGrammarException, UnicodeDecodeError, RecursionError. */
export function parseExpression(text: string, grammar: Grammar): Node {
  try {
    return new Parser(text, grammar).parse();
  } catch (error) {
    if (error instanceof YaqlError) {
      error.expression = text;
      error.offset ??= text.length;
    }
    throw error;
  }
}

/** Operator precedence parsing: each operator binds as tightly as its group in the table. */
class Parser {
  readonly #lexer: Lexer;
  readonly #grammar: Grammar;
  #token: Token;
  readonly #depths = new WeakMap<Node, number>();
  #nesting = 0;

  constructor(text: string, grammar: Grammar) {
    this.#lexer = new Lexer(text, grammar.operators, grammar.pythonLiterals);
    this.#grammar = grammar;
    this.#token = this.#lexer.next();
  }

  parse(): Node {
    const node = this.#expression(0);
    if (this.#token.type !== 'end') throw this.#unexpected();
    return node;
  }

  #advance(): Token {
    const token = this.#token;
    this.#token = this.#lexer.next();
    return token;
  }

  #isPunctuation(symbol: string): boolean {
    return this.#token.type === 'punctuation' && this.#token.symbol === symbol;
  }

  #unexpected(): YaqlError {
    const token = this.#token;
    if (token.type === 'end')
      return new YaqlError('YaqlGrammarException', 'Unexpected end of the expression', { offset: token.start });
    const shown =
      token.type === 'variable' || token.type === 'function'
        ? token.name
        : token.type === 'constant'
          ? String(typeof token.value === 'object' && token.value !== null ? token.value.value : token.value)
          : token.symbol;
    return new YaqlError('YaqlGrammarException', `Unexpected '${shown}'`, { offset: token.start });
  }

  /** Registers how deep a node is, so that evaluation can rely on a bounded tree. */
  #node<T extends Node>(node: T, ...children: readonly Argument[]): T {
    let depth = 0;
    for (const child of children) if (child !== null) depth = Math.max(depth, this.#depths.get(child) ?? 0);
    if (depth >= maxNodeDepth)
      throw new YaqlError('RecursionError', `The expression nests more than ${maxNodeDepth} levels deep`, {
        offset: node.start,
      });
    this.#depths.set(node, depth + 1);
    return node;
  }

  #expression(minimum: number): Node {
    if (++this.#nesting > maxNodeDepth)
      throw new YaqlError('RecursionError', `The expression nests more than ${maxNodeDepth} levels deep`, {
        offset: this.#token.start,
      });
    let left = this.#operand();
    for (;;) {
      const extended = this.#extend(left, minimum);
      if (extended === null) break;
      left = extended;
    }
    this.#nesting--;
    return left;
  }

  /** Takes what can follow a complete value, or null when nothing that binds tightly enough does. */
  #extend(left: Node, minimum: number): Node | null {
    const token = this.#token;
    if (token.type === 'operator') {
      const entry = this.#grammar.operators.entries.get(token.symbol) as OperatorEntry;
      if (entry.binary > minimum || (entry.binary === minimum && entry.binary !== 0 && entry.rightAssociative))
        return this.#binary(left, entry, token.start);
      if (entry.suffix > minimum) {
        this.#advance();
        const name = functionName(entry, true);
        return this.#node(
          {
            type: 'unary',
            operator: entry.symbol,
            name,
            operand: left,
            suffix: true,
            start: left.start,
            end: token.end,
          },
          left,
        );
      }
      return null;
    }
    if (token.type !== 'punctuation') return null;
    if (token.symbol === '[' && this.#grammar.operators.indexPower > minimum) {
      this.#advance();
      const args = this.#args(']');
      return this.#node(
        { type: 'index', value: left, args: args.list, start: left.start, end: args.end },
        left,
        ...args.list,
      );
    }
    // A called value binds more loosely than every operator to its left.
    if (token.symbol === '(' && this.#grammar.allowDelegates && minimum === 0) {
      this.#advance();
      const args = this.#args(')');
      return this.#node(
        { type: 'call', name: '#call', args: [left, ...args.list], start: left.start, end: args.end },
        left,
        ...args.list,
      );
    }
    return null;
  }

  #binary(left: Node, entry: OperatorEntry, at: number): Node {
    this.#advance();
    const right = this.#expression(entry.binary);
    const name = functionName(entry, false);
    return this.#node(
      { type: 'binary', operator: entry.symbol, name, left, right, at, start: left.start, end: right.end },
      left,
      right,
    );
  }

  #operand(): Node {
    const token = this.#token;
    switch (token.type) {
      case 'constant':
        this.#advance();
        return this.#node({
          type: 'constant',
          value: token.value,
          keyword: token.keyword,
          start: token.start,
          end: token.end,
        });
      case 'variable':
        this.#advance();
        return this.#node({ type: 'variable', name: token.name, start: token.start, end: token.end });
      case 'function': {
        this.#advance();
        const args = this.#args(')');
        return this.#node(
          { type: 'call', name: token.name, args: args.list, start: token.start, end: args.end },
          ...args.list,
        );
      }
      case 'operator': {
        const entry = this.#grammar.operators.entries.get(token.symbol) as OperatorEntry;
        if (entry.prefix === 0) throw this.#unexpected();
        this.#advance();
        const operand = this.#expression(entry.prefix);
        const name = functionName(entry, true);
        return this.#node(
          { type: 'unary', operator: entry.symbol, name, operand, suffix: false, start: token.start, end: operand.end },
          operand,
        );
      }
      case 'punctuation':
        return this.#bracketed(token);
      case 'end':
        throw this.#unexpected();
    }
  }

  #bracketed(token: Token & { symbol: string }): Node {
    if (token.symbol === '(') {
      this.#advance();
      const inner = this.#expression(0);
      if (!this.#isPunctuation(')')) throw this.#unexpected();
      const end = this.#advance().end;
      return this.#node({ type: 'wrap', inner, start: token.start, end }, inner);
    }
    if (token.symbol !== '[' && token.symbol !== '{') throw this.#unexpected();
    this.#advance();
    const args = this.#args(token.symbol === '[' ? ']' : '}');
    const type = token.symbol === '[' ? 'list' : 'map';
    return this.#node({ type, args: args.list, start: token.start, end: args.end }, ...args.list);
  }

  /**
   * Arguments up to the closing bracket: positional ones, of which some may be skipped, then named ones. Skippable
   * positions follow the reference grammar: never the last one, and directly before the first named argument
   * exactly one position after a given one.
   */
  #args(close: string): { list: Argument[]; end: number } {
    const list: Argument[] = [];
    if (this.#isPunctuation(close)) return { list, end: this.#advance().end };
    let named = false;
    let skipped = 0;
    for (;;) {
      if (this.#isPunctuation(',') && !named) {
        this.#advance();
        list.push(null);
        skipped++;
        continue;
      }
      const value = this.#expression(0);
      if (this.#isPunctuation('=>')) {
        if (!named && skipped > (list.length > skipped ? 1 : 0)) throw this.#unexpected();
        this.#advance();
        const destination = this.#expression(0);
        named = true;
        list.push(
          this.#node(
            { type: 'rule', source: value, destination, start: value.start, end: destination.end },
            value,
            destination,
          ),
        );
      } else {
        if (named) throw this.#unexpected();
        list.push(value);
      }
      skipped = 0;
      if (this.#isPunctuation(close)) return { list, end: this.#advance().end };
      if (!this.#isPunctuation(',')) throw this.#unexpected();
      this.#advance();
    }
  }
}

function functionName(entry: OperatorEntry, unary: boolean): string {
  if (entry.alias !== undefined) return `*${entry.alias}`;
  return `#${unary ? 'unary_' : ''}operator_${entry.symbol}`;
}
