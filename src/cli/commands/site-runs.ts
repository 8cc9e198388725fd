import type { StartRunBody } from '../../core/contracts/runs.ts';
import { given } from '../../core/data/given.ts';
import { counted } from '../../core/text/text.ts';
import type { ApiClient } from '../shell/client.ts';
import type { CliCommand } from '../shell/command.ts';
import { confirm, DRY_RUN } from '../shell/confirm.ts';
import { type Session, userOf } from '../shell/session.ts';
import { type SiteRunFlags, siteRunOf, withSiteRun } from './run-request.ts';
import type { FollowFlags } from './started-run.ts';

interface StartFlags extends SiteRunFlags, FollowFlags {
  readonly yes?: boolean;
}

/** `sitewright site deploy, update, redeploy, test`: runs on a site. */
export function registerSiteRuns(site: CliCommand, session: Session): void {
  fetching(starter(site, session, 'deploy', 'deploy_site', 'Deploy a site: its groups of nodes, in order'));
  fetching(
    starter(
      site,
      session,
      'update',
      'update_site',
      'Deploy changes since the last deployed revision; the rest is not changed',
    ),
  );
  starter(
    site,
    session,
    'redeploy',
    'redeploy_nodes',
    'Release nodes and deploy them again: all data on their disks is lost',
  ).argument('<nodes...>', 'names of the nodes');
  fetching(starter(site, session, 'test', 'test_site', 'Verify a site and change nothing'));
}

const fetching = (command: CliCommand): CliCommand =>
  command.option('--fetch', 'first take the documents from the branch that the site follows');

/** How the commands that start runs on a site are typed. */
const STARTS = {
  deploy: ['dc1 --watch'],
  update: ['dc1 --hold-before control --reason "change 4711"'],
  redeploy: ['dc1 node-1 --erase --watch'],
  test: ['dc1 --wait'],
} as const;

/** A command that starts a run on a site. */
function starter(
  site: CliCommand,
  session: Session,
  verb: keyof typeof STARTS,
  kind: StartRunBody['kind'],
  description: string,
): CliCommand {
  const { terminal } = session;
  const command = site
    .verb(verb, description)
    .example(...STARTS[verb])
    .argument('<site>', 'name of the site');
  return withSiteRun(command, [kind])
    .follows()
    .asks()
    .action(async (name: string, ...rest: unknown[]) => {
      const nodes = Array.isArray(rest[0]) ? (rest[0] as string[]) : undefined;
      const flags = (nodes ? rest[1] : rest[0]) as StartFlags;
      const client = await session.client();
      // Without a user to answer, ask only before destructive commands.
      const isDry = (flags.yes as unknown) === DRY_RUN;
      const asks = verb !== 'test' && (isDry || (!flags.yes && (terminal.interactive || nodes !== undefined)));
      if (asks)
        await confirm(
          terminal,
          await question(client, verb, name, flags, nodes),
          flags.yes,
          nodes ? 'required' : 'asked',
        );
      const user = userOf(terminal);
      const run = await client.sites.start(name, { ...siteRunOf(kind, nodes, flags), ...given({ started_by: user }) });
      const { presentStarted } = await import('./started-run.ts');
      process.exitCode = await presentStarted(terminal, client, run, flags);
    });
}

/** The question before a run starts, below what it changes and what follows. */
async function question(
  client: ApiClient,
  verb: string,
  site: string,
  flags: StartFlags,
  nodes: readonly string[] | undefined,
): Promise<string> {
  if (nodes) {
    const disks = flags.erase ? 'erase their disks and ' : '';
    return `Release ${nodes.join(', ')} of site ${site}, ${disks}deploy them again? All data on their disks is lost.`;
  }
  if (flags.fetch) return `${verb === 'update' ? 'Update' : 'Deploy'} site ${site} from the branch that it follows?`;
  const revision = flags.revision ?? 'latest';
  const [strategy, named, clusters] = await Promise.all([
    client.sites.strategy(site, revision),
    client.sites.get(site),
    client.call('GET /clusters'),
  ]);
  const plan =
    verb === 'update'
      ? (await import('../views/site-difference.ts')).differenceText(await client.sites.difference(site, revision, {}))
      : (await import('../views/plan.ts')).planText(strategy, await client.nodes.status(site, revision));
  const cluster = named.cluster ?? clusters.find((one) => one.site === site)?.name;
  const tasks = cluster === undefined ? '' : `then the tasks of cluster ${cluster}\n`;
  const count = new Set(strategy.groups.flatMap((group) => group.nodes)).size;
  const release = flags.releaseRemoved ? ' and release the machines of removed nodes' : '';
  const adopt = flags.adopt ? `, and take over the machines of ${flags.adopt.join(', ')} as they are` : '';
  return `${plan}${tasks}${verb === 'update' ? 'Update' : 'Deploy'} site ${site}: ${counted(count, 'node')} in ${counted(strategy.groups.length, 'group')}${release}${adopt}?`;
}
