import type { Row } from './table.ts';

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
