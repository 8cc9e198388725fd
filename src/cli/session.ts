import { apiAddress, type GlobalFlags, loadedSettings } from './api-address.js';
import { apiToken, trustingFetch } from './api-token.js';
import type { ApiClient } from './client.js';
import type { Terminal } from './terminal.js';

/** What every command is made with: where it speaks, and the options that stand for all commands. */
export interface Session {
  readonly terminal: Terminal;
  /** As parsed; only in an action. */
  flags(): GlobalFlags;
  client(): Promise<ApiClient>;
  settings(): ReturnType<typeof loadedSettings>;
}

export function createSession(terminal: Terminal, flags: () => GlobalFlags): Session {
  return {
    terminal,
    flags,
    async client() {
      const [url, token, trusting, { ApiClient }] = await Promise.all([
        apiAddress(terminal, flags()),
        apiToken(terminal, flags()),
        trustingFetch(terminal),
        import('./client.js'),
      ]);
      const user = userOf(terminal);
      return new ApiClient({
        url,
        ...(user === undefined ? {} : { user }),
        ...(token === undefined ? {} : { token }),
        ...(trusting === undefined ? {} : { fetch: trusting }),
      });
    },
    settings: () => loadedSettings(terminal, flags()),
  };
}

/**
 * Who acts, for the audit trail: the login name, as far as a header can hold it. Where the environment has none (cron,
 * systemd, a container), the system knows it.
 */
export function userOf({ env, loginName }: Terminal): string | undefined {
  const name = env.USER || env.LOGNAME || env.USERNAME || loginName?.();
  return name && /^[\x21-\x7e]{1,200}$/.test(name) ? name : undefined;
}
