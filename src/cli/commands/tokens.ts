import type { CreatedToken } from '../../core/contracts/tokens.ts';
import { given } from '../../core/data/given.ts';
import { unchecked } from '../shell/client.ts';
import type { CliCommand } from '../shell/command.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import type { Session } from '../shell/session.ts';
import type { Terminal } from '../shell/terminal.ts';

interface CreateFlags extends OutputFlags {
  readonly name: string;
  readonly role: string;
  readonly expires?: string;
}

/** `sitewright token …`: who may use the API. */
export function registerToken(program: CliCommand, session: Session): void {
  const { terminal } = session;
  const group = program.verb('token', 'Tokens of the API and their permissions');

  group
    .verb('create', 'Create a token; it is shown only once')
    .example('--name nina --role operator --expires 90d')
    .requiredOption('--name <name>', 'its owner, for the audit trail')
    .requiredOption('--role <role>', 'viewer, operator or admin')
    .option('--expires <when>', 'expiry: 90d, 12h, 30m from now, or ISO 8601 (default: never)')
    .output()
    .action(async ({ name, role, expires, ...flags }: CreateFlags) => {
      const body = { name, role: unchecked(role), ...given({ expires }) };
      await showCreated(terminal, flags, await session.call('POST /tokens', { body }));
    });

  group
    .verb('list', 'Tokens, newest first; never the tokens themselves')
    .example()
    .calls(session, 'GET /tokens', {
      columns: ['name', 'role', 'state', 'created_by', 'expires_at', 'last_used_at'],
    });

  group
    .command('revoke')
    .argument('<token>', 'its name or id')
    .description('Revoke a token immediately')
    .example('nina')
    .calls(session, 'DELETE /tokens/:token', {
      question: { need: 'asked', text: ({ args: [token] }) => `Revoke the token '${token}'?` },
      text: ({ name }) => `the token '${name}' is revoked\n`,
    });

  group
    .verb('bootstrap', 'Create the first token of an admin directly in the store; run it on the API’s machine')
    .example('--name admin')
    .option('--name <name>', 'its owner', 'admin')
    .option('--expires <when>', 'expiry, as for create (default: never)')
    .output()
    .action(async ({ name, expires, ...flags }: Omit<CreateFlags, 'role'>) => {
      const { settings } = await session.settings();
      const { bootstrapToken } = await import('../../../worker/database.ts');
      await showCreated(terminal, flags, await bootstrapToken(settings, name, expires));
      if (settings.access.tokens === 'off')
        terminal.err('tokens are off: set access.tokens to on (SITEWRIGHT_ACCESS_TOKENS=on) and restart the API\n');
    });
}

/** Prints only the token on standard output, so that it can go straight into a file; details go to standard error. */
async function showCreated(terminal: Terminal, flags: OutputFlags, created: CreatedToken): Promise<void> {
  await printOne(terminal, flags, created, `${created.token}\n`);
  if (flags.format !== 'table') return;
  const { name, role, expires_at } = created;
  terminal.err(
    `the token of '${name}' (${role}, ${expires_at === null ? 'without expiry' : `until ${expires_at}`}); it cannot be shown again\n`,
  );
}
