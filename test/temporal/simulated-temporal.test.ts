import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);

it('the simulated Temporal lives through programs that once differed as a real server does', async () => {
  const { stdout } = await run(process.execPath, ['test/simulation/compare/main.ts', '--known']);
  expect(stdout).toContain('6 programs: 0 differ unexplained');
});
