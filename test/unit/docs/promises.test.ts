import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { namedTests } from '../../rig/named-tests.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const page = (name: string): readonly string[] => readFileSync(`${root}docs/explain/${name}`, 'utf8').split('\n');

const promises = page('promises.md').filter((line) => line.startsWith('- '));

/** The rows of the tables of docs/explain/security.md that name tests, by the heads of their columns. */
const rows = page('security.md').reduce<{ heads: readonly string[]; found: Record<string, string>[] }>(
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

/** The tests that a sentence links to, and why a link is wrong. */
function linkedTests(sentence: string): readonly { name: string; problem?: string }[] {
  const links = sentence.matchAll(/\[((?:\\.|[^\]\\])+)\]\(\.\.\/\.\.\/((?:test|packages)\/[^)]+\.test\.ts)\)/g);
  return [...links].map(([, text, file]) => {
    const name = text!.replace(/\\(.)/g, '$1');
    if (!existsSync(root + file!)) return { name, problem: `${file} does not exist` };
    const names = namesIn.get(file!) ?? new Set(namedTests(root + file!).map((test) => test.name));
    namesIn.set(file!, names);
    return names.has(name) ? { name } : { name, problem: `${file} has no test '${name}'` };
  });
}

/** Why the tests do not prove a sentence. */
function problemsOf(sentence: string): readonly string[] {
  const tests = linkedTests(sentence);
  if (tests.length === 0) return [`no test holds: ${sentence}`];
  return tests.flatMap(({ problem }) => problem ?? []);
}

describe('a sentence that links to tests', () => {
  const own = '../../test/unit/docs/promises.test.ts';

  it('is proven if they exist under their full names', () => {
    expect(
      problemsOf(`[a sentence that links to tests > is proven if they exist under their full names](${own})`),
    ).toEqual([]);
    expect(problemsOf(`[a sentence that links to tests](${own})`)).toEqual([]);
  });

  it('is not proven without a test, with only the last part of a name, or with a missing file', () => {
    expect(problemsOf('Tasks run.')).toEqual(['no test holds: Tasks run.']);
    expect(problemsOf(`[is proven if they exist under their full names](${own})`)).toHaveLength(1);
    expect(problemsOf('[runs](../../test/unit/gone.test.ts)')).toEqual(['test/unit/gone.test.ts does not exist']);
  });
});

it('each promise of the five documents is met in a place that exists, and held by tests that exist', () => {
  expect(page('promises.md').filter((line) => line.startsWith('## '))).toHaveLength(5);
  expect(promises.length).toBeGreaterThan(200);
  expect(promises).toEqual([...new Set(promises)]);
  const placeless = promises.filter((promise) => {
    const [, place, link] = /Met in \[(.+?)\]\((\S+?)\)\. Held by /.exec(promise) ?? [];
    return place === undefined || posix.join('docs/explain', link!) !== place || !existsSync(root + place);
  });
  expect(placeless).toEqual([]);
  expect(promises.flatMap(problemsOf)).toEqual([]);
});

it('each sentence of the threat model, of the ten risks and of the defects found is held by tests that exist', () => {
  expect(rows.length).toBeGreaterThan(70);
  expect(rows.flatMap((row) => problemsOf(row['held by']!))).toEqual([]);
  expect(rows).toEqual([...new Map(rows.map((row) => [JSON.stringify(row), row])).values()]);
  const risks = rows.flatMap(({ risk }) => risk?.split(' ')[0] ?? []);
  expect(risks).toEqual(Array.from({ length: 10 }, (_, at) => `API${at + 1}`));
});

it('each sentence about a party is tried from outside, or is called a belief', () => {
  const parties = page('security.md').filter((line) => line.startsWith('### '));
  for (const party of ['Viewer', 'Operator', 'Admin', 'Node', 'network', 'package', 'Temporal'])
    expect(
      parties.some((one) => one.includes(party)),
      party,
    ).toBe(true);
  const tried = rows.flatMap((row) => row['from outside'] ?? []);
  expect(tried.length).toBeGreaterThan(30);
  expect(tried.filter((cell) => !cell.startsWith('belief: ')).flatMap(problemsOf)).toEqual([]);
});
