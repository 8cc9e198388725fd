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

const passedTest = { status: 'passed', fullName: 'it passes', failureMessages: [] as string[] };
const failedTest = { status: 'failed', fullName: 'it fails', failureMessages: ['Error: it is wrong\n    at here'] };
const run = (report: object, exitCode: number) => {
  const path = join(folder, 'report.json');
  writeFileSync(path, JSON.stringify(report));
  return spawnSync(process.execPath, [script, path, String(exitCode)], { encoding: 'utf8' });
};
const count = (report: object, exitCode: number): string => run(report, exitCode).stdout.trim();

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
])('the count of tests includes %s', (_, numPassedTests, numFailedTests, testResults, exitCode, expected) => {
  expect(count({ numPassedTests, numFailedTests, testResults }, exitCode)).toBe(expected);
});

it('the count of tests lists those that passed only on retry', () => {
  const retried = { ...failedTest, status: 'passed' };
  const testResults = [{ name: 'a.test.ts', status: 'passed', assertionResults: [passedTest, retried] }];
  const { stdout, stderr } = run({ numPassedTests: 2, numFailedTests: 0, testResults }, 0);
  expect(stdout).toBe('2 0\n');
  expect(stderr).toBe('RETRIED: a.test.ts > it fails: Error: it is wrong\n');
});

it('the count of tests fails without a report', () => {
  expect(spawnSync(process.execPath, [script, join(folder, 'absent'), '1']).status).not.toBe(0);
});
