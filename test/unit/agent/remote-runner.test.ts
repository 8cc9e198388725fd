import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { COMMON } from '../../../src/agent/ssh/remote-runner.ts';

it('a result that the runner writes while a connection searches for the runner is kept', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sitewright-runner-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'claim'), 'garbled');
  const result = ['cause=done', 'code=0', 'itemized=0', 'ended=2026-05-01T10:00:00Z', 'boot=b'].join('\n');
  const endsMeanwhile = `supervised() { printf '%s\\n' '${result}' >"$dir/exit"; return 1; }`;
  execFileSync('sh', ['-c', `dir=$1 scratch=$1/scratch mark=none\n${COMMON}\n${endsMeanwhile}\nsettle`, 'sh', folder]);
  expect(readFileSync(join(folder, 'exit'), 'utf8')).toBe(`${result}\n`);
});
