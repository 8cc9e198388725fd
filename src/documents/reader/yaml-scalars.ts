/** The value of a YAML scalar. */
export type ScalarValue = string | number | boolean | null;

// The documents this project reads were written for PyYAML's safe loader, which reads YAML 1.1 with
// a few deviations; these are the forms its resolver recognises. js-yaml's YAML11_SCHEMA
// differs in relevant parts: `y` and `n` as booleans, `-.5` and `.` as numbers, `0:30` as sexagesimal.
const BOOLEAN = /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/;
const NULL = /^(?:~|null|Null|NULL|)$/;
const LONGEST_WORD = 'false'.length;
const INTEGER =
  /^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$/;
const FLOAT =
  /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/**
 * The value of a plain (unquoted, untagged) scalar as PyYAML's safe loader reads it, with one
 * exception: dates and times stay text, because other systems pass these documents on as JSON.
 *
 * `yes`, `no`, `on`, `off` are booleans, `y` and `n` are text; `0644` is octal, `1_000` and `1:30` are
 * integers, `1e3` and `0o17` are text. Integers beyond 2^53 lose digits, as any JSON number would.
 */
export function readPlainScalar(text: string): ScalarValue {
  switch (text.charCodeAt(0) | 0x20) {
    // y n t f o (either case) and ~ (0x7e): words; an empty text has no code and falls to 0x20.
    case 0x79:
    case 0x6e:
    case 0x74:
    case 0x66:
    case 0x6f:
    case 0x7e:
    case 0x20:
      if (text.length > LONGEST_WORD) return text;
      if (NULL.test(text)) return null;
      return BOOLEAN.test(text) ? booleanOf(text) : text;
    // 0-9 (| 0x20 keeps them), + - .
    case 0x30:
    case 0x31:
    case 0x32:
    case 0x33:
    case 0x34:
    case 0x35:
    case 0x36:
    case 0x37:
    case 0x38:
    case 0x39:
    case 0x2b:
    case 0x2d:
    case 0x2e:
      return numberOf(text) ?? text;
    default:
      return text;
  }
}

/** Tags a document may carry: `!!str 123`. All others are refused, as by a safe loader. */
export type ScalarTag = 'str' | 'int' | 'float' | 'bool' | 'null' | 'timestamp';

/**
 * The value of a scalar with an explicit core tag; `undefined` when the text is not such a value
 * (`!!int three`). `text` is the decoded content, whatever its quotes.
 */
export function readTaggedScalar(tag: ScalarTag, text: string): ScalarValue | undefined {
  switch (tag) {
    case 'str':
    case 'timestamp':
      return text;
    case 'int':
      return INTEGER.test(text) ? integerOf(text) : undefined;
    case 'float':
      return FLOAT.test(text) || INTEGER.test(text) ? floatOf(text) : plainFloat(text);
    case 'bool':
      return /^(?:yes|no|true|false|on|off)$/i.test(text) ? booleanOf(text) : undefined;
    case 'null':
      return null;
  }
}

function booleanOf(text: string): boolean {
  const word = text.toLowerCase();
  return word === 'yes' || word === 'true' || word === 'on';
}

function numberOf(text: string): number | undefined {
  // Every form of a float has a dot, and no form of an integer has one.
  if (text.includes('.')) return FLOAT.test(text) ? floatOf(text) : undefined;
  return INTEGER.test(text) ? integerOf(text) : undefined;
}

function integerOf(text: string): number | undefined {
  const { sign, rest } = unsigned(text);
  let value: number;
  if (rest.startsWith('0b')) value = Number.parseInt(rest.slice(2), 2);
  else if (rest.startsWith('0x')) value = Number.parseInt(rest.slice(2), 16);
  else if (rest !== '0' && rest.startsWith('0')) value = Number.parseInt(rest, 8);
  else if (rest.includes(':')) value = sexagesimal(rest);
  else value = Number(rest);
  // `0b_` looks like a number but has no digit.
  return Number.isNaN(value) ? undefined : sign * value + 0;
}

function floatOf(text: string): number {
  const { sign, rest } = unsigned(text.toLowerCase());
  if (rest === '.inf') return sign * Number.POSITIVE_INFINITY;
  if (rest === '.nan') return Number.NaN;
  return sign * (rest.includes(':') ? sexagesimal(rest) : Number(rest));
}

const plainFloat = (text: string): number | undefined =>
  /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i.test(text) ? Number(text) : undefined;

function unsigned(text: string): { sign: 1 | -1; rest: string } {
  const digits = text.replaceAll('_', '');
  const first = digits[0];
  return { sign: first === '-' ? -1 : 1, rest: first === '-' || first === '+' ? digits.slice(1) : digits };
}

const sexagesimal = (text: string): number => text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
