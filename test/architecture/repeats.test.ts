import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const LINES = 6;

const blank = (text: string): string => text.replace(/[^\n]/g, '');

/** The lines of a file that do something: no imports, comments, declarations of types, brackets alone. */
function logicOf(text: string): { readonly at: number; readonly line: string }[] {
  const bare = [
    /\/\*[\s\S]*?\*\//g,
    /^(import|export (type )?[{*])[\s\S]*?;$/gm,
    /^(export )?interface\b[\s\S]*?^\}/gm,
    /^(export )?type \w[\s\S]*?;$/gm,
  ].reduce((rest, pattern) => rest.replace(pattern, blank), text);
  return bare
    .split('\n')
    .map((line, index) => ({ at: index + 1, line: line.replace(/(^|\s)\/\/ .*$/, '').trim() }))
    .filter(({ line }) => /\w/.test(line) && !/^(readonly )?#?\w+\??: [^(]*;$/.test(line));
}

it('no six lines of logic are repeated', () => {
  const folders = ['src', 'packages/*/src', 'workflows', 'activities', 'worker'].map((folder) => `${folder}/*.ts`);
  const files = execFileSync('git', ['ls-files', ...folders], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n')
    // A migration never changes after its release: it shares nothing with code that does.
    .filter((file) => !file.startsWith('src/store/migrations/'));
  const places = new Map<string, string[]>();
  for (const file of files) {
    const lines = logicOf(readFileSync(root + file, 'utf8'));
    for (let first = 0; first + LINES <= lines.length; first++) {
      const block = lines.slice(first, first + LINES).map(({ line }) => line);
      const key = block.join('\n');
      places.set(key, [...(places.get(key) ?? []), `${file}:${lines[first]!.at}`]);
    }
  }
  const repeated = [...places.values()].filter((where) => where.length > 1).map((where) => where.join(' and '));
  expect(places.size).toBeGreaterThan(20_000);
  expect(repeated).toEqual([
    // States that MAAS leaves by itself: cases of two tables.
    expect.stringMatching(
      /^packages\/maas\/src\/deploy-machine\.ts:\d+ and packages\/maas\/src\/prepare-machine\.ts:\d+$/,
    ),
  ]);
});
