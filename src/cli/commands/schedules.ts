import { Option } from 'commander';
import type { Schedule } from '../../core/contracts/schedules.ts';
import { given } from '../../core/data/given.ts';
import { subjectOf } from '../../core/run/subject.ts';
import { OVERLAP_POLICIES, type OverlapPolicy } from '../../core/words.ts';
import type { CliCommand } from '../shell/command.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import { usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';
import { forTypedSystem } from '../shell/typed-system.ts';
import { type DescriptionFlags, descriptionOf } from './described-run.ts';

interface CreateFlags extends OutputFlags, DescriptionFlags {
  readonly test?: string;
  readonly update?: string;
  readonly cluster?: string;
  readonly cron?: readonly string[];
  readonly timezone?: string;
  readonly overlap?: OverlapPolicy;
  readonly paused?: boolean;
  readonly revision?: string;
  readonly releaseRemoved?: boolean;
  readonly fetch?: boolean;
  readonly holdBefore?: readonly string[];
  readonly type?: readonly string[];
  readonly dryRun?: boolean;
  readonly noop?: boolean;
  readonly reason?: string;
}

/** `sitewright schedule …`: runs that start at set times. */
export function registerSchedule(program: CliCommand, session: Session): void {
  const group = program.verb('schedule', 'Schedules: runs that start at set times');
  registerCreate(group, session);
  registerViews(group, session);
  registerActs(group, session);
}

function registerCreate(group: CliCommand, session: Session): void {
  group
    .verb('create', 'Start runs at set times: of a site (--test, --update), or of graphs (--cluster)')
    .example('nightly --test dc1 --cron "30 6 * * MON-FRI" --timezone Europe/Berlin')
    .example('kernels --cluster lab --type kernel-update --cron "@every 168h"')
    .argument('<name>', 'name: lower-case letters, digits, dot, underscore, hyphen')
    .addOption(new Option('--test <site>', 'verify this site').conflicts(['update', 'cluster']))
    .addOption(new Option('--update <site>', 'update this site to its latest revision').conflicts(['cluster']))
    .ofCluster('run graphs of this cluster')
    .repeatable('--cron <times>', 'when: "30 6 * * MON-FRI", @daily, "@every 4h"')
    .option('--timezone <name>', 'time zone of --cron, such as Europe/Berlin (default: UTC)')
    .addOption(
      new Option('--overlap <policy>', 'if the last run is still running (default: skip)').choices([
        ...OVERLAP_POLICIES,
      ]),
    )
    .option('--paused', 'start nothing until it is resumed')
    .option('--revision <revision>', 'of a site: number, hash, latest or last-good (default: the latest)')
    .option('--fetch', 'of a site: first take the documents from the branch that it follows')
    .option('--release-removed', 'with --update: also release the machines of nodes removed from the documents')
    .holds('with --update or --cluster: wait for approval before this group or task; *: before any change')
    .option('-t, --type <types...>', 'with --cluster: types of graphs, in order (default: default)')
    .dryRuns()
    .reason('kept with each run')
    .describesRun()
    .output()
    .action(async (name: string, flags: CreateFlags) => {
      const { cron = [], timezone, overlap, paused } = flags;
      if (cron.length === 0) throw usageError('a schedule needs times', 'Give --cron, such as --cron "0 6 * * *".');
      const body = {
        name,
        ...scheduledRun(flags),
        cron: [...cron],
        ...given({ timezone, overlap }),
        ...(paused ? { paused } : {}),
      };
      const made = await session.call('POST /schedules', { body });
      await printOne(session.terminal, flags, made, `schedule ${name} created\n${nextText(made)}`);
    });
}

function registerViews(group: CliCommand, session: Session): void {
  group
    .verb('list', 'Schedules with their next times')
    .example()
    .calls(session, 'GET /schedules', {
      columns: ['name', 'kind', 'of', 'cron', 'timezone', 'paused', 'next'],
      rows: (items) =>
        items.map((one) => ({ ...one, of: subjectOf(one), next: one.paused ? null : one.next_times[0] })),
    });

  group
    .verb('show', 'A schedule: its times, its next and its last runs')
    .example('nightly')
    .argument('<name>', 'name of the schedule')
    .calls(session, 'GET /schedules/:schedule');
}

