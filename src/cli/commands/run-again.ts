import { Option } from 'commander';
import type { RunDetail, StartRunBody } from '../../core/contracts/runs.ts';
import { given } from '../../core/data/given.ts';
import type { GraphRunInput } from '../../core/graph-run/input.ts';
import { subjectOf } from '../../core/run/subject.ts';
import type { SiteRunInput } from '../../core/site-run/input.ts';
import type { CliCommand } from '../shell/command.ts';
import { confirm } from '../shell/confirm.ts';
import { usageError } from '../shell/problem.ts';
import { type Session, userOf } from '../shell/session.ts';
import { type DescriptionFlags, descriptionOf } from './described-run.ts';
import { findRun } from './find-run.ts';
import { presentGraphRun } from './graph-execute.ts';
import { runOptions } from './run-request.ts';
import type { FollowFlags } from './started-run.ts';

interface AgainFlags extends FollowFlags, DescriptionFlags {
  readonly revision?: string;
  readonly apply?: boolean;
  readonly dryRun?: boolean;
  readonly noop?: boolean;
  readonly force?: boolean;
  readonly reason?: string;
  readonly yes?: boolean;
}

/** Adds `again` to the `run` command. */
export function registerRunAgain(group: CliCommand, session: Session, run: string): void {
  group
    .verb('again', 'Start a run with the input of an earlier one, or with parts of it changed')
    .example('dc1', 'with the input of its newest run')
    .example('12 --apply', 'what was a dry run')
    .argument('<run>', run)
    .option('--revision <revision>', 'of a site, instead of that of the earlier run: number, hash, latest, last-good')
    .addOption(new Option('--apply', 'of graphs: apply what was a dry run or noop').conflicts(['dryRun', 'noop']))
    .addOption(new Option('--dry-run', 'of graphs: plan and check everything, but run nothing').conflicts('noop'))
    .option('--noop', 'of graphs: run every task in no-op mode')
    .option('--force', 'of graphs: as if nothing had run before')
    .startsRun()
    .asks()
    .action(async (reference: string, flags: AgainFlags) => {
      const client = await session.client();
      const before = await client.runs.get((await findRun(client, reference)).id);
      await (before.kind === 'execute_graph' ? graphsAgain : siteAgain)(session, before, flags);
    });
}

async function siteAgain(session: Session, before: RunDetail, flags: AgainFlags): Promise<void> {
  refuse(flags, ['apply', 'dryRun', 'noop', 'force'], 'a run of a site');
  const { terminal } = session;
  const client = await session.client();
  const {
    site,
    started_by: _by,
    responsible: _responsible,
    reason: _reason,
    ...input
  } = before.parameters as SiteRunInput;
  // `latest` meant this revision at that time.
  const revision = flags.revision ?? before.revision ?? input.revision;
  const destroys = before.kind === 'redeploy_nodes';
  const question = destroys
    ? `Release ${input.nodes?.join(', ')} of site ${site}, deploy them again? All data on their disks is lost.`
    : `Start ${before.kind} of site ${site} again, with revision ${revision ?? 'latest'}?`;
  if (before.kind !== 'test_site') await confirm(terminal, question, flags.yes, destroys ? 'required' : 'asked');
  const user = userOf(terminal);
  const run = await client.sites.start(site, {
    kind: before.kind as StartRunBody['kind'],
    ...(input as Omit<StartRunBody, 'kind'>),
    ...given({ revision }),
    ...descriptionOf(flags),
    ...given({ reason: flags.reason, started_by: user }),
  });
  const { presentStarted } = await import('./started-run.ts');
  process.exitCode = await presentStarted(terminal, client, run, flags);
}

async function graphsAgain(session: Session, before: RunDetail, flags: AgainFlags): Promise<void> {
  refuse(flags, ['revision'], `a run on ${subjectOf(before)}`);
  const {
    mode,
    started_by: _by,
    responsible: _responsible,
    reason: _why,
    ...same
  } = before.parameters as GraphRunInput;
  const { checks } = same;
  if (checks !== undefined)
    throw usageError(
      'the run has asked checks of a site',
      `Ask them again: sitewright check run ${checks.site} ${checks.names.join(' ')}`,
    );
  const asksMode = flags.apply || flags.dryRun || flags.noop;
  const choosesNothing = !['graphs', 'sequence', 'from'].some((choice) => choice in same);
  const body = {
    ...same,
    // The default of the workflow.
    ...(choosesNothing ? { graphs: [{ type: 'default' }] } : {}),
    ...(asksMode || mode === undefined || mode === 'apply' ? {} : { [mode]: true }),
    ...runOptions(flags),
    ...descriptionOf(flags),
  };
  await presentGraphRun(session, await session.call('POST /graphs/execute/', { body }), flags);
}

/** Refuses flags for the other kind of run. @throws CliError with their names */
function refuse(
  flags: AgainFlags,
  options: readonly ('revision' | 'apply' | 'dryRun' | 'noop' | 'force')[],
  of: string,
) {
  const asked = options.filter((option) => flags[option] !== undefined);
  const names = asked.map((option) => `--${option === 'dryRun' ? 'dry-run' : option}`).join(', ');
  if (asked.length > 0) throw usageError(`${of} has no ${names}`, 'Omit it.');
}
