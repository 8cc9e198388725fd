import { given } from '../../core/data/given.ts';
import type { NamedKind } from '../../core/names.ts';
import { apiOrigin, contextOf, type GlobalFlags, loadedSettings } from './api-address.ts';
import { apiToken, trustingFetch } from './api-token.ts';
import type { ApiClient } from './client.ts';
import { type Context, savedContexts } from './contexts.ts';
import { EXIT } from './exit-codes.ts';
import { usageError } from './problem.ts';
import type { Terminal } from './terminal.ts';

/** The context of every command: its terminal and the global options. */
export interface Session {
  readonly terminal: Terminal;
  /** Parsed flags; only valid in an action. */
  flags(): GlobalFlags;
  /** `saved`: with the session of `sitewright login`, whatever token is given. */
  client(credentials?: 'saved'): Promise<ApiClient>;
  /** One call of the API. A command with several asks them of one `client()`. */
  readonly call: ApiClient['call'];
  settings(): ReturnType<typeof loadedSettings>;
  /** By kind and id: the names by which the command line called them. */
  readonly called: Map<string, string>;
  /** How the command was asked to run; set before its action. */
  readonly asked: { dryRun: boolean; detailedExitcode: boolean };
  /** Whether a dry run or a plan has something to do: the exit code, with `--detailed-exitcode`. */
  foundChanges(are: boolean): void;
  /** `cluster lab` where its name is known, else `cluster 1`. */
  textOf(kind: NamedKind, id: string | number): string;
}

export function createSession(terminal: Terminal, flags: () => GlobalFlags): Session {
  const asked = { dryRun: false, detailedExitcode: false };
  const client = async (credentials?: 'saved') => {
    const origin = await apiOrigin(terminal, flags());
    const { url } = origin;
    const context = contextOf(terminal, origin);
    const [typed, trusting, { ApiClient }] = await Promise.all([
      credentials === 'saved' ? undefined : tokenFor(terminal, flags(), origin, context),
      trustingFetch(terminal, context?.ca_file),
      import('./client.ts'),
    ]);
    const token =
      typed ?? savedContexts(terminal).session(url) ?? (await import('./local-token.ts')).localToken(terminal, url);
    const user = userOf(terminal);
    return new ApiClient({
      url,
      ...given({ user, token }),
      fetch: showingWaits(terminal, trusting ?? fetch),
      dryRun: asked.dryRun,
    });
  };
  const called = new Map<string, string>();
  return {
    terminal,
    called,
    asked,
    foundChanges(are) {
      if (are && asked.detailedExitcode) process.exitCode = EXIT.changes;
    },
    textOf: (kind, id) => `${kind} ${called.get(`${kind} ${id}`) ?? id}`,
    flags,
    client,
    call: async (...ask) => (await client()).call(...ask),
    settings: () => loadedSettings(terminal, flags()),
  };
}

/** The token of a flag or the environment, else of the context. */
async function tokenFor(
  terminal: Terminal,
  flags: GlobalFlags,
  { url, ofFolder }: Awaited<ReturnType<typeof apiOrigin>>,
  context?: Context,
): Promise<string | undefined> {
  const typed = await apiToken(terminal, flags);
  if (typed !== undefined && ofFolder !== undefined)
    throw usageError(
      `the token is not sent to ${url}, which ${ofFolder} names: a file of the working folder may be someone else's`,
      `Name the address yourself: SITEWRIGHT_API=${url}, --api, or a context. Or name the file, if you trust it: --config ${ofFolder}.`,
    );
  if (typed !== undefined || context === undefined) return typed;
  return context.token ?? (context.token_file && apiToken(terminal, { tokenFile: context.token_file }));
}

/**
 * Who acts, for the audit trail: the login name, restricted to characters of a header. Without one in the
 * environment (cron, systemd, a container), it comes from the system.
 */
export function userOf({ env, loginName }: Terminal): string | undefined {
  const name = env.USER || env.LOGNAME || env.USERNAME || loginName?.();
  return name && /^[\x21-\x7e]{1,200}$/.test(name) ? name : undefined;
}

/** What answers at once needs no word. */
const SILENT_MS = 1_000;

/** A `fetch` that says on a terminal what it waits for, once that takes longer than a moment. */
export function showingWaits(terminal: Pick<Terminal, 'progress' | 'now'>, ask: typeof fetch): typeof fetch {
  const { progress } = terminal;
  if (progress === undefined) return ask;
  return async (input, init) => {
    const started = terminal.now();
    const host = new URL(typeof input === 'string' || input instanceof URL ? input : input.url).host;
    let shown = false;
    const timer = setInterval(() => {
      shown = true;
      progress(`… waiting for ${host}, ${Math.round((terminal.now() - started) / 1000)} s`);
    }, SILENT_MS);
    try {
      return await ask(input, init);
    } finally {
      clearInterval(timer);
      if (shown) progress(undefined);
    }
  };
}
