import { YaqlError } from '../errors.ts';
import { characterByName } from './character-names.ts';

const single: Record<string, string> = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** At a backslash. The name of a character is looked for only where a brace closes one. */
const sequence = /\\(?:U([^\n]{8})|u([^\n]{4})|x([^\n]{2})|([0-7]{1,3})|N\{([^}]+)\}|([\\'"abfnrtv]))/uy;
const unnamed = /\\(?:U([^\n]{8})|u([^\n]{4})|x([^\n]{2})|([0-7]{1,3})|([\\'"abfnrtv]))/uy;

/**
 * Decodes the escapes of a quoted string. Other backslash sequences stay as they are, so that patterns need no
 * doubling. UnicodeDecodeError for `\x`, `\u`, `\U` without hex digits, and for an unknown `\N{name}`.
 */
export function decodeEscapes(text: string, offset: number): string {
  if (!text.includes('\\')) return text;
  const lastBrace = text.lastIndexOf('}');
  let out = '';
  let from = 0;
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at)) {
    const expression = at < lastBrace ? sequence : unnamed;
    expression.lastIndex = at;
    const found = expression.exec(text);
    if (found === null) {
      at += 1;
      continue;
    }
    out += text.slice(from, at) + decoded(found, expression === sequence, offset);
    from = at = expression.lastIndex;
  }
  return out + text.slice(from);
}

function decoded([whole, ...groups]: RegExpExecArray, isNamed: boolean, offset: number): string {
  const [long, short, byte, octal] = groups;
  const name = isNamed ? groups[4] : undefined;
  const plain = groups.at(-1);
  const hex = long ?? short ?? byte;
  if (hex !== undefined) {
    const code = /^[0-9a-fA-F]+$/.test(hex) ? Number.parseInt(hex, 16) : -1;
    if (code < 0 || code > 0x10ffff) throw decodeError(whole, offset);
    return String.fromCodePoint(code);
  }
  if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
  if (name !== undefined) {
    const character = characterByName(name);
    if (character === null) throw decodeError(whole, offset);
    return character;
  }
  return single[plain as string] as string;
}

const decodeError = (sequenceText: string, offset: number): YaqlError =>
  new YaqlError('UnicodeDecodeError', `Cannot decode the escape sequence ${sequenceText}`, { offset });
