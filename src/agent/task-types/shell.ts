import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as scripts from '../../core/task-types/scripts.ts';
import { systemFailure } from './place-file.ts';
import { runner, type TaskContext, tryEndOf } from './task-runner.ts';

interface Script {
  readonly cmd: string;
  readonly cwd: string;
}

const work = {
  /** `cmd` goes into a file, so that quoting cannot change it. */
  run: async ({ cmd, cwd }: Script, context: TaskContext) => {
    const script = join(context.tryFolder, 'command.sh');
    try {
      await writeFile(script, cmd, { mode: 0o700 });
    } catch (error) {
      return { failure: systemFailure(script, error), changed: false };
    }
    return tryEndOf(await context.run({ argv: ['bash', '--', script], cwd }), null);
  },
};

export const shell = runner(scripts.shell, work);

export const masterShell = runner(scripts.masterShell, work);
