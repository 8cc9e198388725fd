import { given } from '../../core/data/given.ts';
import { withoutEnd } from '../../core/text/text.ts';
import { unnamedSettingsFile } from '../../platform/settings/settings-file.ts';
import { type Context, savedContexts } from './contexts.ts';
import { EXIT } from './exit-codes.ts';
import { CliError, usageError } from './problem.ts';
import type { Terminal } from './terminal.ts';

/** Options of every command. */
export interface GlobalFlags {
  readonly api?: string;
  readonly context?: string;
  readonly config?: string;
  readonly tokenFile?: string;
}

/** Defaults of `api.host` and `api.port`, repeated to avoid loading the schema; a test keeps them equal. */
export const DEFAULT_API = { host: '127.0.0.1', port: 8080 } as const;

/** The address of an API, and why it is this one. */
interface ApiOrigin {
  readonly url: string;
  /** For people: `--api`, `context prod` … */
  readonly from: string;
  /** The name of the context, where it names the address. */
  readonly context?: string;
  /** The file of the working folder that names it: no token that someone else gave is sent there. */
  readonly ofFolder?: string;
}

/**
 * Address of the API: a flag (`--api`, `--context`), else the environment (SITEWRIGHT_API, SITEWRIGHT_CONTEXT, an address
 * in variables of the settings), else the context in use, else the settings. @throws CliError
 */
export async function apiOrigin(terminal: Terminal, flags: GlobalFlags): Promise<ApiOrigin> {
  const { env } = terminal;
  if (flags.api !== undefined) return { url: checkedAddress(flags.api, '--api'), from: '--api' };
  const contexts = savedContexts(terminal);
  const named = (context: string, from: string): ApiOrigin => ({
    url: checkedAddress(contexts.named(context).url, `context ${context}`),
    from,
    context,
  });
  if (flags.context !== undefined) return named(flags.context, `context ${flags.context}, of --context`);
  if (env.SITEWRIGHT_API) return { url: checkedAddress(env.SITEWRIGHT_API, 'SITEWRIGHT_API'), from: 'SITEWRIGHT_API' };
  if (env.SITEWRIGHT_CONTEXT)
    return named(env.SITEWRIGHT_CONTEXT, `context ${env.SITEWRIGHT_CONTEXT}, of SITEWRIGHT_CONTEXT`);
  const inEnvironment = env.SITEWRIGHT_API_HOST || env.SITEWRIGHT_API_PORT || env.SITEWRIGHT_API_TLS_CERT_FILE;
  if (flags.config === undefined && !env.SITEWRIGHT_CONFIG && !inEnvironment) {
    const { current } = contexts.all();
    if (current !== undefined) return named(current, `context ${current}, in use`);
    if (unnamedSettingsFile(env, terminal.cwd) === undefined)
      return { url: addressOf(DEFAULT_API.host, DEFAULT_API.port), from: 'default' };
  }
  const { settings, origins, file, isOfFolder } = await loadedSettings(terminal, flags);
  const { api } = settings;
  const url = addressOf(api.host, api.port, api.tls.cert_file !== undefined);
  const isNamedThere = ['api.host', 'api.port'].some((path) => origins.get(path)?.from === 'file');
  return { url, from: 'settings', ...(isOfFolder && isNamedThere && { ofFolder: file }) };
}

/** The context whose system has this address and is spoken to: its token is for no other. */
export function contextOf(terminal: Terminal, origin: ApiOrigin): Context | undefined {
  return origin.context === undefined ? undefined : savedContexts(terminal).named(origin.context);
}

/** Reads and checks all settings, with the origin of each. */
export async function loadedSettings(terminal: Terminal, flags: GlobalFlags) {
  const { loadSettings } = await import('../../platform/settings/load-settings.ts');
  const loaded = loadSettings({
    env: terminal.env,
    cwd: terminal.cwd,
    ...given({ configFile: flags.config }),
  });
  if (loaded.ok) return loaded;
  throw new CliError(
    {
      code: 'settings',
      message: 'the settings are not valid',
      hint: 'docs/reference/settings.md explains every setting.',
      errors: loaded.problems,
    },
    EXIT.invalid,
  );
}

/** Turns a listening address into one for clients: all interfaces include loopback. */
export function addressOf(host: string, port: number, isSecure = false): string {
  const reachable = host === '0.0.0.0' || host === '*' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `${isSecure ? 'https' : 'http'}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** @param from whose address it is, for messages. @throws CliError */
export function checkedAddress(text: string, from: string): string {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw usageError(`${from} is not an address of an API: ${text}`, 'Write it as http://127.0.0.1:8080.');
  return withoutEnd(withScheme, '/').replace(/\/api\/v1$/, '');
}
