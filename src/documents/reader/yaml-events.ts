import { EVENT_ID, type Event, parseEvents, SCALAR_STYLE, YAMLException } from 'js-yaml';

/** Limit of characters to read again in total; a text that needs more gets its error instead. */
const REREAD_BUDGET = 16_000_000;

/**
 * js-yaml's events of a text. Accepts one thing that YAML 1.2 forbids, PyYAML accepts and real files contain
 * (Fuel's own release fixture): lines of a bracketed list or mapping, or of a quoted text, that are indented no more
 * than the key they belong to.
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
  let first: YAMLException | undefined;
  for (;;) {
    try {
      const events = parseEvents(readable, { maxDepth });
      return first === undefined ? events : events.map((event) => asWritten(text, event));
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error;
      budget -= text.length;
      const next = budget > 0 ? joinToLineAbove(readable, error) : undefined;
      // A bracket or quote that is never closed swallows what follows: report the first line that does not fit.
      if (next === undefined) throw /flow|quoted|stream/.test(error.reason) ? (first ?? error) : error;
      first ??= error;
      readable = next;
    }
  }
}

/** Blanks the line breaks before the line that failed: it then continues the line above, at the same offset. */
function joinToLineAbove(text: string, error: YAMLException): string | undefined {
  const position = error.mark?.position ?? -1;
  if (error.reason !== 'deficient indentation' || position < 0) return undefined;
  const before = text.slice(Math.max(0, position - 10_000), position);
  const commented = /(?:(?:(?<=\s)#[^\r\n]*)?[ \t]*(?:\r\n|\r|\n))+[ \t]*$/.exec(before);
  if (!commented) return undefined;
  const last = before.slice(0, commented.index).trimEnd().at(-1) ?? '';
  // A comment is next to punctuation. Next to a word, it is part of a quoted text, or it ends the word: not valid YAML.
  const gap =
    '[{,'.includes(last) || /[\]},]/.test(text[position] ?? '')
      ? commented
      : /(?:[ \t]*(?:\r\n|\r|\n))+[ \t]*$/.exec(before);
  if (!gap) return undefined;
  return text.slice(0, position - gap[0].length) + ' '.repeat(gap[0].length) + text.slice(position);
}

/** Folds the lines of a scalar that was read as one line. */
function asWritten(text: string, event: Event): Event {
  if (event.type !== EVENT_ID.SCALAR || !event.fast) return event;
  if (event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK) return event;
  return /[\r\n]/.test(text.slice(event.valueStart, event.valueEnd)) ? { ...event, fast: false } : event;
}

/** A range of a text, as offsets. */
interface Range {
  readonly start: number;
  readonly end: number;
}

const NOWHERE: Range = { start: -1, end: -1 };

/** More than any diagnostic shows of a line. */
const LONGEST_LINE = 400;

/**
 * The range of a value in the text, quotes included; for a collection, only its start. Both are -1 for a value
 * that is not written (`key:`).
 */
export function eventRange(source: string, event: Event): Range {
  switch (event.type) {
    case EVENT_ID.SCALAR: {
      const { valueStart, valueEnd, style } = event;
      if (valueStart < 0) return event.tagStart < 0 ? NOWHERE : { start: event.tagStart, end: event.tagEnd };
      if (style === SCALAR_STYLE.PLAIN) return { start: valueStart, end: valueEnd };
      if (style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED)
        return { start: valueStart - 1, end: valueEnd + 1 };
      const indent = /^\s*/.exec(source.slice(valueStart, valueEnd))![0].length;
      return { start: valueStart + indent, end: valueEnd };
    }
    case EVENT_ID.SEQUENCE:
    case EVENT_ID.MAPPING:
      return { start: event.start, end: event.start + LONGEST_LINE };
    case EVENT_ID.ALIAS:
      return { start: event.anchorStart - 1, end: event.anchorEnd };
    default:
      return NOWHERE;
  }
}
