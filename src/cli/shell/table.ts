import { printable } from '../../core/text/control-characters.ts';
import { someOf } from '../../core/text/text.ts';
import { formatDistance, formatMoment } from '../views/duration.ts';

/** One row: values by column name. */
export type Row = Readonly<Record<string, unknown>>;

/** A value as one line of text for people. */
function cellText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  const text = Array.isArray(value)
    ? value.map(cellText).join(',')
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);
  return printable(text);
}

const bold = (text: string, color: boolean): string => (color ? `\u001b[1m${text}\u001b[0m` : text);

/**
 * A column is not made narrower than this or its heading; rather the last columns are left out. Kinds and states of runs
 * stay whole, all but the longest state.
 */
const NARROWEST = 14;
/** Explanations are of no use when they are cut: they go on in the next line, and need some space for that. */
const EXPLANATIONS: ReadonlySet<string> = new Set(['message', 'hint', 'reason', 'problem', 'said', 'fix']);
const NARROWEST_EXPLANATION = 16;

/** The terminal that a table is for. Programs get the values as they are. */
export interface Screen {
  /** Characters in a line. */
  readonly columns: number;
  /** Milliseconds since 1970: times are shown with how long ago they were. */
  readonly now: number;
}

/**
 * Columns as wide as their widest value, headings in capitals. Numbers are right-aligned.
 * The last column is not padded, so that no line ends in spaces.
 *
 * On a screen, long values are cut, the widest columns first, but never the first column, which names the row;
 * explanations are wrapped instead, and times become `4 min ago`. Columns left out are named below.
 */
export function formatTable(rows: readonly Row[], columns: readonly string[], color = false, screen?: Screen): string {
  const most = screen?.columns ?? Number.POSITIVE_INFINITY;
  const heads = columns.map((column) => column.toUpperCase().replaceAll('_', ' '));
  const full = rows.map((row) =>
    columns.map((column) => (screen && timeCell(row[column], screen.now)) ?? cellText(row[column])),
  );
  const isNumeric = columns.map((column) => rows.length > 0 && rows.every((row) => typeof row[column] === 'number'));
  const widest = (at: number, texts: readonly (readonly string[])[]): number =>
    texts.reduce((most, line) => Math.max(most, width(line[at]!)), width(heads[at]!));
  // Where the table does not fit, a time is its distance from now alone.
  const isTight = columns.reduce((sum, _, at) => sum + widest(at, full) + 2, -2) > most;
  const cells =
    screen && isTight
      ? full.map((line, row) =>
          line.map((text, at) => {
            const value = rows[row]![columns[at]!];
            return isMoment(value) ? formatDistance(value, screen.now) : text;
          }),
        )
      : full;
  const isTime = columns.map((column) => screen !== undefined && rows.some((row) => isMoment(row[column])));
  const widths = fitted(
    heads.map((_, at) => widest(at, cells)),
    heads.map((head, at) =>
      isTime[at]
        ? widest(at, cells)
        : Math.max(EXPLANATIONS.has(columns[at]!) ? NARROWEST_EXPLANATION : NARROWEST, width(head)),
    ),
    most,
  );
  const lay = (line: readonly string[]): string =>
    widths
      .map((most, at) => {
        const text = line[at] ?? '';
        const gap = ' '.repeat(most - width(text));
        return isNumeric[at] ? gap + text : text + gap;
      })
      .join('  ')
      .trimEnd();
  const linesOf = (row: readonly string[]): string[] => {
    const texts = widths.map((most, at) =>
      EXPLANATIONS.has(columns[at]!) ? wrapped(row[at]!, most) : [cut(row[at]!, most)],
    );
    const height = texts.reduce((tallest, one) => Math.max(tallest, one.length), 1);
    return Array.from({ length: height }, (_, line) => lay(texts.map((one) => one[line] ?? '')));
  };
  const omitted = columns.slice(widths.length);
  const more =
    omitted.length === 0 ? [] : wrapped(`more columns, with -c NAME or -f json: ${omitted.join(', ')}`, most);
  return [bold(lay(heads), color), ...cells.flatMap(linesOf), ...more].map((line) => `${line}\n`).join('');
}

const isMoment = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);

/** A moment as people read it; undefined for any other value. */
const timeCell = (value: unknown, now: number): string | undefined =>
  isMoment(value) ? formatMoment(value, now) : undefined;

/** Widths of the columns that fit, from the first one. */
function fitted(widths: readonly number[], least: readonly number[], most: number): number[] {
  const fit = [...widths];
  for (;;) {
    const excess = fit.reduce((sum, one) => sum + one + 2, -2) - most;
    if (excess <= 0) return fit;
    const widest = fit.reduce(
      (found, one, at) => (at > 0 && one > least[at]! && (found === 0 || one > fit[found]!) ? at : found),
      0,
    );
    if (widest > 0) fit[widest] = Math.max(least[widest]!, fit[widest]! - excess);
    else if (fit.length > 1) fit.pop();
    else return fit;
  }
}

/** The start of a text that fits, with a mark that it goes on. */
function cut(text: string, most: number): string {
  if (width(text) <= most) return text;
  let start = '';
  for (const character of text) {
    if (width(start + character) > most - 1) break;
    start += character;
  }
  return `${start}…`;
}

/** Lines of whole words; only words that are longer than a line are broken. */
function wrapped(text: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && width(last) + 1 + width(word) <= most) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(...broken(word, most));
  }
  return lines;
}

function broken(word: string, most: number): string[] {
  const parts = [''];
  for (const character of word) {
    const part = `${parts.at(-1)!}${character}`;
    if (width(part) <= most) parts[parts.length - 1] = part;
    else parts.push(character);
  }
  return parts;
}

/** One record as `name  value` lines; on a terminal, `now` makes times readable. */
export function formatRecord(record: Row, color = false, now?: number): string {
  const entries = Object.entries(record);
  const names = Math.max(0, ...entries.map(([name]) => width(name)));
  return entries
    .map(([name, value]) =>
      `${bold(name.padEnd(names), color)}  ${(now && timeCell(value, now)) || listText(value)}`.trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** So many values of a list are shown of a record: `-f json` has them all. */
const LISTED = 12;

const listText = (value: unknown): string =>
  Array.isArray(value) ? someOf(value.map(cellText), LISTED, ',') : cellText(value);

/** Terminal columns, counting code points and the wide ones of East Asian scripts twice. */
function width(text: string): number {
  let columns = 0;
  for (const character of text) {
    if (/\p{M}/u.test(character)) continue;
    columns += /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/.test(
      character,
    )
      ? 2
      : 1;
  }
  return columns;
}