function registerActs(group: CliCommand, session: Session): void {
  const steer = (verb: 'pause' | 'resume' | 'run', description: string, said: (one: Schedule) => string): void => {
    group
      .verb(verb, description)
      .example('nightly')
      .argument('<name>', 'name of the schedule')
      .reason('kept in the audit trail')
      .calls<`POST /schedules/:schedule/${typeof verb}`, { readonly reason?: string }>(
        session,
        `POST /schedules/:schedule/${verb}`,
        {
          ask: ({ args: [schedule = ''], flags: { reason } }) => ({ params: { schedule }, body: given({ reason }) }),
          text: (now) => forTypedSystem(session.terminal, said(now)),
        },
      );
  };
  steer('pause', 'Pause a schedule: it starts no runs', ({ name }) => `schedule ${name} is paused\n`);
  steer('resume', 'Resume a paused schedule', (one) => `schedule ${one.name} is resumed\n${nextText(one)}`);
  steer(
    'run',
    'Start a run of a schedule now',
    (one) => `schedule ${one.name} is starting a run\n  see it:  sitewright run list --label schedule:${one.name}\n`,
  );

  group
    .verb('delete', 'Delete a schedule; its runs stay')
    .example('nightly')
    .argument('<name>', 'name of the schedule')
    .calls(session, 'DELETE /schedules/:schedule', {
      question: { need: 'asked', text: ({ args: [schedule] }) => `Delete the schedule ${schedule}?` },
      record: (_gone, { args: [name] }) => ({ name }),
      text: (_gone, { args: [name] }) => `schedule ${name} deleted\n`,
    });
}

const nextText = ({ next_times: [next], paused, timezone }: Schedule): string =>
  paused ? '  it is paused\n' : `  next:  ${next ?? 'never'} (times of ${timezone})\n`;

/** Kind and input of the runs that the flags name. */
function scheduledRun(flags: CreateFlags) {
  const { test, update, cluster, type, revision, releaseRemoved, fetch, holdBefore, dryRun, noop, reason } = flags;
  const foreign = (names: readonly (readonly [name: string, value: unknown])[], to: string): void => {
    const [name] = names.find(([, value]) => value !== undefined) ?? [];
    if (name !== undefined) throw usageError(`${name} is not for ${to}`, `Omit ${name}.`);
  };
  const described = {
    ...descriptionOf(flags),
    ...given({ hold_before: holdBefore, reason }),
  };
  const ofGraphs = [['--type', type] as const, ['--dry-run', dryRun] as const, ['--noop', noop] as const];
  if (cluster !== undefined) {
    foreign(
      [['--revision', revision] as const, ['--fetch', fetch] as const, ['--release-removed', releaseRemoved] as const],
      'graphs',
    );
    const mode = dryRun ? 'dry_run' : noop ? 'noop_run' : undefined;
    const input = {
      cluster: Number(cluster),
      ...(type === undefined ? {} : { graphs: type.map((one) => ({ type: one })) }),
      ...given({ mode }),
      ...described,
    };
    return { kind: 'execute_graph' as const, input };
  }
  const site = test ?? update;
  if (site === undefined)
    throw usageError('a schedule needs a subject', 'Give --test SITE, --update SITE or --cluster ID.');
  foreign(ofGraphs, 'a site');
  const onlyUpdate = [['--release-removed', releaseRemoved] as const, ['--hold-before', holdBefore] as const];
  if (test !== undefined) foreign(onlyUpdate, '--test');
  const input = {
    site,
    ...given({ revision }),
    ...(fetch ? { fetch } : {}),
    ...(releaseRemoved ? { release_removed: true } : {}),
    ...described,
  };
  return { kind: test === undefined ? ('update_site' as const) : ('test_site' as const), input };
}
