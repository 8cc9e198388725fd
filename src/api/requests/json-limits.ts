import { RequestError } from '../problems/transport-problem.ts';

/** Deeper than anything we accept. */
const DEEPEST = 64;

/** Default limit of values in a body. */
const MAX_VALUES = 50_000;

/** The members of an object beyond these cost about four times as much as others. */
const WIDE = 1_000;
const WIDE_WEIGHT = 4;

/**
 * Refuses a text of JSON that is nested too deep or has too many values, before it is parsed: the cost of parsing and
 * checking depends on the number of values, and two bytes are enough for one. Whether it is JSON at all is not its concern.
 *
 * @param maxValues the members of wide objects count more than once
 * @throws RequestError `invalid`
 */
export function refuseLargeJson(text: string, maxValues = MAX_VALUES): void {
  /** Members so far, of the objects and lists that are open; below 0: of a list. */
  const open: number[] = [];
  let values = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        i = endOfString(text, i);
        break;
      case OPEN_OBJECT:
      case OPEN_LIST:
        if (open.length === DEEPEST) throw tooDeep();
        open.push(text.charCodeAt(i) === OPEN_OBJECT ? 1 : Number.NEGATIVE_INFINITY);
        values += 1;
        break;
      case COMMA: {
        const members = (open.pop() ?? 0) + 1;
        open.push(members);
        values += members > WIDE ? WIDE_WEIGHT : 1;
        break;
      }
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        open.pop();
    }
    if (values > maxValues) throw tooMany(maxValues);
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;

/** Index of the closing quote of the string that opens at `start`, or of the end of the text. */
function endOfString(text: string, start: number): number {
  // Most strings have no backslash, and the engine looks for their ends faster than a loop.
  const end = text.indexOf('"', start + 1);
  if (end === -1) return text.length;
  if (text.charCodeAt(end - 1) !== BACKSLASH) return end;
  for (let i = start + 1; i < text.length; i++) {
    const character = text.charCodeAt(i);
    if (character === BACKSLASH) i += 1;
    else if (character === QUOTE) return i;
  }
  return text.length;
}

const tooDeep = () =>
  new RequestError({
    code: 'invalid',
    message: `the body is nested more than ${DEEPEST} levels deep`,
    hint: 'No valid input is nested this deeply: is it the right file?',
  });

const tooMany = (most: number) =>
  new RequestError({
    code: 'invalid',
    message: `the body has more than ${most} JSON values`,
    hint: 'Split the request; members of an object beyond the first thousand count four times.',
  });
