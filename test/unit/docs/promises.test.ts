import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { namedTests } from '../../rig/named-tests.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const page = (path: string): readonly string[] => readFileSync(root + path, 'utf8').split('\n');
const PROMISES = 'test/promises.md';
const SECURITY = 'test/security-tests.md';

const promises = page(PROMISES).filter((line) => line.startsWith('- '));

/** The rows of the tables that name tests, by the heads of their columns: of the threat model, and of the defects found. */
const rows = page(SECURITY).reduce<{
  heads: readonly string[];
  found: Record<string, string>[];
}>(
  ({ heads, found }, line) => {
    const cells = line.startsWith('|') ? line.split(/(?<!\\)\|/).slice(1, -1) : [];
    const texts = cells.map((cell) => cell.trim());
    if (texts.includes('held by')) return { heads: texts.map((head, at) => head || `${at}`), found };
    if (texts.length === 0 || heads.length === 0) return { heads: [], found };
    if (texts.every((text) => /^-+$/.test(text))) return { heads, found };
    return { heads, found: [...found, Object.fromEntries(heads.map((head, at) => [head, texts[at] ?? '']))] };
  },
  { heads: [], found: [] },
).found;

const namesIn = new Map<string, ReadonlySet<string>>();

/** What the numbers of a page name: `[12]: ../test/FILE.test.ts "full name"`. */
type Named = ReadonlyMap<string, { readonly file: string; readonly name: string }>;

const namedBy = (lines: readonly string[]): Named =>
  new Map(
    lines.flatMap((line) => {
      const [, number, file, name] =
        /^\[(\d+)\]: \.\.\/((?:test|packages)\/\S+\.test\.ts) (["'].+["'])$/.exec(line) ?? [];
      return number === undefined ? [] : [[number, { file: file!, name: name!.slice(1, -1) }] as const];
    }),
  );

/** Why a numbered test does not exist; undefined if it does. */
function problemOf({ file, name }: { readonly file: string; readonly name: string }): string | undefined {
  if (!existsSync(root + file)) return `${file} does not exist`;
  const names = namesIn.get(file) ?? new Set(namedTests(root + file).map((test) => test.name));
  namesIn.set(file, names);
  return names.has(name) ? undefined : `${file} has no test '${name}'`;
}

/** Why the tests do not prove a sentence. */
function problemsOf(sentence: string, named: Named): readonly string[] {
  const numbers = [...sentence.matchAll(/(?<!\])\[(\d+)\](?![([])/g)].map(([, number]) => number!);
  if (numbers.length === 0) return [`no test holds: ${sentence}`];
  return numbers.flatMap((number) => {
    const test = named.get(number);
    return test === undefined ? [`no test has the number ${number}`] : (problemOf(test) ?? []);
  });
}

describe('a sentence that links to tests', () => {
  const own = '../test/unit/docs/promises.test.ts';
  const proven = 'a sentence that links to tests > is proven if they exist under their full names';
  const named = namedBy([
    `[1]: ${own} "${proven}"`,
    `[2]: ${own} 'a sentence that links to tests'`,
    `[3]: ${own} "is proven if they exist under their full names"`,
    '[4]: ../test/unit/gone.test.ts "runs"',
  ]);

  it('is proven if they exist under their full names', () => {
    expect(problemsOf('Tasks run. Held by [1] [2].', named)).toEqual([]);
  });

  it('is not proven without a test, with only the last part of a name, or with a missing file', () => {
    expect(problemsOf('Tasks run.', named)).toEqual(['no test holds: Tasks run.']);
    expect(problemsOf('Held by [3].', named)).toHaveLength(1);
    expect(problemsOf('Held by [1] [4].', named)).toEqual(['test/unit/gone.test.ts does not exist']);
    expect(problemsOf('Held by [5].', named)).toEqual(['no test has the number 5']);
  });
});

it.each([PROMISES, SECURITY])('%s names each test once, and uses each', (path) => {
  const lines = page(path);
  const named = namedBy(lines);
  const used = new Set(lines.flatMap((line) => [...line.matchAll(/\[(\d+)\](?![:([])/g)].map(([, number]) => number)));
  expect([...named.keys()].filter((number) => !used.has(number))).toEqual([]);
  expect(new Set([...named.values()].map(({ file, name: test }) => `${file} ${test}`)).size).toBe(named.size);
  expect([...named.values()].flatMap((test) => problemOf(test) ?? [])).toEqual([]);
});

it('each promise of the five documents is met in a place that exists, and held by tests that exist', () => {
  expect(page(PROMISES).filter((line) => line.startsWith('## '))).toHaveLength(5);
  expect(promises.length).toBeGreaterThan(200);
  expect(promises).toEqual([...new Set(promises)]);
  const placeless = promises.filter((promise) => {
    const [, place, link] = /Met in \[(.+?)\]\((\S+?)\)\. Held by /.exec(promise) ?? [];
    return place === undefined || posix.join('test', link!) !== place || !existsSync(root + place);
  });
  expect(placeless).toEqual([]);
  const named = namedBy(page(PROMISES));
  expect(promises.flatMap((promise) => problemsOf(promise, named))).toEqual([]);
});

it('each sentence of the threat model, of the ten risks and of the defects found is held by tests that exist', () => {
  expect(rows.length).toBeGreaterThan(70);
  const named = namedBy(page(SECURITY));
  expect(rows.flatMap((row) => problemsOf(row['held by']!, named))).toEqual([]);
  expect(rows).toEqual([...new Map(rows.map((row) => [JSON.stringify(row), row])).values()]);
  const risks = rows.flatMap(({ risk }) => risk?.split(' ')[0] ?? []);
  expect(risks).toEqual(Array.from({ length: 10 }, (_, at) => `API${at + 1}`));
});

it('each sentence about a party is tried from outside, or is called a belief', () => {
  const parties = page(SECURITY).filter((line) => line.startsWith('### '));
  for (const party of ['Viewer', 'Operator', 'Admin', 'Node', 'network', 'package', 'Temporal'])
    expect(
      parties.some((one) => one.includes(party)),
      party,
    ).toBe(true);
  const tried = rows.flatMap((row) => row['from outside'] ?? []);
  expect(tried.length).toBeGreaterThan(30);
  const named = namedBy(page(SECURITY));
  expect(tried.filter((cell) => !cell.startsWith('belief: ')).flatMap((cell) => problemsOf(cell, named))).toEqual([]);
});
