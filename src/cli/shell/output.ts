import { Option } from 'commander';
import { usageError } from './problem.ts';
import { formatRecord, formatTable, type Row, type Screen } from './table.ts';
import type { Terminal } from './terminal.ts';

const FORMATS = ['table', 'json', 'yaml', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

/** Tables and csv are for people: lists in cells, no objects. */
export const isTabular = ({ format }: OutputFlags): boolean => format === 'table' || format === 'csv';

/** The values of `-f` and `-c`. */
export interface OutputFlags {
  readonly format: Format;
  readonly column?: readonly string[];
}

export const formatOption = (): Option =>
  new Option('-f, --format <format>', 'how to print').choices([...FORMATS]).default('table');

export const columnOption = (): Option =>
  new Option('-c, --column <name>', 'print only this column; repeatable').argParser(
    (name: string, before: readonly string[] | undefined) => [...(before ?? []), name],
  );

/** Prints a list. `columns` are the default columns of a table; without `-c`, json and yaml have all fields. */
export async function printList(
  terminal: Terminal,
  flags: OutputFlags,
  rows: readonly object[],
  columns: readonly string[],
): Promise<void> {
  const list = rows as readonly Row[];
  const known = [...new Set([...columns, ...list.flatMap((row) => Object.keys(row))])];
  const unknown = (flags.column ?? []).filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw usageError(`there is no column ${unknown.join(', ')}`, `Columns are: ${known.join(', ')}.`);
  const shown = flags.column ?? columns;
  switch (flags.format) {
    case 'table':
      return terminal.out(formatTable(list, shown, terminal.color, screenOf(terminal)));
    case 'csv':
      return terminal.out(formatCsv(list, shown));
    default:
      return printData(terminal, flags.format, flags.column ? list.map((row) => pick(row, shown)) : list);
  }
}

const screenOf = ({ columns, now }: Terminal): Screen | undefined =>
  columns === undefined ? undefined : { columns, now: now() };

/** Prints one record: `text` for people, all fields for programs; csv has one line with its plain fields. */
export async function printOne(
  terminal: Terminal,
  flags: OutputFlags,
  record: object,
  text?: string | ((color: boolean) => string),
): Promise<void> {
  const row = record as Row;
  const unknown = (flags.column ?? []).filter((name) => !Object.hasOwn(row, name));
  if (unknown.length > 0)
    throw usageError(`there is no field ${unknown.join(', ')}`, `Fields are: ${Object.keys(row).join(', ')}.`);
  const picked = flags.column ? pick(row, flags.column) : row;
  switch (flags.format) {
    case 'table':
      if (text === undefined || flags.column)
        return terminal.out(formatRecord(picked, terminal.color, screenOf(terminal)?.now));
      return terminal.out(typeof text === 'string' ? text : text(terminal.color));
    case 'csv':
      return terminal.out(formatCsv([picked], Object.keys(picked)));
    default:
      return printData(terminal, flags.format, picked);
  }
}

/** Prints documents: as YAML for people, as a list for programs. */
export async function printDocuments(
  terminal: Terminal,
  flags: OutputFlags,
  documents: readonly object[],
): Promise<void> {
  if (flags.column !== undefined || flags.format === 'csv') return printList(terminal, flags, documents, ['schema']);
  if (flags.format !== 'table') return printData(terminal, flags.format, documents);
  for (const document of documents) terminal.out(`---\n${await yamlText(document)}`);
}

async function printData(terminal: Terminal, format: 'json' | 'yaml', data: unknown): Promise<void> {
  if (format === 'json') return terminal.out(`${JSON.stringify(data, null, 2)}\n`);
  terminal.out(await yamlText(data));
}

/** JSON data as YAML text. */
export async function yamlText(data: unknown): Promise<string> {
  const { dump } = await import('js-yaml');
  return dump(JSON.parse(JSON.stringify(data)), { noRefs: true });
}

const pick = (row: Row, names: readonly string[]): Row =>
  Object.fromEntries(names.map((name) => [name, row[name] ?? null]));

/**
 * RFC 4180: a heading line, CRLF between lines, quotes where a value needs them. Lists are joined by spaces. Spreadsheets
 * evaluate texts that begin like a formula, and the texts are foreign: such a text gets an apostrophe, as OWASP recommends.
 */
export function formatCsv(rows: readonly Row[], columns: readonly string[]): string {
  const lines = [columns.map(quoted), ...rows.map((row) => columns.map((column) => quoted(plain(row[column]))))];
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}

function plain(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(plain).join(' ');
  return typeof value === 'object' ? JSON.stringify(value) : harmless(String(value));
}

const harmless = (text: string): string => {
  const shown = text.replace(/(?![\t\n\r])\p{Cc}/gu, '\uFFFD');
  return /^["'\s]*[=+\-@＝＋－＠]|^[\t\r]/.test(shown) && !/^[+-]?\d+(?:\.\d+)?$/.test(shown) ? `'${shown}` : shown;
};

const quoted = (text: string): string => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
