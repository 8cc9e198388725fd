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

/** Keeps control characters of untrusted texts away from the terminal. */
export const printable = (text: string): string =>
  text.replace(/[\t\n\r]+/g, ' ').replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '\uFFFD');

const bold = (text: string, color: boolean): string => (color ? `\u001b[1m${text}\u001b[0m` : text);

/**
 * Columns as wide as their widest value, headings in capitals. Numbers are right-aligned.
 * The last column is not padded, so that no line ends in spaces.
 */
export function formatTable(rows: readonly Row[], columns: readonly string[], color = false): string {
  const heads = columns.map((column) => column.toUpperCase().replaceAll('_', ' '));
  const cells = rows.map((row) => columns.map((column) => cellText(row[column])));
  const numeric = columns.map((column) => rows.length > 0 && rows.every((row) => typeof row[column] === 'number'));
  const widths = heads.map((head, at) => Math.max(width(head), ...cells.map((line) => width(line[at]!))));
  const lay = (line: readonly string[]): string =>
    line
      .map((text, at) => {
        const gap = ' '.repeat(widths[at]! - width(text));
        return numeric[at] ? gap + text : text + gap;
      })
      .join('  ')
      .trimEnd();
  return [bold(lay(heads), color), ...cells.map(lay)].map((line) => `${line}\n`).join('');
}

/** One record as `name  value` lines. */
export function formatRecord(record: Row, color = false): string {
  const entries = Object.entries(record);
  const names = Math.max(0, ...entries.map(([name]) => width(name)));
  return entries
    .map(([name, value]) => `${bold(name.padEnd(names), color)}  ${cellText(value)}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('');
}

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
