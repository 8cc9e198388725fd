import { valueError } from '../errors.ts';
import { Float, float, type Integer, integer, type Numeric } from './numbers.ts';
import { trimWhitespace } from './text.ts';

/** CPython 3.11 refuses to convert longer integers from or to text. */
const maxIntegerDigits = 4300;

/** Decimal text of an integer; ValueError beyond 4,300 digits. */
function integerText(x: Integer): string {
  if (typeof x === 'number') return String(x);
  // 4,300 digits are 14,285 bits; skip the conversion of numbers that are far beyond.
  const text = x > -(1n << 15000n) && x < 1n << 15000n ? x.toString() : null;
  if (text === null || text.length - (x < 0n ? 1 : 0) > maxIntegerDigits)
    throw valueError(`Exceeds the limit (${maxIntegerDigits} digits) for integer string conversion`);
  return text;
}

/** The shortest text that reads back as the same double, in Python's layout: always `.0`, an exponent from 1e16 on. */
export function floatText(x: number): string {
  if (Number.isNaN(x)) return 'nan';
  if (!Number.isFinite(x)) return x < 0 ? '-inf' : 'inf';
  if (x === 0) return Object.is(x, -0) ? '-0.0' : '0.0';
  const [mantissa = '', exponentText = '0'] = Math.abs(x).toExponential().split('e');
  const sign = x < 0 ? '-' : '';
  const digits = mantissa.replace('.', '');
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
    const magnitude = String(Math.abs(exponent)).padStart(2, '0');
    return `${sign}${digits[0]}${fraction}e${exponent < 0 ? '-' : '+'}${magnitude}`;
  }
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  if (digits.length <= exponent + 1) return `${sign}${digits.padEnd(exponent + 1, '0')}.0`;
  return `${sign}${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}

export function numberText(x: Numeric): string {
  if (x instanceof Float) return floatText(x.value);
  return typeof x === 'number' && !Number.isInteger(x) ? floatText(x) : integerText(x);
}

const digitRun = /\p{Nd}/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are searched for.
const notAscii = /[^\x00-\x7f]/;

/** Replaces decimal digits of any script by ASCII ones: in Unicode they come in runs of ten that start at a zero. */
export function asciiDigits(text: string): string {
  if (!notAscii.test(text)) return text;
  return text.replace(digitRun, (digit) => {
    const code = digit.codePointAt(0) as number;
    if (code < 0x80) return digit;
    let value = 0;
    // The runs are aligned so that walking down to the first non-digit finds the zero, but neighbouring runs
    // (mathematical digits, U+1D7CE on) touch each other.
    if (code >= 0x1d7ce && code <= 0x1d7ff) return String((code - 0x1d7ce) % 10);
    while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value++;
    return String(value);
  });
}

/** `int(text)` of Python: decimal, blanks around, sign, single underscores between digits. */
export function parseInteger(text: string): Integer {
  const body = asciiDigits(trimWhitespace(text));
  if (!/^[+-]?[0-9]+(_[0-9]+)*$/.test(body)) throw valueError(`invalid literal for int() with base 10: '${text}'`);
  const plain = body.replaceAll('_', '').replace('+', '');
  if (plain.replace('-', '').length > maxIntegerDigits)
    throw valueError(`Exceeds the limit (${maxIntegerDigits} digits) for integer string conversion`);
  return integer(BigInt(plain === '-0' ? '0' : plain.startsWith('-') ? plain : plain));
}

/** `float(text)` of Python. */
export function parseFloatText(text: string): number | Float {
  const body = asciiDigits(trimWhitespace(text)).toLowerCase();
  const special = /^([+-]?)(inf|infinity|nan)$/.exec(body);
  if (special !== null) {
    const magnitude = special[2] === 'nan' ? Number.NaN : Number.POSITIVE_INFINITY;
    return new Float(special[1] === '-' ? -magnitude : magnitude);
  }
  if (!/^[+-]?([0-9]+(_[0-9]+)*(\.([0-9]+(_[0-9]+)*)?)?|\.[0-9]+(_[0-9]+)*)(e[+-]?[0-9]+(_[0-9]+)*)?$/.test(body))
    throw valueError(`could not convert string to float: '${text}'`);
  return float(Number(body.replaceAll('_', '')));
}

/** `hex(x)` of Python. */
export function hexText(x: Integer): string {
  return x < 0 ? `-0x${(-BigInt(x)).toString(16)}` : `0x${x.toString(16)}`;
}
