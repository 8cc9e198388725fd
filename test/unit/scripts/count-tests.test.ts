import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../../.ci/count-tests.mjs', import.meta.url));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sitewright-count-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const passedTest = { status: 'passed' };
const failedTest = { status: 'failed' };
const count = (report: object, exitCode: number): string => {
  const path = join(folder, 'report.json');
  writeFileSync(path, JSON.stringify(report));
  return spawnSync(process.execPath, [script, path, String(exitCode)], { encoding: 'utf8' }).stdout.trim();
};

it.each([
  ['all passed', 2, 0, [{ status: 'passed', assertionResults: [passedTest, passedTest] }], 0, '2 0'],
  ['one failed', 1, 1, [{ status: 'failed', assertionResults: [passedTest, failedTest] }], 1, '1 1'],
  [
    'a file that did not load',
    1,
    0,
    [
      { status: 'passed', assertionResults: [passedTest] },
      { status: 'failed', assertionResults: [] },
    ],
    1,
    '1 1',
  ],
  ['a bad end though nothing failed', 1, 0, [{ status: 'passed', assertionResults: [passedTest] }], 1, '1 1'],
  ['no test at all', 0, 0, [], 0, '0 1'],
])('counts %s', (_, numPassedTests, numFailedTests, testResults, exitCode, expected) => {
  expect(count({ numPassedTests, numFailedTests, testResults }, exitCode)).toBe(expected);
});

it('fails without a report', () => {
  expect(spawnSync(process.execPath, [script, join(folder, 'absent'), '1']).status).not.toBe(0);
});
