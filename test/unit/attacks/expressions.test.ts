import { readFileSync } from 'node:fs';
import { sizeInBytes } from '@sitewright/maas/machine-layout';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { busAddresses } from '../../../packages/maas/src/layout/bus-addresses.ts';
import { decodeEscapes } from '../../../packages/yaql/src/language/string-escapes.ts';
import { formatTime } from '../../../packages/yaql/src/time/format.ts';
import { parseTimeByFormat } from '../../../packages/yaql/src/time/parse-format.ts';
import { parseFloatText } from '../../../packages/yaql/src/values/number-text.ts';
import { expressionRecord, expressions, expressionsIn } from '../../../scripts/expressions.ts';
import { namesInReport, readPuppetSummary } from '../../../src/agent/task-types/puppet-summary.ts';
import { commitUrl, gitUrlProblem } from '../../../src/core/sources/git-source.ts';
import { withoutEnd } from '../../../src/core/text/text.ts';
import { parseLegacyCondition } from '../../../src/graph/fields/legacy-condition.ts';
import { FormatText } from '../../../src/graph/fields/python-format.ts';
import { growthOf, MUCH_GROWTH } from '../../rig/growth.ts';

interface Exception {
  readonly file: string;
  readonly literal?: string;
  readonly made?: string;
  readonly reason: string;
}

const exceptions = load(
  readFileSync(new URL('../../data/expressions.yaml', import.meta.url), 'utf8'),
) as readonly Exception[];
const { proven, tried } = expressionRecord();
const all = expressions();

const attempt = (work: () => unknown): void => {
  try {
    work();
  } catch {
    // A hostile text may be refused; the test asks only that it is refused soon.
  }
};

describe('a regular expression over foreign text', () => {
  it('is proven linear, was timed, or is on the list with its reason', () => {
    expect(all.length).toBeGreaterThan(400);
    const known = new Set([...proven, ...tried]);
    const isException = (file: string, text: string): boolean =>
      exceptions.some((one) => one.file === file && (one.literal ?? one.made) === text);
    const unknown = all.filter(
      ({ file, text, isLiteral }) => !(isLiteral && known.has(text)) && !isException(file, text),
    );
    expect(
      unknown.map(({ file, line, text }) => `${file}:${line}: ${text}`),
      'run npm run docs:expressions -- FOLDER, and make linear what it names',
    ).toEqual([]);
  });

  it('is in some source if it is on a list', () => {
    const texts = new Set(all.map(({ text }) => text));
    expect([...proven, ...tried].filter((text) => !texts.has(text))).toEqual([]);
    const places = new Set(all.map(({ file, text }) => `${file} ${text}`));
    expect(exceptions.filter((one) => !places.has(`${one.file} ${one.literal ?? one.made}`))).toEqual([]);
  });

  it('is found in every form that a source can have', () => {
    const found = expressionsIn('x.ts', 'a(/b+$/); new RegExp(`c`); RegExp(d, "g"); // /e/\nconst f = "/g/";');
    expect(found.map(({ text }) => text)).toEqual(['/b+$/', 'new RegExp(`c`)', 'RegExp(d, "g")']);
  });

  // A fruitless search for bad texts is no proof: each expression also meets runs of its own characters.
  it.each(tried)('takes time in proportion to repetitions of its characters: %s', (text) => {
    const [, source = '', flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(text)!;
    const expression = new RegExp(source, flags);
    const units = [...new Set([...' a0', ...source.replaceAll('\\', '')])];
    const run = (n: number): readonly string[] => units.map((unit) => `${unit.repeat(n)}\n`);
    const work = (texts: readonly string[]): void => {
      for (const one of texts) one.replace(expression, '');
    };
    // Global and sticky ones begin where they ended.
    expect(growthOf(work, run, 500)).toBeLessThan(MUCH_GROWTH);
  });
});

// The expressions that were not linear, and composed ones, by the first reader of foreign text.
const WAYS: readonly (readonly [string, (text: string) => unknown, (n: number) => string])[] = [
  ['slashes within a path', (text) => withoutEnd(text, '/'), (n) => `${'/'.repeat(n)}x`],
  ['blanks in the summary of puppet', readPuppetSummary, (n) => `a:\n  b: ${' '.repeat(n)}\u2028x`],
  ['quotes in the summary of puppet', readPuppetSummary, (n) => `a:\n  ${'"'.repeat(n)}`],
  ['lines of the report of puppet', namesInReport, (n) => `resource_statuses:\n${' '.repeat(n)}x`],
  ['devices that are not closed', busAddresses, (n) => '<node '.repeat(n / 6)],
  ['names that are not closed', busAddresses, (n) => '<businfo>'.repeat(n / 9)],
  ['digits of a size', (text) => sizeInBytes(text, 1), (n) => `${'1'.repeat(n)}\nx`],
  ['slashes of a repository', (text) => commitUrl(text, 'c'), (n) => `https://h/${'/'.repeat(n)}x`],
  ['names of repositories', gitUrlProblem, (n) => `git@${'a.'.repeat(n / 2)} `],
  ['users of repositories', gitUrlProblem, (n) => `${'a@'.repeat(n / 2)} `],
  ['brackets of a format', (text) => new FormatText(text).fill({}), (n) => `{a${'['.repeat(n)}}`],
  ['settings in a condition', parseLegacyCondition, (n) => 'settings:'.repeat(n / 50)],
  ['words in a condition', parseLegacyCondition, (n) => 'a'.repeat(n / 4)],
  ['quotes in a condition', parseLegacyCondition, (n) => `"'`.repeat(n / 8)],
  ['digits that are no number', parseFloatText, (n) => `${'1'.repeat(n)}x`],
  ['digits with underscores', parseFloatText, (n) => `${'1_1'.repeat(n / 3)}__`],
  ['names of characters that are not closed', (text) => decodeEscapes(text, 0), (n) => '\\N{a'.repeat(n / 4)],
  ['backslashes before a brace', (text) => decodeEscapes(text, 0), (n) => `${'\\N{'.repeat(n / 3)}}\\`],
  ['flags of a time', (text) => formatTime(parseTimeByFormat('2026', '%Y'), text), (n) => `%${'-'.repeat(n)}d`],
  ['blanks in a time', (text) => parseTimeByFormat(text, '%Y %m %d'), (n) => `2026${' '.repeat(n)}x`],
  ['blanks in a format of time', (text) => parseTimeByFormat('2026', text), (n) => `%Y${' a'.repeat(n / 16)}`],
];

describe('a malicious text takes time in proportion to its length', () => {
  it.each(WAYS)('%s', (_name, read, text) => {
    expect(growthOf((given: string) => attempt(() => read(given)), text)).toBeLessThan(MUCH_GROWTH);
  });
});
