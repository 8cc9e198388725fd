import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { installationFile } from '../../../src/platform/installation.ts';

interface Answer {
  readonly failed: readonly { readonly seed: number; readonly violation: string }[];
  readonly digests: readonly string[];
  readonly outcomes: Readonly<Record<string, number>>;
  readonly replays: number;
}

/** In a process of its own: it takes over time and chance. */
async function simulate(...options: string[]): Promise<Answer> {
  const main = installationFile('test/simulation/main.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [main, '--json', ...options]);
  return JSON.parse(stdout) as Answer;
}

it('lives through twenty seeds of sites and graphs without a violation, and in the same way again', async () => {
  const [one, again] = await Promise.all([
    simulate('--seeds', '20', '--processes', '1'),
    simulate('--seeds', '20', '--processes', '1'),
  ]);
  expect(one.failed).toEqual([]);
  // It does something: runs end in each way, and workers read them again.
  expect(Object.keys(one.outcomes)).toEqual(
    expect.arrayContaining(['deploy_site COMPLETED', 'execute_graph COMPLETED', 'execute_graph FAILED']),
  );
  expect(one.replays).toBeGreaterThan(20);
  expect(again.digests).toEqual(one.digests);
  expect(new Set(one.digests).size).toBe(20);
});
