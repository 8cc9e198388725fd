import { InvalidArgumentError } from 'commander';
import type { CliCommand } from '../shell/command.ts';
import type { OutputFlags } from '../shell/output.ts';
import { usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';
import { findRun } from './find-run.ts';
import { findTask } from './find-task.ts';

interface LogFlags extends OutputFlags {
  readonly follow?: boolean;
  readonly stdout?: boolean;
  readonly stderr?: boolean;
  readonly attempt?: number;
  readonly search?: string;
  readonly limit?: number;
}

const attemptNumber = (value: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new InvalidArgumentError('an attempt is a number from 1');
  return Number(value);
};

/** Adds `logs` to `sitewright run`. */
export function registerRunLogs(run: CliCommand, session: Session): void {
  run
    .verb('logs', 'Output of all tasks of a run of graphs with times, or of one task on its node')
    .example('12', 'tasks with output')
    .example('12 netconfig@node-1 --follow')
    .argument('<run>', 'number or name of a run of graphs, or number of one of its graphs')
    .argument('[task@node]', "only of this task, as 'history show' lists it; its success is the exit code")
    .option('--follow', 'follow the output until the run or task ends; waits for a task that has not started')
    .option('--search <text>', 'without a task: only lines with this text; case-insensitive')
    .option('--stdout', 'stdout only, as it was written')
    .option('--stderr', 'stderr only; without either both, and lines of stderr are marked')
    .option('--attempt <number>', 'with a task: attempt of it (default: the newest)', attemptNumber)
    .limit()
    .output()
    .action(async (reference: string, task: string | undefined, flags: LogFlags) => {
      if (flags.stdout && flags.stderr)
        throw usageError('--stdout and --stderr exclude each other', 'Omit both: both streams are shown, marked.');
      const stream = flags.stdout ? 'stdout' : flags.stderr ? 'stderr' : undefined;
      if (task === undefined) {
        const { printRunLog } = await import('./run-log.ts');
        return printRunLog(session, reference, { ...flags, stream });
      }
      if (flags.search !== undefined || flags.limit !== undefined || flags.format !== 'table')
        throw usageError('--search, --limit and --format are for the log of a whole run', 'Omit TASK@NODE.');
      const { printTaskLog } = await import('./task-log.ts');
      const client = await session.client();
      const asked = await findTask(client, () => findRun(client, reference), task);
      process.exitCode = await printTaskLog(session, reference, asked, { ...flags, stream });
    });
}
