import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../../src/core/problems/diagnostic.ts';
import { formatCounts, formatDiagnosticLine, formatDiagnostics, loadSite } from '../../../src/documents/index.ts';

const golden = new URL('../../golden/documents/', import.meta.url);
const folder = new URL('broken-site/', golden);
const files = readdirSync(folder)
  .sort()
  .map((name) => ({ name: `broken-site/${name}`, text: readFileSync(new URL(name, folder), 'utf8') }));
const { diagnostics } = loadSite(files);
const path = (name: string) => fileURLToPath(new URL(name, golden));

describe('a site full of mistakes', () => {
  it('is printed with places, source lines and hints', async () => {
    await expect(formatDiagnostics(diagnostics, files)).toMatchFileSnapshot(path('broken-site.golden.txt'));
  });

  it('is printed with one line for each', async () => {
    const lines = diagnostics.map((diagnostic) => `${formatDiagnosticLine(diagnostic)}\n`).join('');
    await expect(lines).toMatchFileSnapshot(path('broken-site.lines.golden.txt'));
  });

  it('is the same text in colour', () => {
    const colored = formatDiagnostics(diagnostics, files, { color: true });
    expect(colored).toContain('\u001b[1;31merror[');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours are such
    expect(colored.replace(/\u001b\[[\d;]*m/g, '')).toBe(formatDiagnostics(diagnostics, files));
  });
});

describe('one diagnostic', () => {
  const base: Diagnostic = { severity: 'error', code: 'x.y', message: 'm' };

  it.each<[string, Diagnostic, string, string]>([
    ['without any place', base, '', 'error[x.y]: m\n\n1 error\n'],
    [
      'without a file name, of the only text',
      { ...base, line: 1, column: 3, text: 'b' },
      'a b',
      '1:3: error[x.y]: m\n  1 | a b\n    |   ^\n\n1 error\n',
    ],
    [
      'at the end of a line',
      { ...base, file: 'f', line: 1, column: 4, text: 'x' },
      'a b',
      'f:1:4: error[x.y]: m\n  1 | a b\n    |    ^\n\n1 error\n',
    ],
    [
      'beyond the text',
      { ...base, file: 'f', line: 9, column: 1, text: 'x' },
      'a',
      'f:9:1: error[x.y]: m\n\n1 error\n',
    ],
    [
      'after wide characters',
      { ...base, file: 'f', line: 2, column: 4, text: 'bcd' },
      '\r\n😀: bcd',
      'f:2:4: error[x.y]: m\n  2 | 😀: bcd\n    |    ^~~\n\n1 error\n',
    ],
    [
      'with control characters',
      { ...base, file: 'f', line: 1, column: 1, text: '\u001b[2J', message: 'no \u001b[2J' },
      '\u001b[2Jx',
      'f:1:1: error[x.y]: no \uFFFD[2J\n  1 | \uFFFD[2Jx\n    | ^~~~\n\n1 error\n',
    ],
  ])('%s', (_what, diagnostic, text, printed) => {
    expect(formatDiagnostics([diagnostic], [{ name: 'f', text }])).toBe(printed);
    expect(formatDiagnostics([diagnostic], new Map([['f', text]]))).toBe(printed);
  });

  it('is printed with a long line cut around its place', () => {
    const text = `${'x'.repeat(500)}HERE${'y'.repeat(500)}`;
    const printed = formatDiagnostics(
      [{ ...base, file: 'f', line: 1, column: 501, text: 'HERE' }],
      [{ name: 'f', text }],
    );
    const [, shown, marker] = printed.split('\n');
    expect(shown!.length).toBeLessThan(140);
    expect(shown!.slice(marker!.indexOf('^'))).toMatch(/^HEREy/);
    expect(marker).toMatch(/ \^~~~$/);
  });
});

it('counts of errors and warnings have the right plural', () => {
  const of = (severity: Diagnostic['severity']): Diagnostic => ({ severity, code: 'a.b', message: '' });
  expect(formatCounts([of('error'), of('error'), of('warning'), of('info')])).toBe('2 errors, 1 warning, 1 remark');
  expect(formatDiagnostics([], [])).toBe('');
});
