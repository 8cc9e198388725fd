import { fileURLToPath } from 'node:url';
import { runnableProgram } from '../../src/platform/threads/runnable-program.ts';

/** The command of one of the project's programs, by the path of its source from the root. */
export const builtProgram = (source: string): readonly [string, string] => [
  process.execPath,
  fileURLToPath(runnableProgram(new URL(`../../${source}`, import.meta.url))),
];

export const supervisorProgram = (): readonly [string, string] =>
  builtProgram('src/agent/supervision/supervisor-main.ts');

/** The same from its source, module by module: for tests of the order in which modules load. */
export const sourceProgram = (source: string): readonly [string, ...string[]] => [
  process.execPath,
  fileURLToPath(new URL(`../../${source}`, import.meta.url)),
];
