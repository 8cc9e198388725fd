import { EVENT_ID, type Event, parseEvents, SCALAR_STYLE, YAMLException } from 'js-yaml';

/** How many characters may still be read again; a text that needs more gets its error instead. */
export interface Rereading {
  left: number;
}

/** For all that is read of one file: a short file is read again often, a long one a few times. */
export const rereadingOf = (text: string): Rereading => ({ left: Math.min(8_000_000, 200_000 + 400 * text.length) });

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
export function parseYamlEvents(text: string, maxDepth = 100, rereading = rereadingOf(text)): Event[] {
  let readable = text;
  let first: YAMLException | undefined;
  for (;;) {
    try {
      const events = parseEvents(readable, { maxDepth });
      return first === undefined ? events : events.map((event) => asWritten(text, event));
    } catch (error) {
      if (!(error instanceof YAMLException)) throw error;
      rereading.left -= text.length;
      const next = rereading.left > 0 ? joinToLineAbove(readable, error) : undefined;
      // An unclosed bracket or quote swallows the following text: report the first line that does not fit.
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
  const commented = gapBefore(text, position, true);
  if (commented === undefined) return undefined;
  const last = text[blanksBefore(text, commented, ANY_BLANK) - 1] ?? '';
  // A comment is next to punctuation. Next to a word, it is part of a quoted text, or it ends the word: not valid YAML.
  const start =
    '[{,'.includes(last) || /[\]},]/.test(text[position] ?? '') ? commented : gapBefore(text, position, false);
  if (start === undefined) return undefined;
  return text.slice(0, start) + ' '.repeat(position - start) + text.slice(position);
}

const BLANK = ' \t';
const ANY_BLANK = ' \t\r\n';

/**
 * Where the line breaks before a line begin, with adjacent blanks and, on demand, the comments that end the lines above;
 * undefined where there are none. Goes back once: an expression would try each blank again.
 */
function gapBefore(text: string, position: number, withComments: boolean): number | undefined {
  let start: number | undefined;
  for (let at = blanksBefore(text, position, BLANK); ; at = start) {
    const end = lineEndBefore(text, at);
    if (end === undefined) return start;
    const comment = withComments ? commentIn(text, end) : undefined;
    start = comment ?? blanksBefore(text, end, BLANK);
  }
}

function blanksBefore(text: string, position: number, blanks: string): number {
  let at = position;
  while (at > 0 && blanks.includes(text[at - 1]!)) at--;
  return at;
}

/** Where the line break starts that ends at this place. */
function lineEndBefore(text: string, at: number): number | undefined {
  const last = text[at - 1];
  if (last !== '\n' && last !== '\r') return undefined;
  return last === '\n' && text[at - 2] === '\r' ? at - 2 : at - 1;
}

/** Where the comment of the line that ends here starts. */
function commentIn(text: string, lineEnd: number): number | undefined {
  let lineStart = lineEnd;
  while (lineStart > 0 && !'\r\n'.includes(text[lineStart - 1]!)) lineStart--;
  for (let at = text.indexOf('#', lineStart); at >= 0 && at < lineEnd; at = text.indexOf('#', at + 1))
    if (ANY_BLANK.includes(text[at - 1] ?? '.')) return at;
  return undefined;
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
