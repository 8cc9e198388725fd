import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { expect, it } from 'vitest';
import { holdingTests } from '../../../scripts/promises-docs.js';

/** A sentence without an id is advice, or names what follows. */
interface Sentence {
  readonly id?: string;
  readonly sentence: string;
}

const root = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const listed = load(read('test/data/operating.yaml')) as Readonly<Record<string, readonly Sentence[]>>;
const ids = Object.values(listed).flatMap((sentences) => sentences.flatMap(({ id }) => id ?? []));
const tests = holdingTests('operating');

/** Sentences of a section, without its code, heads of tables, and what `without` matches. */
function sentencesOf(section: string, without: RegExp): string[] {
  const text = new RegExp(`^## ${section}\\n([\\s\\S]*?)(?=^## )`, 'm').exec(read('docs/operating.md'))![1]!;
  const blocks = text
    .replace(/^```[\s\S]*?^```/gm, '\n\n')
    .replace(without, '\n\n')
    .split(/\n\n+|\n(?=\|)/);
  const rows = blocks.map((block, at) => (/^\| ---/.test(blocks[at + 1] ?? '') || /^\| ---/.test(block) ? '' : block));
  return rows.flatMap((row) =>
    row
      .replace(/^\||\|$/g, '')
      .replace(/\s+/g, ' ')
      .trim()
      .split(/(?<=\.)\s+(?=[A-Z`*])/)
      .filter((sentence) => sentence !== ''),
  );
}

it.each([
  // Temporal's own pause is not ours, and the servers of the tests are too old for it.
  ['Pause, resume, stop, cancel', /^\*\*Temporal's own[\s\S]*?(?=^Use Sitewright's)/m],
  ['Reset', /(?!)/],
  // What each copy is for.
  ['Backup and restore', /^\|[\s\S]*\|$/m],
])('each sentence of "%s" in docs/operating.md is listed', (section, without) => {
  expect(listed[section]?.map(({ sentence }) => sentence)).toEqual(sentencesOf(section, without));
});

it('each has a test, and each mark a sentence', () => {
  expect(ids).toEqual([...new Set(ids)]);
  expect(ids.filter((id) => !tests.has(id))).toEqual([]);
  expect([...tests.keys()].filter((id) => !ids.includes(id))).toEqual([]);
});
