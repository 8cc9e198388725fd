/** Values for `{NAME}` in a field. */
export type FormatValues = Readonly<Record<string, unknown>>;

type Part = string | Replacement;

interface Replacement {
  readonly name: string;
  readonly steps: readonly { readonly attribute: boolean; readonly key: string }[];
  readonly conversion: string;
  readonly spec: readonly Part[];
}

/** A text in the syntax of Python's `str.format`, parsed once. */
export class FormatText {
  readonly text: string;
  readonly #parts: readonly Part[] | null;

  constructor(text: string) {
    this.text = text;
    this.#parts = parse(text, 0);
  }

  /**
   * The text with its names replaced. Any error (an unknown name, a stray brace, a specification that does
   * not fit) leaves the whole text unchanged, double braces included.
   */
  fill(values: FormatValues): string {
    if (this.#parts === null) return this.text;
    return render(this.#parts, values) ?? this.text;
  }
}

/** Whether formatting could change a text. */
export const mayFormat = (text: string): boolean => text.includes('{') || text.includes('}');

/** Specifications may contain replacement fields, one level deep. */
const MAX_DEPTH = 1;

function parse(text: string, depth: number): Part[] | null {
  const parts: Part[] = [];
  let literal = '';
  for (let at = 0; at < text.length; ) {
    const char = text[at]!;
    if (char !== '{' && char !== '}') {
      literal += char;
      at += 1;
    } else if (text[at + 1] === char) {
      literal += char;
      at += 2;
    } else {
      if (char === '}') return null;
      const end = closing(text, at);
      const field = end < 0 || depth > MAX_DEPTH ? null : replacement(text.slice(at + 1, end), depth);
      if (field === null) return null;
      if (literal !== '') parts.push(literal);
      literal = '';
      parts.push(field);
      at = end + 1;
    }
  }
  if (literal !== '') parts.push(literal);
  return parts;
}

function closing(text: string, open: number): number {
  let nested = 0;
  for (let at = open; at < text.length; at++) {
    if (text[at] === '{') nested += 1;
    else if (text[at] === '}' && --nested === 0) return at;
  }
  return -1;
}

function replacement(field: string, depth: number): Replacement | null {
  const found = /^([^.[\]!:{}]*)((?:\.[^.[\]!:{}]+|\[[^\]{}]+\])*)(?:!([rs]))?(?::([\s\S]*))?$/.exec(field);
  if (found === null) return null;
  const [, name, path, conversion = '', specText = ''] = found;
  const spec = parse(specText, depth + 1);
  if (spec === null) return null;
  const steps = [...path!.matchAll(/\.([^.[\]]+)|\[([^\]]+)\]/gy)].map(([, attribute, index]) => ({
    attribute: attribute !== undefined,
    key: (attribute ?? index) as string,
  }));
  return { name: name!, steps, conversion, spec };
}

function render(parts: readonly Part[], values: FormatValues): string | null {
  let out = '';
  for (const part of parts) {
    const text = typeof part === 'string' ? part : replaced(part, values);
    if (text === null) return null;
    out += text;
  }
  return out;
}

function replaced(field: Replacement, values: FormatValues): string | null {
  if (!Object.hasOwn(values, field.name)) return null;
  let value = values[field.name];
  for (const { attribute, key } of field.steps) {
    const next = attribute ? attributeOf(value, key) : itemOf(value, key);
    if (next === undefined) return null;
    value = next;
  }
  const spec = render(field.spec, values);
  if (spec === null) return null;
  if (field.conversion !== '') value = field.conversion === 'r' ? represented(value) : plain(value);
  return value === null || value === undefined ? null : formatted(value, spec);
}

/** Attributes exist only on groups of settings. */
function attributeOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? ((value as FormatValues)[key] ?? NONE)
    : undefined;
}

function itemOf(value: unknown, key: string): unknown {
  const isIndex = /^\d+$/.test(key);
  if (typeof value === 'string' || Array.isArray(value)) {
    const items = typeof value === 'string' ? [...value] : value;
    return isIndex ? items[Number(key)] : undefined;
  }
  return attributeOf(value, key);
}

