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
    .command('logs')
    .description('What a task printed on its node; the exit code says whether it succeeded, once it has ended')
    .argument('<run>', 'id of the transaction of a run of graphs, or of one graph of it; or its workflow id')
    .argument('<task@node>', "as 'sitewright history show' lists them")
    .option('-f, --follow', 'go on until the task ends; also waits for one that has not begun')
    .option('--stderr', 'what it wrote to stderr instead of stdout')
    .option('--attempt <number>', 'of a task that was tried several times (default: the newest)', attemptNumber)
    .action(async (reference: string, task: string, flags: LogFlags) => {
      const { printTaskLog } = await import('../task-log.js');
      process.exitCode = await printTaskLog(session, reference, task, flags);
    });
}
