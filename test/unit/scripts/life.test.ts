import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { processName } from '@sitewright/maas-simulator/containers';
import { afterAll, describe, expect, it } from 'vitest';
import { lastReplacesShell, readTutorial } from '../../../scripts/life/document.mjs';
import { placePrograms } from '../../../scripts/life/programs.mjs';
import { STEPS } from '../../../scripts/life/steps.mjs';
import { placeWitness } from '../../../scripts/life/witness.mjs';

const folder = mkdtempSync(join(tmpdir(), 'sitewright-life-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

const tutorial = readTutorial(fileURLToPath(new URL('../../../examples/webstack/whole-life.md', import.meta.url)));

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

it('the witness recognises tasks by the arguments of their programs, and ignores other calls', async () => {
  const { executions } = await placeWitness(folder);
  const put = (line: string) => appendFileSync(join(folder, 'witness/record/executions'), `${line}\n`);
  put('-c true');
  put('-- /var/lib/sitewright/web/nodes/db-1/runs/12.01a2-b/hand-over/1/try-1/command.sh');
  put(
    'apply --lastrunfile=/var/lib/sitewright/web/nodes/db-1/runs/12.01a2-b/database/1/try-2/puppet-0/last_run_summary.yaml -- /etc/a.pp',
  );
  const seen = await executions();
  expect(seen.map(({ task, transaction }) => [task, transaction])).toEqual([
    ['hand-over@db-1', 12],
    ['database@db-1', 12],
  ]);
  expect(seen[1]?.call).toContain('/try-2/');
});

it.runIf(process.platform === 'linux')(
  'with patience, a command is repeated while the API is unreachable, and after no other failure',
  async () => {
    const [typed, stub] = [join(folder, 'typed'), join(folder, 'stub')];
    await placePrograms(typed, true);
    const call = (script: string) => {
      writeFileSync(stub, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      const env = { ...process.env, SITEWRIGHT: stub };
      return execFileSync(join(typed, 'sitewright'), ['a', 'b c'], { env, encoding: 'utf8', stdio: 'pipe' });
    };
    expect(call(`[ -e ${folder}/came ] && echo "$# $2" && exit; touch ${folder}/came; exit 5`)).toBe('2 b c\n');
    // The API died after it had created it.
    expect(call(`[ -e ${folder}/made ] && exit 4; touch ${folder}/made; exit 5`)).toBe('');
    expect(() => call('echo no >&2; exit 4')).toThrow(expect.objectContaining({ status: 4, stderr: 'no\n' }));
  },
);
