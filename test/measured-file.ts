import { afterAll } from 'vitest';
import { secondsOfEndedPrograms } from './measures.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** Processor seconds (user and system) that a file cost its process and the programs that it started and ended. */
    processorSeconds?: number;
  }
}

function spent(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + secondsOfEndedPrograms();
}

// As a setup file, it runs before the modules of each test file are loaded, and its hook after all others.
const before = spent();
// biome-ignore lint/correctness/noEmptyPattern: vitest wants the pattern, and gives the file only as the second argument.
afterAll(({}, file) => {
  file.meta.processorSeconds = spent() - before;
});
