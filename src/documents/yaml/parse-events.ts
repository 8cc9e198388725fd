import { type Event, parseEvents, YAMLException } from 'js-yaml';

/** Characters that may be read again in all; a text that needs more gets its error instead. */
const REREAD_BUDGET = 16_000_000;

/**
 * js-yaml's events of a text, with one thing allowed that YAML 1.2 forbids and PyYAML takes, and that
 * real files do (Fuel's own release fixture): a closing bracket on a line of its own, indented no more
 * than the key its list belongs to.
 *
 *     nics: [
 *       "8086:10f8"
 *     ]
 *
 * Offsets are those of `text`.
 * @throws YAMLException for what is not YAML.
 */
export function parseYamlEvents(text: string, maxDepth = 100): Event[] {
  let readable = text;
  let budget = REREAD_BUDGET;
  for (;;) {
    try {
      return parseEvents(readable, { maxDepth });
    } catch (error) {
      budget -= text.length;
      const next = budget > 0 && error instanceof YAMLException ? joinClosingBracket(readable, error) : undefined;
      if (next === undefined) throw error;
      readable = next;
    }
  }
}

/** Blanks the line break before the bracket the parser stumbled over: it then ends the line above, at the same offset. */
function joinClosingBracket(text: string, error: YAMLException): string | undefined {
  const position = error.mark?.position ?? -1;
  if (error.reason !== 'deficient indentation' || !/[\]}]/.test(text[position] ?? '')) return undefined;
  const before = text.slice(Math.max(0, position - 10_000), position);
  const gap = /(?:[ \t]*(?:\r\n|\r|\n))+[ \t]*$/.exec(before);
  if (!gap) return undefined;
  // A bracket after a comment would become part of it.
  const lineAbove = before
    .slice(0, gap.index)
    .split(/[\r\n]/)
    .at(-1)!;
  if (/(?:^|\s)#/.test(lineAbove)) return undefined;
  return text.slice(0, position - gap[0].length) + ' '.repeat(gap[0].length) + text.slice(position);
}
