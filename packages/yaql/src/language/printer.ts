import { floatText } from '../values/number-text.ts';
import { Float } from '../values/numbers.ts';
import { withoutEnd } from '../values/text-ends.ts';
import type { OperatorTable } from './operators.ts';
import type { Argument, ConstantNode, Node } from './syntax-tree.ts';

/**
 * Writes a tree back as an expression. Parsing the text again gives the same tree, except for places: parentheses are
 * nodes of their own here, so none have to be invented.
 */
export function printExpression(node: Node, operators: OperatorTable): string {
  const print = (n: Node): string => {
    switch (n.type) {
      case 'constant':
        return printConstant(n);
      case 'variable':
        return n.name;
      case 'call':
        if (n.name === '#call') return `${print(n.args[0] as Node)}(${printArguments(n.args.slice(1))})`;
        return `${n.name}(${printArguments(n.args)})`;
      case 'binary': {
        const right = print(n.right);
        // Digits on both sides of a dot would be read as a fraction.
        const tight = (n.operator === '.' || n.operator === '?.') && !/^\p{Nd}/u.test(right);
        return tight ? `${print(n.left)}${n.operator}${right}` : `${print(n.left)} ${n.operator} ${right}`;
      }
      case 'unary':
        if (n.suffix) return `${print(n.operand)} ${n.operator}`;
        return `${n.operator} ${print(n.operand)}`;
      case 'index':
        return `${print(n.value)}[${printArguments(n.args)}]`;
      case 'list':
        return `[${printArguments(n.args)}]`;
      case 'map':
        return `{${printArguments(n.args)}}`;
      case 'wrap':
        return `(${print(n.inner)})`;
      case 'rule':
        return `${print(n.source)} ${operators.nameValueSymbol ?? '=>'} ${print(n.destination)}`;
    }
  };
  const printArguments = (args: readonly Argument[]): string =>
    args.map((a) => (a === null ? '' : print(a))).join(', ');
  return print(node);
}

function printConstant(node: ConstantNode): string {
  const { value } = node;
  if (node.keyword) return value as string;
  if (value === null) return 'null';
  if (typeof value === 'string') return printString(value);
  if (value instanceof Float || (typeof value === 'number' && !Number.isInteger(value))) return printFloat(value);
  return String(value);
}

/** The language has no exponents: the exact decimal expansion replaces them. */
function printFloat(value: Float | number): string {
  const x = typeof value === 'number' ? value : value.value;
  const text = floatText(x);
  if (!text.includes('e')) return text;
  if (Math.abs(x) >= 1e16) return `${BigInt(x)}.0`;
  return withoutEnd(x.toFixed(100), '0');
}

function printString(text: string): string {
  let out = "'";
  for (const c of text) {
    const code = c.codePointAt(0) as number;
    if (c === '\\') out += '\\\\';
    else if (c === "'") out += "\\'";
    else if (code < 0x20) out += `\\x${code.toString(16).padStart(2, '0')}`;
    else out += c;
  }
  return `${out}'`;
}
