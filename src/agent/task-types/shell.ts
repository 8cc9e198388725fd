import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ParameterReader } from '../parameters.js';
import { systemFailure } from '../place-file.js';
import { type TaskContext, type TaskLimits, type TaskType, tryEndOf } from '../task-type.js';

interface ShellParameters {
  readonly cmd: string;
  readonly cwd: string;
  readonly timeout: number;
  readonly retries: number;
  readonly interval: number;
}

const read = (parameters: ParameterReader): ShellParameters => {
  const cmd = parameters.text('cmd');
  if (cmd === '' && parameters.has('cmd')) parameters.wrong('cmd', 'cmd must not be empty', 'Give a command.');
  return {
    cmd,
    cwd: parameters.path('cwd', '/'),
    timeout: parameters.amount('timeout', 300),
    retries: parameters.count('retries', 2),
    interval: parameters.amount('interval', 2),
  };
};

const limits = (p: ShellParameters): TaskLimits => ({
  timeoutSec: p.timeout,
  timeoutCovers: 'all-tries',
  retries: p.retries,
  intervalSec: p.interval,
  killGraceSec: 5,
});

/** `cmd` is a bash script. It goes into a file, so that no quoting of ours can change it. */
async function run(p: ShellParameters, context: TaskContext) {
  const script = join(context.tryFolder, 'command.sh');
  try {
    await writeFile(script, p.cmd, { mode: 0o700 });
  } catch (error) {
    return { failure: systemFailure(script, error), changed: false };
  }
  return tryEndOf(await context.run({ argv: ['bash', '--', script], cwd: p.cwd }), null);
}

/** Runs a script on the node; exit code 0 is success. */
export const shell: TaskType<ShellParameters> = { name: 'shell', noop: 'skip', read, limits, run };

/** The same on the machine of the orchestrator: whoever plans sends it to that machine's agent. */
export const masterShell: TaskType<ShellParameters> = { ...shell, name: 'master_shell' };
