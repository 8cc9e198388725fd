import { InvalidArgumentError } from 'commander';
import type { CliCommand } from '../command.js';
import type { Session } from '../session.js';

interface LogFlags {
  readonly follow?: boolean;
  readonly stderr?: boolean;
  readonly attempt?: number;
}

const attemptNumber = (value: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new InvalidArgumentError('an attempt is a number from 1');
  return Number(value);
};

/** Adds `logs` to `sitewright run`. */
export function registerRunLogs(run: CliCommand, session: Session): void {
  run
    .verb('logs', 'Output of a task on its node; once it has ended, the exit code says whether it succeeded')
    .argument('<run>', 'id of the transaction of a run of graphs or of one of its graphs, or the workflow id')
    .argument('<task@node>', "as 'sitewright history show' lists them")
    .option('-f, --follow', 'follow the output until the task ends; waits for a task that has not started')
    .option('--stderr', 'stderr instead of stdout')
    .option('--attempt <number>', 'attempt of the task (default: the newest)', attemptNumber)
    .action(async (reference: string, task: string, flags: LogFlags) => {
      const { printTaskLog } = await import('../task-log.js');
      process.exitCode = await printTaskLog(session, reference, task, flags);
    });
}
