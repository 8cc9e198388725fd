import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allowCoreDumpsOf } from '../../../../src/platform/secrets/core-dumps.ts';
import { builtProgram } from '../../../rig/program.ts';

/** Elsewhere dumps go to a program of the system. */
const isFile = process.platform === 'linux' && /^core/.test(readFileSync('/proc/sys/kernel/core_pattern', 'utf8'));

it.skipIf(!isFile)('a core dump of a process that holds secrets has none of them', () => {
  const [node, program] = builtProgram('test/rig/core-dump-process.ts');
  const dumpOf = (how: string): Buffer => {
    const folder = mkdtempSync(join(tmpdir(), 'sitewright-core-'));
    try {
      // As a service manager starts it: the tests' own process may leave no memory in dumps.
      const usual = 'echo 0x33 >/proc/self/coredump_filter';
      const command = `ulimit -c unlimited && ${usual} && exec "${node}" "${program}" ${how}`;
      const { signal } = spawnSync('bash', ['-c', command], { cwd: folder });
      expect(signal).toBe('SIGABRT');
      const [dump] = readdirSync(folder).filter((name) => name.startsWith('core'));
      return readFileSync(join(folder, dump!));
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
  // Without protection, the dump contains the canary.
  expect(dumpOf('open').includes('canary-of-the-core')).toBe(true);
  expect(dumpOf('private').includes('canary-of-the-core')).toBe(false);
});

it('a program that has ended leaves no core file', () => {
  expect(() => allowCoreDumpsOf(2 ** 30)).not.toThrow();
});
