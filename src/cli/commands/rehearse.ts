import { Option } from 'commander';
import type { Rehearsal } from '../../core/contracts/rehearsals.ts';
import { given } from '../../core/data/given.ts';
import { SITE_RUN_KINDS } from '../../core/words.ts';
import type { CliCommand } from '../shell/command.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { clusterArgument, sequenceArgument } from '../shell/id-argument.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import { usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';
import {
  type ChosenGraphFlags,
  chosenGraphsOf,
  clusterOf,
  rolloutsOf,
  type SiteRunFlags,
  siteRunOf,
  withChosenGraphs,
  withSiteRun,
} from './run-request.ts';

interface FaultFlags extends OutputFlags {
  readonly failNode?: readonly string[];
  readonly failTask?: readonly string[];
  readonly maasAway?: readonly string[];
}

interface SiteFlags extends FaultFlags, SiteRunFlags {
  readonly kind: (typeof SITE_RUN_KINDS)[number];
}

interface ClusterFlags extends FaultFlags, ChosenGraphFlags {
  readonly sequence?: string;
}

/** What commands that start runs have, and a rehearsal has not. */
const REFUSED: readonly (readonly [flags: string, why: string, hint: string])[] = [
  ['--wait', 'a rehearsal is over in seconds: there is nothing to wait for', 'Leave it out.'],
  ['--watch', 'a rehearsal is over in seconds: there is nothing to watch', 'Leave it out.'],
  ['-y, --yes', 'a rehearsal changes nothing, and asks nothing', 'Leave it out.'],
];
const REFUSED_OF_SITE: typeof REFUSED = [
  ...REFUSED,
  ['--fetch', 'a rehearsal fetches no documents: they would become a revision', 'Rehearse the latest revision.'],
  ['--dry-run', 'a rehearsal changes nothing', 'Leave it out.'],
  ['--detailed-exitcode', 'the exit code of a rehearsal says how the run would end', 'Leave it out.'],
];
const REFUSED_OF_CLUSTER: typeof REFUSED = [
  ...REFUSED,
  ['--local', 'the tasks of a file run on this machine, not in a rehearsal', 'Rehearse a cluster, or run --dry-run.'],
];

function refusing(command: CliCommand, options: typeof REFUSED): CliCommand {
  for (const [flags, why, hint] of options) {
    const option = new Option(flags, why).hideHelp();
    command.addOption(option).on(`option:${option.name()}`, () => {
      throw usageError(`${option.long}: ${why}`, hint);
    });
  }
  return command;
}

/** `sitewright rehearse …`: what a run would do. What the commands that start it understand, these understand. */
export function registerRehearse(program: CliCommand, session: Session): void {
  const rehearse = program.verb(
    'rehearse',
    'What a run would do, how long it would take, and its report; nothing is changed',
  );
  const site = rehearse
    .verb('site', 'Rehearse a run on a site: its deployment, or another --kind')
    .example('dc1')
    .example('dc1 node-1 --kind redeploy_nodes')
    .example('dc1 --fail-node node-1 --maas-away 10m@5m', 'and MAAS is away for ten minutes, from minute five on')
    .argument('<site>', 'name of the site')
    .argument('[nodes...]', 'with --kind redeploy_nodes: the nodes')
    .addOption(new Option('--kind <kind>', 'the run to rehearse').choices(SITE_RUN_KINDS).default('deploy_site'));
  refusing(withSiteRun(site, SITE_RUN_KINDS), REFUSED_OF_SITE)
    .repeatable('--fail-node <name>', 'the deployment of this node fails')
    .repeatable(
      '--maas-away <time>',
      'MAAS does not answer for this long: 10m, or 10m@5m to begin after five minutes (default: after one)',
    );
  withFaults(site).action(async (name: string, nodes: readonly string[], flags: SiteFlags) => {
    const started = siteRunOf(flags.kind, nodes.length === 0 ? undefined : nodes, flags);
    const body = { ...started, ...faultsOf(flags) };
    await present(session, flags, await session.call('POST /sites/:site/rehearsals', { params: { site: name }, body }));
  });

  const cluster = rehearse
    .verb(
      'cluster',
      'Rehearse a run of graphs on a cluster: that of deployment changes, or of the graphs that are named',
    )
    .example('lab')
    .example('lab --type default --fail-task netconfig@node-1')
    .example('--from 12 --fail-task netconfig', 'the continuation of an ended run')
    .argument('[cluster]', 'id or name of the cluster; with --from, that of the earlier run', clusterArgument)
    .addOption(
      new Option('--sequence <sequence>', 'the graphs of this sequence')
        .argParser(sequenceArgument)
        .conflicts(['type']),
    );
  refusing(withChosenGraphs(cluster, 'those of deployment changes'), REFUSED_OF_CLUSTER);
  withFaults(cluster).action(async (named: string | undefined, flags: ClusterFlags) => {
    const { sequence } = flags;
    const id = await clusterOf(session, named, flags.from, 'Or an ended run, with --from.');
    const body = {
      ...chosenGraphsOf(flags),
      ...(await rolloutsOf(flags, session.terminal)),
      ...(sequence === undefined ? {} : { sequence: Number(sequence) }),
      ...faultsOf(flags),
    };
    await present(session, flags, await session.call('POST /clusters/:id/rehearsals', { params: { id }, body }));
  });
}

const withFaults = (command: CliCommand): CliCommand =>
  command.repeatable('--fail-task <task[@node]>', 'this task fails, on this node or on each').output();

function faultsOf({ failNode, failTask, maasAway }: FaultFlags) {
  return given({
    fail_nodes: failNode && [...failNode],
    fail_tasks: failTask?.map((text) => {
      const at = text.lastIndexOf('@');
      return at > 0 ? { task: text.slice(0, at), node: text.slice(at + 1) } : { task: text };
    }),
    maas_away: maasAway?.map(awayOf),
  });
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

/** `10m`, `10m@5m`: for how long, and after what. */
function awayOf(text: string): { readonly seconds: number; readonly after?: number } {
  const [, long, unit = '', after, afterUnit = ''] = /^(\d{1,6})([smh])(?:@(\d{1,6})([smh]))?$/.exec(text) ?? [];
  if (long === undefined)
    throw usageError(`'${text}' is not a time`, 'Write --maas-away 10m, or 10m@5m to begin after five minutes.');
  return {
    seconds: Number(long) * SECONDS[unit]!,
    ...(after === undefined ? {} : { after: Number(after) * SECONDS[afterUnit]! }),
  };
}

async function present(session: Session, flags: OutputFlags, rehearsal: Rehearsal): Promise<void> {
  const { rehearsalText } = await import('../views/rehearsal.ts');
  const cluster = rehearsal.cluster === null ? undefined : session.textOf('cluster', rehearsal.cluster);
  session.foundChanges(rehearsal.steps.length > 0);
  await printOne(session.terminal, flags, rehearsal, rehearsalText(rehearsal, session.terminal.color, cluster));
  if (
    rehearsal.outcome !== 'success' &&
    rehearsal.outcome !== 'success_with_failures' &&
    rehearsal.outcome !== 'nothing_to_do'
  )
    process.exitCode = EXIT.failed;
}
