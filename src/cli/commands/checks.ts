import { given } from '../../core/data/given.ts';
import type { CliCommand } from '../shell/command.ts';
import { type Session, userOf } from '../shell/session.ts';
import { type SiteRunFlags, siteRunOf, withSiteRun } from './run-request.ts';
import type { FollowFlags } from './started-run.ts';

interface RunFlags extends SiteRunFlags, FollowFlags {
  readonly node?: readonly string[];
}

/** `sitewright check …`: the checks of a site, by hand, and what came of them. */
export function registerCheck(program: CliCommand, session: Session): void {
  const check = program.verb('check', 'Checks of a site');
  check
    .verb('list', 'The checks of a site with their newest results')
    .example('dc1')
    .argument('<site>', 'name of the site')
    .calls(session, 'GET /sites/:site/checks', {
      columns: ['check', 'verdict', 'well', 'failed', 'unknown', 'seconds', 'at', 'nodes'],
      rows: (items) =>
        items.map(({ counts, unwell, ...one }) => ({
          ...one,
          ...counts,
          nodes: unwell.flatMap(({ node }) => node ?? []),
        })),
    });
  check
    .verb('results', 'What came of the checks of a site, newest first')
    .example('dc1 --check metrics --node n01')
    .argument('<site>', 'name of the site')
    .option('--check <name>', 'only of this check')
    .option('--node <name>', 'only of this node')
    .option('--run <run>', 'only of this run: its id or its number')
    .option('--limit <number>', 'maximum number of results')
    .calls(session, 'GET /sites/:site/checks/results', {
      columns: ['at', 'check', 'node', 'verdict', 'seconds', 'text', 'output', 'run'],
    });
  const run = check
    .verb('run', 'Ask the checks of a site now, and change nothing')
    .example('dc1 --wait')
    .example('dc1 metrics --node n01 n02 --watch')
    .argument('<site>', 'name of the site')
    .argument('[checks...]', 'names of checks (default: all)')
    .option('--node <nodes...>', 'only these nodes')
    .option('--fetch', 'first take the documents from the branch that the site follows');
  withSiteRun(run, ['test_site'])
    .follows()
    .action(async (site: string, checks: readonly string[], { node, ...flags }: RunFlags) => {
      const { terminal } = session;
      const client = await session.client();
      const started = await client.sites.start(site, {
        ...siteRunOf('test_site', node, flags),
        ...(checks.length > 0 && { checks: [...new Set(checks)] }),
        ...given({ started_by: userOf(terminal) }),
      });
      const { presentStarted } = await import('./started-run.ts');
      process.exitCode = await presentStarted(terminal, client, started, flags);
    });
}
