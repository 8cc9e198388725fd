import type { SignInFailure } from '../../core/words.ts';
import type { CliCommand } from '../shell/command.ts';
import { savedContexts } from '../shell/contexts.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import { CliError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';

/** How long a user may take to sign in. */
const LIMIT_MS = 300_000;

const WHY: Readonly<Record<SignInFailure, string>> = {
  'provider-away': 'the provider does not answer',
  refused: 'the provider did not confirm who you are',
  expired: 'signing in took too long',
  'no-name': 'the provider did not identify you',
  'no-role': 'none of your groups has a role here',
};

const failed = (message: string, hint: string) => new CliError({ code: 'sign-in', message, hint }, EXIT.notAllowed);

/** `sitewright login` and `logout`: a session of a user, instead of a token. */
export function registerLogin(program: CliCommand, session: Session): void {
  const { terminal } = session;
  program
    .verb('login', 'Sign in through your organization’s provider, in a browser on this machine')
    .example()
    .output()
    .action(async (flags: OutputFlags) => {
      const [client, { awaitSignIn }] = await Promise.all([session.client(), import('../shell/await-sign-in.ts')]);
      const { openid } = await client.call('GET /session');
      if (openid === null)
        throw failed(
          `the API at ${client.url} has no sign-in provider`,
          'Use a token: SITEWRIGHT_TOKEN or --token-file. docs/how-to/access.md describes access.openid.',
        );
      const waiting = await awaitSignIn();
      try {
        terminal.err(
          `Open this address in a browser on this machine:\n\n  ${openid}?${waiting.query}\n\nThen confirm there, if the page shows the code ${waiting.code}.\n`,
        );
        const limit = AbortSignal.any([AbortSignal.timeout(LIMIT_MS), terminal.interrupted()]);
        const answer = await waiting.answer(limit).catch(() => ({ error: 'expired' }));
        if ('error' in answer) {
          const why = Object.hasOwn(WHY, answer.error) ? WHY[answer.error as SignInFailure] : 'it was refused';
          throw failed(`you are not signed in: ${why}`, "Run 'sitewright login' again, or ask an admin.");
        }
        const body = { code: answer.code, verifier: waiting.verifier };
        const { token, ...signedIn } = await client.call('POST /session/exchange', { body });
        const contexts = savedContexts(terminal).signIn(client.url, token);
        const { name, role, expires_at } = signedIn;
        const text = `signed in as ${name} (${role}) until ${expires_at}\n  kept in context ${contexts.join(', ')}\n`;
        await printOne(terminal, flags, { ...signedIn, contexts }, text);
      } finally {
        waiting.close();
      }
    });

  program
    .verb('logout', 'End the session of ‘sitewright login’ and forget it')
    .example()
    .output()
    .action(async (flags: OutputFlags) => {
      const client = await session.client('saved');
      const contexts = savedContexts(terminal);
      const isSignedIn = contexts.session(client.url) !== undefined;
      if (!isSignedIn) return printOne(terminal, flags, { signed_out: false }, `not signed in at ${client.url}\n`);
      // One that has ended is forgotten all the same.
      await client.call('DELETE /session').catch((error: unknown) => {
        if (!(error instanceof CliError) || error.problem.code !== 'unauthenticated') throw error;
      });
      contexts.signOut(client.url);
      await printOne(terminal, flags, { signed_out: true }, 'signed out\n');
    });
}
