import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { lastReplacesShell, readTutorial } from '../../../scripts/life/document.mjs';
import { STEPS } from '../../../scripts/life/steps.mjs';
import { processName } from '../../../scripts/process-name.mjs';

const tutorial = readTutorial(fileURLToPath(new URL('../../../docs/whole-life.md', import.meta.url)));

describe('the tutorial of a whole life', () => {
  it('has a check for each of its steps, and commands in each', () => {
    expect(tutorial.steps.map(({ number }) => number)).toEqual([...STEPS.keys()]);
    expect(tutorial.steps.filter(({ blocks }) => blocks.length === 0)).toEqual([]);
    expect([...tutorial.terminals.keys()]).toEqual(['maas', 'files', 'up']);
  });

  it('is written for bash', () => {
    const texts = [...tutorial.terminals.values(), ...tutorial.steps.map(({ blocks }) => blocks.join(''))];
    for (const text of texts) execFileSync('bash', ['-n'], { input: text });
  });
});

it('the last command of a terminal replaces its shell, whatever lines it has', () => {
  expect(lastReplacesShell('a\nb --one \\\n  --two\n')).toBe('a\nexec b --one    --two');
  expect(lastReplacesShell('a\n')).toBe('exec a');
});

it('a process has one name while it runs, and none afterwards', () => {
  expect(processName(process.pid)).toMatch(new RegExp(`^${process.pid}-\\d+$`));
  expect(processName(process.pid)).toBe(processName(process.pid));
  expect(processName(2 ** 22 + 1)).toBeUndefined();
});
