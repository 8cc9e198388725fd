import { Option } from 'commander';
import type { ClusterRehearsalBody, Rehearsal, SiteRehearsalBody } from '../../core/contracts/index.ts';
import { given } from '../../core/data/given.ts';
import { SITE_RUN_KINDS } from '../../core/words.ts';
import type { CliCommand } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { type OutputFlags, printOne } from '../formats/output.ts';
import { clusterArgument } from '../id-argument.ts';
import { usageError } from '../problem.ts';
import type { Session } from '../session.ts';

interface FaultFlags extends OutputFlags {
  readonly failNode?: readonly string[];
  readonly failTask?: readonly string[];
  readonly maasAway?: readonly string[];
}

interface SiteFlags extends FaultFlags {
  readonly kind?: (typeof SITE_RUN_KINDS)[number];
  readonly erase?: boolean;
  readonly revision?: string;
  readonly releaseRemoved?: boolean;
}

interface ClusterFlags extends FaultFlags {
  readonly type?: readonly string[];
  readonly node?: readonly number[];
  readonly force?: boolean;
}

/** `sitewright rehearse …`: what a run would do. */
export function registerRehearse(program: CliCommand, session: Session): void {
  const rehearse = program.verb(
    'rehearse',
    'What a run would do, how long it would take, and its report; nothing is changed',
  );
  withFaults(
    rehearse
      .verb('site', 'Rehearse a run on a site: its deployment, or another --kind')
      .example('dc1')
      .example('dc1 node-1 --kind redeploy_nodes')
      .example('dc1 --fail-node node-1 --maas-away 10m@5m', 'and MAAS is away for ten minutes, from minute five on')
      .argument('<site>', 'name of the site')
      .argument('[nodes...]', 'with --kind redeploy_nodes: the nodes')
      .addOption(new Option('--kind <kind>', 'the run to rehearse').choices(SITE_RUN_KINDS).default('deploy_site'))
      .option('--erase', 'of redeploy_nodes: also erase their disks')
      .option('--release-removed', 'of update_site: also release the machines of nodes removed from the documents')
      .option('--revision <revision>', 'number, hash, latest or last-good (default: the latest)')
      .repeatable('--fail-node <name>', 'the deployment of this node fails')
      .repeatable(
        '--maas-away <time>',
        'MAAS does not answer for this long: 10m, or 10m@5m to begin after five minutes (default: after one)',
      ),
  ).action(async (site: string, nodes: readonly string[], flags: SiteFlags) => {
    const body: SiteRehearsalBody = {
      ...given({ kind: flags.kind, revision: flags.revision, erase: flags.erase }),
      ...(nodes.length === 0 ? {} : { nodes: [...nodes] }),
      ...given({ release_removed: flags.releaseRemoved }),
      ...faultsOf(flags),
    };
    await present(session, flags, await session.call('POST /sites/:site/rehearsals', { params: { site }, body }));
  });
  withFaults(
    rehearse
      .verb('cluster', 'Rehearse a run of graphs on a cluster')
      .example('lab')
      .example('lab --type default --fail-task netconfig@node-1')
      .argument('<cluster>', 'id or name of the cluster', clusterArgument)
      .option('-t, --type <types...>', 'types of graphs, in order (default: those of deployment changes)')
      .nodes('only on these nodes; with --type')
      .option('--force', 'as if nothing had run before'),
  ).action(async (cluster: string, flags: ClusterFlags) => {
    const { type, node } = flags;
    if (node !== undefined && type === undefined) throw usageError('--node needs the graphs', 'Add --type default.');
    const body: ClusterRehearsalBody = {
      ...given({
        graphs: type?.map((one) => ({ type: one, ...given({ nodes: node && [...node] }) })),
        force: flags.force,
      }),
      ...faultsOf(flags),
    };
    await present(
      session,
      flags,
      await session.call('POST /clusters/:id/rehearsals', { params: { id: cluster }, body }),
    );
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
  await printOne(session.terminal, flags, rehearsal, rehearsalText(rehearsal, session.terminal.color));
  if (
    rehearsal.outcome !== 'success' &&
    rehearsal.outcome !== 'success_with_failures' &&
    rehearsal.outcome !== 'nothing_to_do'
  )
    process.exitCode = EXIT.failed;
}
