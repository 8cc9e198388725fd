import type { Run } from '../../core/contracts/runs.ts';
import { reportOfRun, showTasks, watchRun } from '../../core/next-steps.ts';
import { numberOf, subjectOf } from '../../core/run/subject.ts';
import { printable } from '../../core/text/control-characters.ts';
import { counted } from '../../core/text/text.ts';
import type { ApiClient } from '../shell/client.ts';
import { EXIT, type ExitCode } from '../shell/exit-codes.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import type { Terminal } from '../shell/terminal.ts';
import { forTypedSystem } from '../shell/typed-system.ts';
import { exitCodeOfOutcome, followRun } from '../shell/watch.ts';
import { paintFor, paintState } from '../views/paint.ts';

/** `--wait` and `--watch` of commands that start or follow a run. */
export interface FollowFlags extends OutputFlags {
  readonly wait?: boolean;
  readonly watch?: boolean;
}

/** Where the page shows a run. */
export const pageOf = ({ url }: ApiClient, { id }: Pick<Run, 'id'>): string => `${url}/runs/${id}`;

/** Ways to view a started run. */
export function nextSteps(terminal: Terminal, client: ApiClient, run: Run): string {
  const isOfGraphs = run.cluster !== null && run.number !== null;
  const steps = [
    ...(run.phase === 'waiting' ? [['worker', 'sitewright worker'] as const] : []),
    ['watch it', watchRun(numberOf(run))],
    ['page', pageOf(client, run)],
    ...(isOfGraphs ? [['tasks', showTasks(run.number)] as const] : []),
    ['Temporal', run.temporal_url ?? `temporal workflow describe --workflow-id ${run.workflow_id}`],
  ] as const;
  return forTypedSystem(terminal, steps.map(([name, value]) => `  ${name.padEnd(8)}  ${value}\n`).join(''));
}

/**
 * Prints a newly started run, follows it on request, and returns the exit code. For
 * programs (`-f json`) it prints exactly one object: the run at the end of the command.
 */
export async function presentStarted(
  terminal: Terminal,
  client: ApiClient,
  run: Run,
  flags: FollowFlags,
): Promise<ExitCode> {
  const forPeople = flags.format === 'table' && !flags.column;
  const revision = run.revision === null ? '' : ` revision ${run.revision}`;
  const what = `${run.kind} of ${subjectOf(run)}${revision}`;
  const line = run.phase === 'waiting' ? `${what} waits for a worker to open it` : `started ${what}`;
  const text = `${line}: run ${numberOf(run)}\n${nextSteps(terminal, client, run)}`;
  const follows = flags.wait === true || flags.watch === true;
  if (forPeople) terminal.out(text);
  if (!follows) {
    if (!forPeople) await printOne(terminal, flags, run);
    return EXIT.done;
  }
  return followAndPresent(terminal, client, run, flags);
}

/** Follows a run and prints how it ended. */
export async function followAndPresent(
  terminal: Terminal,
  client: ApiClient,
  run: Pick<Run, 'id' | 'number' | 'site'>,
  flags: FollowFlags,
): Promise<ExitCode> {
  const forPeople = flags.format === 'table' && !flags.column;
  const print = forPeople ? terminal.out : terminal.err;
  const clock = (): string => new Date(terminal.now()).toISOString().slice(11, 19);
  const say = flags.watch ? (line: string) => print(`${clock()}  ${forTypedSystem(terminal, line)}\n`) : undefined;
  const followed = await followRun(terminal, client, run.id, say);
  if (followed.end === 'interrupted') {
    const steps = `Watch it: ${watchRun(numberOf(run))}. Stop it: sitewright run stop ${numberOf(run)}`;
    terminal.err(`interrupted: the run continues. ${forTypedSystem(terminal, steps)}\n`);
    return EXIT.interrupted;
  }
  const ended = followed.run;
  const code = exitCodeOfOutcome(ended.outcome);
  const outcome = paintState(paintFor(terminal.color), ended.outcome ?? 'unknown');
  const failed = ended.failed_nodes ? `, ${counted(ended.failed_nodes, 'node')} failed` : '';
  const hint =
    code === EXIT.done && !ended.failed_nodes
      ? ''
      : forTypedSystem(terminal, `\n  see why:  ${reportOfRun(numberOf(ended))}`);
  // Such as a redeploy that was refused before it released a node: no node has a reason.
  const why = code === EXIT.done || !ended.failure ? '' : `\n  reason:   ${printable(ended.failure)}`;
  await printOne(terminal, flags, ended, `${ended.kind} of ${subjectOf(ended)}: ${outcome}${failed}${why}${hint}\n`);
  return code;
}
