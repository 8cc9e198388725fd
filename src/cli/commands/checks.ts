import { given } from '../../core/data/given.ts';
import type { CliCommand } from '../command.ts';
import { type SiteRunFlags, siteRunOf, withSiteRun } from '../run-request.ts';
import { type Session, userOf } from '../session.ts';
import type { FollowFlags } from '../started-run.ts';

interface RunFlags extends SiteRunFlags, FollowFlags {
  readonly node?: readonly string[];
}

/** `sitewright check …`: the checks of a site, by hand. */
export function registerCheck(program: CliCommand, session: Session): void {
  const check = program.verb('check', 'Checks of a site');
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
      const { presentStarted } = await import('../started-run.ts');
      process.exitCode = await presentStarted(terminal, client, started, flags);
    });
}
