import { given } from '../../core/data/given.ts';
import type { CliCommand } from '../shell/command.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import type { Session } from '../shell/session.ts';
import { forTypedSystem } from '../shell/typed-system.ts';

interface FollowFlags extends OutputFlags {
  readonly branch: string;
  readonly folder?: string;
  readonly credential?: string;
  readonly webhookSecret?: string;
  readonly holdBefore?: readonly string[];
}

/** `site follow` and `site unfollow`: the branch of a repository that the documents of a site come from. */
export function registerSiteSource(site: CliCommand, session: Session): void {
  const { terminal } = session;

  site
    .command('follow')
    .description('Take the documents of a site from a branch of a Git repository; runs with --fetch read it')
    .example('dc1 https://git.example.com/sites.git --branch main --folder dc1')
    .argument('<site>', 'name of the site')
    .argument('<url>', 'address: https://…, ssh://…, git@host:path')
    .option('--branch <name>', 'the branch', 'main')
    .option('--folder <path>', 'folder of the documents in the repository (default: all of it)')
    .option('--credential <secret>', 'secret to read it with: USER:PASSWORD, a token, or a private key for ssh')
    .option('--webhook-secret <secret>', 'secret with which the host of the repository signs webhooks')
    .holds('runs that webhooks start wait for approval before this group; *: before any change')
    .output()
    .action(async (name: string, url: string, flags: FollowFlags) => {
      const { branch, folder, credential, webhookSecret, holdBefore } = flags;
      const body = {
        url,
        branch,
        ...given({ folder, credential, webhook_secret: webhookSecret, hold_before: holdBefore }),
      };
      const now = await session.call('PUT /sites/:site/source', { params: { site: name }, body });
      const next = forTypedSystem(session.terminal, `  next:  sitewright site update ${name} --fetch\n`);
      await printOne(terminal, flags, now, `site ${name} follows ${branch} of ${url}\n${next}`);
    });

  site
    .command('unfollow')
    .description('Stop following a branch; revisions stay')
    .example('dc1')
    .argument('<site>', 'name of the site')
    .calls(session, 'DELETE /sites/:site/source', {
      text: (_now, { args: [site] }) => `site ${site} follows no branch\n`,
    });
}
