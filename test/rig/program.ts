import { fileURLToPath } from 'node:url';
import { runnableProgram } from '../../src/platform/threads/runnable-program.ts';

/** The command of one of the project's programs, by its path from the root: it starts in a tenth of the time of its source. */
export const builtProgram = (source: string): readonly [string, string] => [
  process.execPath,
  fileURLToPath(runnableProgram(new URL(`../../${source}`, import.meta.url))),
];

export const supervisorProgram = (): readonly [string, string] => builtProgram('src/agent/supervisor-main.ts');

/** The same from its source, module by module: for tests of what is loaded when. */
export const sourceProgram = (source: string): readonly [string, ...string[]] => [
  process.execPath,
  '--import',
  'tsx',
  fileURLToPath(new URL(`../../${source}`, import.meta.url)),
];
