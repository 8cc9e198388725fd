import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { installationFile } from '../../../src/platform/installation.ts';
import { namedTests } from '../../rig/named-tests.ts';
import { BUGS } from '../../simulation/bugs.ts';

const page = readFileSync(installationFile('test/simulation/README.md'), 'utf8');

/** Cells of the rows of the table with this heading. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const [, table = ''] = page.split(`${heading}\n`);
  const lines = table.split('\n').slice(1);
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(0, end).map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  );
}

it('every known defect is in the list of what finds it: a seed, or a test that exists', () => {
  const bySeed = rowsOf('| defect | mended by | world | first seed | guarantee that found it |').map(([name]) => name!);
  const byTest = rowsOf('| defect | needs | test |');
  expect([...bySeed, ...byTest.map(([name]) => name!)].sort()).toEqual(BUGS.map(({ name }) => name).sort());
  for (const [defect, , test = ''] of byTest) {
    const [, link = '', name = ''] = /^\[[^\]]+\]\(([^)]+)\): (.+)$/.exec(test) ?? [];
    expect(
      namedTests(installationFile(`test/simulation/${link}`)).map((one) => one.name),
      defect,
    ).toContain(name);
    expect(BUGS.find((one) => one.name === defect)!.isHidden, defect).toBe(true);
  }
  expect(BUGS.filter(({ isHidden }) => isHidden === true)).toHaveLength(byTest.length);
});
