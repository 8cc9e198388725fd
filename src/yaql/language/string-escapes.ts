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

const sequence = /\\(?:U([^\n]{8})|u([^\n]{4})|x([^\n]{2})|([0-7]{1,3})|N\{([^}]+)\}|([\\'"abfnrtv]))/gu;

/**
 * Decodes the escapes of a quoted string. Other backslash sequences stay as they are, so that patterns need no
 * doubling. UnicodeDecodeError for `\x`, `\u`, `\U` without hex digits, and for an unknown `\N{name}`.
 */
export function decodeEscapes(text: string, offset: number): string {
  if (!text.includes('\\')) return text;
  return text.replace(sequence, (whole, long, short, byte, octal, name, plain) => {
    const hex = (long ?? short ?? byte) as string | undefined;
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
  });
}

const decodeError = (sequenceText: string, offset: number): YaqlError =>
  new YaqlError('UnicodeDecodeError', `Cannot decode the escape sequence ${sequenceText}`, { offset });
