/**
 * Strings of the language are sequences of code points; JavaScript's are sequences of UTF-16 units. All positions go
 * through this file. Strings without surrogates, nearly all of them, take the direct way.
 */
const surrogate = /[\ud800-\udfff]/;

/** Number of code points. */
export function textLength(text: string): number {
  if (!surrogate.test(text)) return text.length;
  let n = 0;
  for (const _ of text) n++;
  return n;
}

/** Python's `text[start:end]` for bounds already made non-negative. */
export function sliceText(text: string, start: number, end: number): string {
  if (start >= end) return '';
  if (!surrogate.test(text)) return text.slice(start, end);
  return Array.from(text).slice(start, end).join('');
}

/** Order by code point, as Python has it (UTF-16 order differs above U+D7FF). */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const n = Math.min(a.length, b.length);
  for (let i = 0; i < n; i++) {
    let x = a.charCodeAt(i);
    let y = b.charCodeAt(i);
    if (x !== y) {
      // Moves surrogates behind the rest of the basic plane, which is where their code points are.
      if (x >= 0xd800 && y >= 0xd800) {
        x = x >= 0xe000 ? x - 0x800 : x + 0x2000;
        y = y >= 0xe000 ? y - 0x800 : y + 0x2000;
      }
      return x < y ? -1 : 1;
    }
  }
  return a.length < b.length ? -1 : 1;
}

/** Class of the characters for which Python's `str.isspace` holds. */
export const blank = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const leadingBlanks = new RegExp(`^${blank}+`);
const blanks = new RegExp(`${blank}+`, 'g');
const oneBlank = new RegExp(`^${blank}$`);

export const isBlank = (character: string): boolean => oneBlank.test(character);

const trimLeftBlanks = (text: string): string => text.replace(leadingBlanks, '');

function trimRightBlanks(text: string): string {
  let end = text.length;
  while (end > 0 && isBlank(text[end - 1] as string)) end--;
  return text.slice(0, end);
}

export const trimWhitespace = (text: string): string => trimRightBlanks(trimLeftBlanks(text));

/** Removes from the chosen ends all characters in `characters`; null means whitespace. */
export function trimText(text: string, characters: string | null, left: boolean, right: boolean): string {
  if (characters === null) {
    const start = left ? trimLeftBlanks(text) : text;
    return right ? trimRightBlanks(start) : start;
  }
  const set = new Set(characters);
  const points = Array.from(text);
  let start = 0;
  let end = points.length;
  if (left) while (start < end && set.has(points[start] as string)) start++;
  if (right) while (end > start && set.has(points[end - 1] as string)) end--;
  return points.slice(start, end).join('');
}

/** Python's `split`: null separator means runs of whitespace; `limit` < 0 means no limit. */
export function splitText(text: string, separator: string | null, limit: number): string[] {
  if (separator !== null) {
    const parts = text.split(separator);
    if (limit < 0 || parts.length <= limit + 1) return parts;
    return [...parts.slice(0, limit), parts.slice(limit).join(separator)];
  }
  const parts: string[] = [];
  let rest = trimLeftBlanks(text);
  if (limit < 0) {
    const all = rest.split(blanks);
    return all.filter((part) => part !== '');
  }
  while (rest !== '') {
    if (parts.length === limit) {
      parts.push(rest);
      break;
    }
    const end = rest.search(new RegExp(blank));
    if (end < 0) {
      parts.push(rest);
      break;
    }
    parts.push(rest.slice(0, end));
    rest = trimLeftBlanks(rest.slice(end));
  }
  return parts;
}

/** Python's `rsplit`. */
export function splitTextFromRight(text: string, separator: string | null, limit: number): string[] {
  if (limit < 0) return splitText(text, separator, limit);
  if (separator !== null) {
    const parts = text.split(separator);
    if (parts.length <= limit + 1) return parts;
    const cut = parts.length - limit;
    return [parts.slice(0, cut).join(separator), ...parts.slice(cut)];
  }
  const parts: string[] = [];
  let rest = trimRightBlanks(text);
  while (rest !== '') {
    let start = rest.length;
    while (start > 0 && !isBlank(rest[start - 1] as string)) start--;
    if (parts.length === limit || start === 0) {
      parts.unshift(rest);
      break;
    }
    parts.unshift(rest.slice(start));
    rest = trimRightBlanks(rest.slice(0, start));
  }
  return parts;
}

/** Python's `replace`: an empty `old` matches between all characters; `count` < 0 means all. */
export function replaceText(text: string, old: string, replacement: string, count: number): string {
  if (count === 0) return text;
  if (old === '') {
    const points = Array.from(text);
    const places = count < 0 ? points.length + 1 : Math.min(count, points.length + 1);
    let out = '';
    for (let i = 0; i <= points.length; i++) {
      if (i < places) out += replacement;
      if (i < points.length) out += points[i] as string;
    }
    return out;
  }
  if (count < 0) return text.split(old).join(replacement);
  const parts = text.split(old);
  if (parts.length <= count + 1) return parts.join(replacement);
  return [...parts.slice(0, count), parts.slice(count).join(old)].join(replacement);
}

/** Clamps Python slice bounds to `0..length`, with negative ones counted from the end. */
function clampBound(bound: number, length: number): number {
  if (bound < 0) return Math.max(0, bound + length);
  return Math.min(bound, length);
}

/** Python's `find`: -1 when absent; bounds as in a slice. */
export function findText(text: string, sought: string, start: number, end: number, last: boolean): number {
  const length = textLength(text);
  if (start > length) return -1;
  const from = clampBound(start, length);
  const to = clampBound(end, length);
  if (from > to) return -1;
  if (!surrogate.test(text)) {
    const slice = text.slice(from, to);
    const at = last ? slice.lastIndexOf(sought) : slice.indexOf(sought);
    return at < 0 ? -1 : at + from;
  }
  const slice = sliceText(text, from, to);
  const at = last ? slice.lastIndexOf(sought) : slice.indexOf(sought);
  return at < 0 ? -1 : textLength(slice.slice(0, at)) + from;
}

/** Python's `splitlines`. */
export function splitLines(text: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are searched for.
  const lines = text.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/);
  if (lines[lines.length - 1] === '') lines.pop();
  return lines;
}
