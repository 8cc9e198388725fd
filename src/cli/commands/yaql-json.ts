import { Float } from '@sitewright/yaql';

/** The number as written, if `JSON.parse` of this Node version provides it. */
interface ReviverContext {
  readonly source?: string;
}

/**
 * Parses JSON without loss in numbers: `1.0` and `1e3` become floats, long integers bigint. If
 * this Node version does not provide the source of numbers, they are marked in the text beforehand.
 */
export function fromLosslessJson(text: string): unknown {
  const mark = '\u0001number:';
  const strings = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;
  // Reject invalid JSON before replacing numbers with marked strings.
  JSON.parse(text);
  const marked = text.replace(strings, (token) =>
    token.startsWith('"') || isPlain(token) ? token : `"\\u0001number:${token}"`,
  );
  return JSON.parse(marked, (_key: string, value: unknown, _context?: ReviverContext) => {
    if (typeof value !== 'string' || !value.startsWith(mark)) return value;
    const source = value.slice(mark.length);
    return /^-?\d+$/.test(source) ? BigInt(source) : new Float(Number(source));
  });
}

/** Numbers that need no mark: safe integers, and fractions that are not integers. */
function isPlain(token: string): boolean {
  const value = Number(token);
  if (/^-?\d+$/.test(token)) return Number.isSafeInteger(value);
  return Number.isFinite(value) && !Number.isInteger(value);
}
