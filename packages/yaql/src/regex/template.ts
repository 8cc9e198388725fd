import { YaqlError } from '../errors.ts';

/** One match; bounds are code-point offsets, -1 for a group that took no part. */
export interface RegexMatch {
  readonly start: number;
  readonly end: number;
  /** Text of group n, null when it took no part; group 0 is the whole match. */
  group(n: number): string | null;
  bounds(n: number): readonly [number, number];
}

/** A literal piece of text or the number of a group. */
type TemplatePart = string | number;

const simple: Record<string, string> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '\\': '\\' };
const isDigit = (c: string | undefined): boolean => c !== undefined && c >= '0' && c <= '9';
const isOctal = (c: string | undefined): boolean => c !== undefined && c >= '0' && c <= '7';

const error = (message: string): YaqlError => new YaqlError('re.error', message);

/** Parses a replacement template of Python's `re.sub`. */
export function parseTemplate(template: string, names: ReadonlyMap<string, number>, groups: number): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let literal = '';
  let i = 0;
  const group = (index: number): void => {
    if (index > groups) throw error(`invalid group reference ${index}`);
    if (literal !== '') parts.push(literal);
    literal = '';
    parts.push(index);
  };
  while (i < template.length) {
    const c = template[i++] as string;
    if (c !== '\\') {
      literal += c;
      continue;
    }
    const e = template[i++];
    if (e === undefined) throw error('bad escape (end of pattern)');
    if (e === 'g') {
      if (template[i] !== '<') throw error('missing <');
      const close = template.indexOf('>', i);
      const name = close < 0 ? '' : template.slice(i + 1, close);
      if (close < 0 && template.length > i + 1) throw error('missing >, unterminated name');
      if (name === '') throw error('missing group name');
      i = close + 1;
      group(groupIndex(name, names));
    } else if (e === '0') {
      let digits = '0';
      while (digits.length < 3 && isOctal(template[i])) digits += template[i++];
      literal += String.fromCharCode(Number.parseInt(digits, 8) & 0xff);
    } else if (isDigit(e)) {
      let digits = e;
      if (isDigit(template[i])) {
        digits += template[i++];
        if (isOctal(digits[0]) && isOctal(digits[1]) && isOctal(template[i])) {
          digits += template[i++];
          const code = Number.parseInt(digits, 8);
          if (code > 0o377) throw error('octal escape value outside of range 0-0o377');
          literal += String.fromCharCode(code);
          continue;
        }
      }
      group(Number(digits));
    } else if (simple[e] !== undefined) literal += simple[e];
    else if (/[a-zA-Z]/.test(e)) throw error(`bad escape \\${e}`);
    else literal += `\\${e}`;
  }
  if (literal !== '') parts.push(literal);
  return parts;
}

function groupIndex(name: string, names: ReadonlyMap<string, number>): number {
  if (/^[\p{L}_][\p{L}\p{Nd}_]*$/u.test(name)) {
    const index = names.get(name);
    if (index === undefined) throw new YaqlError('IndexError', `unknown group name '${name}'`);
    return index;
  }
  if (!/^[0-9]+$/.test(name)) throw error(`bad character in group name '${name}'`);
  return Number(name);
}

/** A group that took no part in the match leaves nothing. */
export function expandTemplate(parts: readonly TemplatePart[], match: RegexMatch): string {
  let out = '';
  for (const part of parts) out += typeof part === 'string' ? part : (match.group(part) ?? '');
  return out;
}
