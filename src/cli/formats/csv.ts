import type { Row } from './table.js';

/** RFC 4180: a heading line, CRLF between lines, quotes where a value needs them. Lists are joined by spaces. */
export function formatCsv(rows: readonly Row[], columns: readonly string[]): string {
  const lines = [columns.map(quoted), ...rows.map((row) => columns.map((column) => quoted(plain(row[column]))))];
  return lines.map((line) => `${line.join(',')}\r\n`).join('');
}

function plain(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(plain).join(' ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const quoted = (text: string): string => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
