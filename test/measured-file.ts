import { readFileSync } from 'node:fs';
import { afterAll } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Processor seconds (user and system) that a file cost its process and the programs that it started and ended. */
    processorSeconds?: number;
  }
}

/** Ticks of the kernel are hundredths of a second on every Linux that Node.js runs on. */
const TICK_SECONDS = 0.01;

/** What programs cost that this process started and saw end; 0 where there is no /proc. */
function ofEndedPrograms(): number {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)!.split(' ');
    return (Number(fields[13]) + Number(fields[14])) * TICK_SECONDS;
  } catch {
    return 0;
  }
}

function spent(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + ofEndedPrograms();
}

// As a setup file, it runs before the modules of each test file are loaded, and its hook after all others.
const before = spent();
// biome-ignore lint/correctness/noEmptyPattern: vitest wants the pattern, and gives the file only as the second argument.
afterAll(({}, file) => {
  file.meta.processorSeconds = spent() - before;
});