/** Python's None, which has a text form. */
const NONE = Object.freeze({ toString: () => 'None' });

function plain(value: unknown): string | null {
  if (value === NONE || value === null) return 'None';
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number') return String(value);
  return null;
}

/** Like Python 2's repr of a unicode text. */
function represented(value: unknown): string | null {
  if (typeof value !== 'string') return plain(value);
  const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
  const body = value.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/\t/g, '\\t').replace(/\r/g, '\\r');
  return `u${quote}${quote === "'" ? body.replace(/'/g, "\\'") : body}${quote}`;
}

const SPEC = /^(?:([\s\S])?([<>=^]))?([-+ ])?(#)?(0)?(\d+)?(,)?(?:\.(\d+))?([a-zA-Z%])?$/u;

/** `[[fill]align][sign][#][0][width][,][.precision][type]` for text and whole numbers. */
function formatted(value: unknown, spec: string): string | null {
  if (spec === '') return plain(value);
  const found = SPEC.exec(spec);
  if (found === null) return null;
  const [, fillChar, alignment, sign, alternate, zero, widthText, comma, precision, type] = found;
  const fill = fillChar ?? (zero === undefined ? ' ' : '0');
  const width = Number(widthText ?? 0);
  const isNumber = typeof value === 'number' && Number.isInteger(value);
  if (!isNumber || typeof value !== 'number') {
    const text = plain(value);
    if (text === null || sign !== undefined || alternate !== undefined || comma !== undefined) return null;
    if ((type !== undefined && type !== 's') || alignment === '=' || zero !== undefined) return null;
    const cut = precision === undefined ? text : [...text].slice(0, Number(precision)).join('');
    return pad('', cut, width, fill, alignment ?? '<');
  }
  const digits = wholeNumber(Math.abs(value), type, alternate !== undefined, comma !== undefined, precision);
  if (digits === null) return null;
  const signText = value < 0 ? '-' : sign === '+' || sign === ' ' ? sign : '';
  return pad(signText, digits, width, fill, alignment ?? (zero === undefined ? '>' : '='));
}

function inThousands(digits: string): string {
  const first = digits.length % 3 || 3;
  const parts = [digits.slice(0, first)];
  for (let at = first; at < digits.length; at += 3) parts.push(digits.slice(at, at + 3));
  return parts.join(',');
}

function wholeNumber(value: number, type: string | undefined, prefix: boolean, comma: boolean, precision?: string) {
  const grouped = (digits: string): string => (comma ? inThousands(digits) : digits);
  const based = (base: number, mark: string) => (comma ? null : `${prefix ? mark : ''}${value.toString(base)}`);
  if (precision !== undefined && !/^[fF%]$/.test(type ?? '')) return null;
  switch (type) {
    case undefined:
    case 'd':
    case 'n':
      return grouped(String(value));
    case 'b':
      return based(2, '0b');
    case 'o':
      return based(8, '0o');
    case 'x':
      return based(16, '0x');
    case 'X':
      return based(16, '0x')?.toUpperCase() ?? null;
    case 'c':
      return comma ? null : String.fromCodePoint(value);
    case 'f':
    case 'F':
      return value.toFixed(Number(precision ?? 6));
    case '%':
      return `${(value * 100).toFixed(Number(precision ?? 6))}%`;
    default:
      return null;
  }
}

function pad(sign: string, text: string, width: number, fill: string, alignment: string): string {
  const missing = Math.max(0, width - [...sign, ...text].length);
  if (alignment === '=') return sign + fill.repeat(missing) + text;
  const left = alignment === '<' ? 0 : alignment === '^' ? Math.floor(missing / 2) : missing;
  return fill.repeat(left) + sign + text + fill.repeat(missing - left);
}

/** A value that may be absent, for {@link FormatText.fill}: Python shows it as `None`. */
export const orNone = (value: unknown): unknown => value ?? NONE;
