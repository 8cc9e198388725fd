import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { given } from '../core/data/given.ts';
import { withoutEnd } from '../core/text/text.ts';
import { EXIT } from './exit-codes.ts';
import { CliError, usageError } from './problem.ts';
import type { Terminal } from './terminal.ts';

/** Options of every command. */
export interface GlobalFlags {
  readonly api?: string;
  readonly config?: string;
  readonly tokenFile?: string;
}

/** Defaults of `api.host` and `api.port`, repeated to avoid loading the schema; a test keeps them equal. */
export const DEFAULT_API = { host: '127.0.0.1', port: 8080 } as const;

/** Address of the API: `--api`, SITEWRIGHT_API, or else the address from the settings. */
export async function apiAddress(terminal: Terminal, flags: GlobalFlags): Promise<string> {
  const { env } = terminal;
  const given = flags.api ?? (env.SITEWRIGHT_API || undefined);
  if (given !== undefined) return checkedAddress(given, flags.api === undefined ? 'SITEWRIGHT_API' : '--api');
  const hasFile = flags.config ?? (env.SITEWRIGHT_CONFIG || existsSync(resolve(terminal.cwd, 'sitewright.yaml')));
  if (!hasFile && !env.SITEWRIGHT_API_HOST && !env.SITEWRIGHT_API_PORT && !env.SITEWRIGHT_API_TLS_CERT_FILE)
    return addressOf(DEFAULT_API.host, DEFAULT_API.port);
  const { api } = await settingsOf(terminal, flags);
  return addressOf(api.host, api.port, api.tls.cert_file !== undefined);
}

/** Reads and checks all settings. @throws CliError with all problems */
async function settingsOf(terminal: Terminal, flags: GlobalFlags) {
  return (await loadedSettings(terminal, flags)).settings;
}

/** Reads and checks all settings, with the origin of each. */
export async function loadedSettings(terminal: Terminal, flags: GlobalFlags) {
  const { loadSettings } = await import('../platform/settings/load-settings.ts');
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

function checkedAddress(text: string, from: string): string {
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(withScheme) ? new URL(withScheme) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw usageError(`${from} is not an address of an API: ${text}`, 'Write it as http://127.0.0.1:8080.');
  return withoutEnd(withScheme, '/').replace(/\/api\/v1$/, '');
}
