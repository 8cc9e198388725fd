import { type JsonReading, readJsonValue } from '../../documents/reader/read-json.ts';
import { locate, SourceText } from '../../documents/reader/source-text.ts';

/** A value of a text of cases, or why it could not be read. `line` counts from 1; 0 for a value among others of a list. */
type JsonCase =
  | { readonly line: number; readonly ok: true; readonly value: unknown }
  | { readonly line: number; readonly ok: false; readonly column: number; readonly message: string };

/** Reads one JSON value over any number of lines, a list of values, or one value per line. */
export function readJsonCases(text: string): readonly JsonCase[] {
  const content = text.replace(/^\uFEFF/, '');
  const whole = read(content);
  if (whole.ok) {
    if (!Array.isArray(whole.root)) return [{ line: 1, ok: true, value: whole.root }];
    return whole.root.map((value: unknown) => ({ line: 0, ok: true, value }));
  }
  const cases = content.split('\n').flatMap((line, index): JsonCase[] => {
    if (line.trim() === '') return [];
    const one = read(line);
    return [one.ok ? { line: index + 1, ok: true, value: one.root } : { ...problemOf(one), line: index + 1 }];
  });
  // If no line is JSON, the text is one value, and its problem is the one to report.
  return cases.some(({ ok }) => ok) ? cases : [problemOf(whole)];
}

const read = (text: string) =>
  readJsonValue(new SourceText(text), { maxDepth: 500, constants: false }, (_, value) => value);

function problemOf({ message, at }: Extract<JsonReading<unknown>, { ok: false }>): JsonCase {
  const { line, column } = locate(at);
  return { line, ok: false, column, message };
}
