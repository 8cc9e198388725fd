import { resolve } from 'node:path';
import { given } from '../../core/data/given.ts';
import { apiOrigin, checkedAddress } from '../shell/api-address.ts';
import { apiToken, checkedToken } from '../shell/api-token.ts';
import type { CliCommand } from '../shell/command.ts';
import { savedContexts } from '../shell/contexts.ts';
import { type OutputFlags, printList, printOne } from '../shell/output.ts';
import { CliError, usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';

interface AddFlags extends OutputFlags {
  readonly token?: boolean;
  readonly caFile?: string;
  readonly cluster?: string;
  readonly use?: boolean;
}

/** `sitewright context …`: several systems by names, kept in the home folder. */
export function registerContext(program: CliCommand, session: Session): void {
  const group = program.verb('context', 'Contexts: the systems that commands speak to, by names of your own');
  registerShown(group, session);
  registerChanges(group, session);
}

/** What there is. */
function registerShown(group: CliCommand, session: Session): void {
  const { terminal } = session;

  group
    .verb('list', 'Contexts of this user, and which one is in use')
    .example()
    .output()
    .action(async (flags: OutputFlags) => {
      const contexts = savedContexts(terminal);
      const { contexts: all } = contexts.all();
      const inUse = contexts.inUse(session.flags().context, terminal.env);
      const rows = [...all].map(([name, { url, token, token_file }]) => ({
        name,
        in_use: name === inUse,
        url,
        // The token itself is never shown.
        token: token !== undefined ? 'kept' : (token_file ?? (contexts.session(url) === undefined ? null : 'login')),
      }));
      await printList(terminal, flags, rows, ['name', 'in_use', 'url', 'token']);
    });

  group
    .verb('show', 'The system that commands speak to, and why: its address, its store, and since when it is there')
    .example()
    .example('--context prod')
    .output()
    .action(async (flags: OutputFlags) => {
      const { url, from, context = null } = await apiOrigin(terminal, session.flags());
      const system = await session.call('GET /system').catch((error: unknown) => {
        if (error instanceof CliError) return error;
        throw error;
      });
      const answer = system instanceof CliError ? { problem: system.problem.message } : system;
      const text =
        'problem' in answer
          ? `  it does not say more: ${answer.problem}\n`
          : `  store     ${answer.store}, since ${answer.since}${answer.empty ? ' (empty)' : ''}\n  Temporal  ${answer.temporal}\n`;
      await printOne(terminal, flags, { context, url, from, ...answer }, `${url} (${from})\n${text}`);
      if (system instanceof CliError) process.exitCode = system.exitCode;
    });
}

function registerChanges(group: CliCommand, session: Session): void {
  const { terminal } = session;

  group
    .verb('add', 'Add a system, or change it; with --token-file, its token is read there each time')
    .example('prod https://sitewright.example.com --token-file ~/prod.token', 'keeps the name of the file')
    .example('prod https://sitewright.example.com --token < prod.token', 'keeps the token')
    .argument('<name>', 'a name of your own')
    .argument('<url>', 'address of its API')
    .option('--token', 'read a token from standard input and keep it, in a file that only you may read')
    .option('--ca-file <file>', 'authority that signed its certificate, as of SITEWRIGHT_CA_FILE')
    .option('--cluster <name>', "owner of graphs that 'graph upload' stores without one")
    .option('--use', 'and use it from now on')
    .output()
    .action((name: string, address: string, flags: AddFlags) => addContext(session, name, address, flags));

  group
    .verb('use', 'Use a context from now on, in every folder')
    .example('prod')
    .example('--none', 'the API of the settings again')
    .argument('[name]', 'name of the context')
    .option('--none', 'use none: the address of the settings, as without contexts')
    .output()
    .action(async (name: string | undefined, { none, ...flags }: OutputFlags & { readonly none?: boolean }) => {
      if ((name === undefined) === (none !== true))
        throw usageError('name a context, or give --none', "'sitewright context list' shows them.");
      savedContexts(terminal).use(name);
      const { url, from } = await apiOrigin(terminal, session.flags());
      await printOne(terminal, flags, { name: name ?? null, url }, `commands speak to ${url} (${from})\n`);
    });

  group
    .verb('remove', 'Remove a context with its token and session; its system is not changed')
    .example('prod')
    .argument('<name>', 'name of the context')
    .output()
    .action(async (name: string, flags: OutputFlags) => {
      savedContexts(terminal).remove(name);
      await printOne(terminal, flags, { name }, `context ${name} removed\n`);
    });
}

async function addContext(
  session: Session,
  name: string,
  address: string,
  { token: reads, caFile, cluster, use, ...flags }: AddFlags,
) {
  const { terminal } = session;
  if (!/^[\w.-]{1,100}$/.test(name))
    throw usageError(`'${name}' is not a name of a context`, 'Use letters, digits, dot, underscore and hyphen.');
  const { tokenFile } = session.flags();
  if (reads && tokenFile !== undefined)
    throw usageError('--token and --token-file exclude each other', 'Omit one of them.');
  const url = checkedAddress(address, 'the address');
  // A file that holds no token is refused now, not at the first call.
  if (tokenFile !== undefined) await apiToken(terminal, { tokenFile });
  const text = reads ? await terminal.pipedLine?.() : undefined;
  if (reads && text === undefined)
    throw usageError('there is no token on standard input', `sitewright context add ${name} ${url} --token < FILE`);
  const token = text === undefined ? undefined : checkedToken(text.trim(), 'standard input');
  const inFolder = (file: string | undefined) => (file === undefined ? undefined : resolve(terminal.cwd, file));
  const files = given({ token_file: inFolder(tokenFile), ca_file: inFolder(caFile) });
  const contexts = savedContexts(terminal);
  contexts.put(name, { url, ...files, ...given({ token, cluster }) });
  if (use) contexts.use(name);
  const next = use ? 'it is in use' : `next:  sitewright context use ${name}`;
  await printOne(terminal, flags, { name, url, in_use: use === true }, `context ${name}: ${url}\n  ${next}\n`);
}

/** `sitewright config show`. */
export function registerConfig(program: CliCommand, session: Session): void {
  const { terminal } = session;
  program
    .verb('config', 'Settings')
    .verb('show', 'Every setting, its value and where it comes from; secrets are not shown')
    .example('-f json')
    .prints(
      session,
      async () => {
        const loaded = await session.settings();
        const { showSettings } = await import('../../platform/settings/show-settings.ts');
        for (const { message, hint } of loaded.warnings)
          terminal.err(`warning: ${message}${hint === undefined ? '' : `. ${hint}`}\n`);
        return showSettings(loaded).map(({ path, value, origin }) => ({ setting: path, value, origin }));
      },
      { columns: ['setting', 'value', 'origin'] },
    );
}
