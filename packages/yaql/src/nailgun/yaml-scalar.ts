/**
 * How libyaml writes a text as a YAML scalar: which of plain, single-quoted and double-quoted it takes, and where it
 * folds lines (at the first blank after column 80).
 */

/** Plain words YAML would read as something other than text. */
const resolvers: readonly RegExp[] = [
  /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/,
  /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/,
  /^(?:[-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$/,
  /^(?:<<|~|null|Null|NULL||=)$/,
];

export const timestampText =
  /^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)$/;

const readsAsText = (text: string): boolean => !resolvers.some((r) => r.test(text)) && !timestampText.test(text);

export type ScalarStyle = 'plain' | 'single' | 'double';

const breaks = /[\n\r\x85\u2028\u2029]/;
const isPrintable = (code: number): boolean => code === 0x0a || (code >= 0x20 && code <= 0x7e);
const endsWord = (c: string | undefined): boolean =>
  c === undefined || c === ' ' || c === '\t' || c === '\0' || breaks.test(c);

export const isMultiline = (text: string): boolean => breaks.test(text);

/** The style of a text; a key that must stay on one line is never folded. */
export function scalarStyle(text: string, inKey: boolean): ScalarStyle {
  const shape = analyze(text);
  if (inKey && isMultiline(text)) return 'double';
  const plain = shape.plainAllowed && readsAsText(text) && text !== '';
  if (plain) return 'plain';
  return shape.singleAllowed ? 'single' : 'double';
}

function analyze(text: string): { plainAllowed: boolean; singleAllowed: boolean } {
  const points = Array.from(text);
  let plainAllowed = !(text.startsWith('---') || text.startsWith('...'));
  let singleAllowed = true;
  let previous = '';
  points.forEach((c, i) => {
    const first = i === 0;
    const next = points[i + 1];
    if (first && '#,[]{}&*!|>\'"%@`'.includes(c)) plainAllowed = false;
    if ((c === ':' || (first && (c === '?' || c === '-'))) && endsWord(next)) plainAllowed = false;
    if (!first && c === '#' && endsWord(previous)) plainAllowed = false;
    const code = c.codePointAt(0) as number;
    if (!isPrintable(code)) {
      plainAllowed = false;
      singleAllowed = false;
    }
    const last = i === points.length - 1;
    if (breaks.test(c)) {
      plainAllowed = false;
      // A blank before a break would be lost in folding.
      if (previous === ' ') singleAllowed = false;
    } else if (c === ' ') {
      if (first || last) plainAllowed = false;
      if (previous !== '' && breaks.test(previous)) {
        plainAllowed = false;
        singleAllowed = false;
      }
    }
    previous = c;
  });
  return { plainAllowed, singleAllowed };
}

const width = 80;

/** The output of a scalar, given the column it starts in and the indentation of its further lines. */
export function writeScalar(
  text: string,
  style: ScalarStyle,
  column: number,
  indent: number,
  mayFold: boolean,
): string {
  const writer = new LineWriter(column, indent);
  if (style === 'plain') writePlain(text, writer, mayFold);
  else if (style === 'single') writeSingle(text, writer, mayFold);
  else writeDouble(text, writer, mayFold);
  return writer.out;
}

class LineWriter {
  out = '';
  column: number;
  readonly #indent: number;
  constructor(column: number, indent: number) {
    this.column = column;
    this.#indent = indent;
  }
  put(text: string): void {
    this.out += text;
    this.column += text.length;
  }
  break(): void {
    this.out += '\n';
    this.column = 0;
  }
  /** Starts a new line with the indentation, unless the current line has it already. */
  newLine(): void {
    if (this.column > 0) this.break();
    this.put(' '.repeat(this.#indent));
  }
}

function writePlain(text: string, writer: LineWriter, mayFold: boolean): void {
  let spaces = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string;
    if (c === ' ' && mayFold && !spaces && writer.column > width && text[i + 1] !== ' ') writer.newLine();
    else writer.put(c);
    spaces = c === ' ';
  }
}

function writeSingle(text: string, writer: LineWriter, mayFold: boolean): void {
  writer.put("'");
  let spaces = false;
  let broken = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string;
    if (c === ' ') {
      const inside = i > 0 && i < text.length - 1;
      if (mayFold && !spaces && writer.column > width && inside && text[i + 1] !== ' ') writer.newLine();
      else writer.put(c);
      spaces = true;
      continue;
    }
    if (breaks.test(c)) {
      if (!broken && c === '\n') writer.break();
      writer.break();
      broken = true;
      continue;
    }
    if (broken) writer.newLine();
    writer.put(c === "'" ? "''" : c);
    spaces = false;
    broken = false;
  }
  if (broken) writer.newLine();
  writer.put("'");
}

const escapes: Record<number, string> = {
  0: '0',
  7: 'a',
  8: 'b',
  9: 't',
  10: 'n',
  11: 'v',
  12: 'f',
  13: 'r',
  27: 'e',
  34: '"',
  92: '\\',
  133: 'N',
  160: '_',
  8232: 'L',
  8233: 'P',
};

function writeDouble(text: string, writer: LineWriter, mayFold: boolean): void {
  const points = Array.from(text);
  writer.put('"');
  let spaces = false;
  points.forEach((c, i) => {
    const code = c.codePointAt(0) as number;
    if (!isPrintable(code) || code === 10 || c === '"' || c === '\\') {
      writer.put(`\\${escapes[code] ?? hexEscape(code)}`);
      spaces = false;
    } else if (c === ' ') {
      if (mayFold && !spaces && writer.column > width && i > 0 && i < points.length - 1) {
        writer.newLine();
        if (points[i + 1] === ' ') writer.put('\\');
      } else writer.put(c);
      spaces = true;
    } else {
      writer.put(c);
      spaces = false;
    }
  });
  writer.put('"');
}

function hexEscape(code: number): string {
  const digits = code.toString(16).toUpperCase();
  if (code <= 0xff) return `x${digits.padStart(2, '0')}`;
  return code <= 0xffff ? `u${digits.padStart(4, '0')}` : `U${digits.padStart(8, '0')}`;
}
