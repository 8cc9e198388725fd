import { describe, expect, it } from 'vitest';
import { loadSite, parseYaml } from '../../../src/documents/index.ts';
import { parseYamlEvents, rereadingOf } from '../../../src/documents/reader/yaml-events.ts';
import { growthOf, MUCH_GROWTH } from '../../rig/growth.ts';

// Each text is one idea of someone who means harm: long runs of one thing, and lines that are indented badly.
const HOSTILE: readonly (readonly [string, (size: number) => string])[] = [
  ['blanks', (n) => `a: [${' '.repeat(n)}`],
  ['blanks before a line that is not indented', (n) => `k: [\n${' '.repeat(n)}\nx`],
  ['empty lines before a line that is not indented', (n) => `k:\n  j: [a,\n${'\n'.repeat(n)}b ]\n`],
  ['lines of blanks before a line that is not indented', (n) => `k:\n  j: "a\n${'  \t \n'.repeat(n / 5)}b"\n`],
  [
    'blanks at the ends of lines that are not indented',
    (n) => `k:\n  j: [\n${`a,${' '.repeat(n / 20)}\n`.repeat(20)}]\n`,
  ],
  ['comments before a line that is not indented', (n) => `k:\n  j: [a,\n${'# c\n'.repeat(n / 4)}b ]\n`],
  ['hash signs in a line before one that is not indented', (n) => `k:\n  j: [a, ${' #'.repeat(n / 2)}\nb ]\n`],
  ['empty lines as of Windows above', (n) => `# c\n${'\r\n'.repeat(n / 2)}k:\n  j: [a,\nb ]\n`],
  ['carriage returns', (n) => `k:\n  j: [a,\n${'\r'.repeat(n)}b ]\n`],
  ['tabs', (n) => `k: ${'\t'.repeat(n)}x`],
  ['brackets that are never closed', (n) => '['.repeat(n)],
  ['quotes that are never closed', (n) => `a: "${'x'.repeat(n)}`],
  ['dashes', (n) => '- '.repeat(n / 2)],
  ['question marks', (n) => '? '.repeat(n / 2)],
  ['colons', (n) => 'a: '.repeat(n / 3)],
  ['anchors', (n) => '&a '.repeat(n / 3)],
  ['tags', (n) => `a: ${'!'.repeat(n)}`],
  ['block of blank lines', (n) => `a: |\n${' \n'.repeat(n / 2)}x`],
  ['folded lines', (n) => `a: >\n${' x\n'.repeat(n / 3)}`],
  ['digits', (n) => `a: ${'1'.repeat(n)}`],
  ['digits and underscores', (n) => `a: ${'1_'.repeat(n / 2)}x`],
  ['colons in digits', (n) => `a: ${'1:'.repeat(n / 2)}x`],
  ['commas', (n) => `a: [${','.repeat(n)}]`],
  ['escapes', (n) => `a: "${'\\x41'.repeat(n / 4)}"`],
];

describe('reading a hostile text takes time in proportion to its length', () => {
  it.each(HOSTILE)('%s', (_name, text) => {
    expect(growthOf((input: string) => parseYaml(input), text)).toBeLessThan(MUCH_GROWTH);
  });
});

// Every such line makes the parser read the text again, like some lines of Fuel's real files: so often, and no oftener.
it('badly indented lines are read again within a budget for the whole file', () => {
  const lines = `k:\n  j: [\n${`a,${' '.repeat(20)}\n`.repeat(400)}]\n`;
  const budget = rereadingOf(lines);
  expect(budget.left).toBeLessThanOrEqual(8_000_000);
  expect(() => parseYamlEvents(lines, 100, budget)).not.toThrow();
  expect(budget.left).toBeGreaterThan(-lines.length);
  const spent = { left: 0 };
  expect(() => parseYamlEvents(lines, 100, spent)).toThrow('deficient indentation');
  // However many documents a file has, they share it.
  const documents = Array.from({ length: 60 }, () => `k:\n  j: [\n${'a,\n'.repeat(300)}`).join('---\n');
  expect(
    growthOf(
      (times: number) => loadSite([{ name: 'a.yaml', text: documents.slice(0, times * 20) }]),
      (n) => n,
      100,
    ),
  ).toBeLessThan(MUCH_GROWTH);
});
