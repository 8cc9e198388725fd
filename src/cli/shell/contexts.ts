import { join } from 'node:path';
import { given } from '../../core/data/given.ts';
import { isMapping } from '../../core/data/plain-value.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import { PrivateFileError, readPrivate, writePrivate } from '../../platform/files/private-file.ts';
import { homeFolder } from '../../platform/settings/settings-file.ts';
import { EXIT } from './exit-codes.ts';
import { CliError, usageError } from './problem.ts';
import type { Terminal } from './terminal.ts';

/** A system by a name of the user's: where its API is, and how to show who one is. */
export interface Context {
  readonly url: string;
  /** The token itself. */
  readonly token?: string;
  /** The session of `sitewright login` at its address. */
  readonly session?: string;
  /** File with the token, as of `--token-file`. */
  readonly token_file?: string;
  /** File with the authority that signed its certificate, as of SITEWRIGHT_CA_FILE. */
  readonly ca_file?: string;
  /** Name of the cluster that owns graphs which are stored without an owner. */
  readonly cluster?: string;
}

interface Kept {
  readonly current: string | undefined;
  readonly contexts: ReadonlyMap<string, Context>;
}

/** The contexts in the home folder, in a file that only its owner may read. */
export function savedContexts(terminal: Pick<Terminal, 'env'>) {
  const folder = homeFolder(terminal.env);
  const file = folder === undefined ? undefined : join(folder, 'contexts.json');

  const kept = (): Kept => readKept(file);

  const write = ({ current, contexts }: Kept): void => {
    if (file === undefined) throw usageError('there is no home directory to keep contexts in', 'Set HOME.');
    writePrivate(
      file,
      `${JSON.stringify({ ...(current && { current }), contexts: Object.fromEntries(contexts) }, null, 2)}\n`,
    );
  };

  const named = (name: string, { contexts }: Kept = kept()): Context => {
    const found = contexts.get(name);
    if (found !== undefined) return found;
    const names = [...contexts.keys()];
    const hint =
      didYouMean(name, names) ??
      (names.length === 0 ? `Add it: 'sitewright context add ${name} URL'.` : `There are: ${names.join(', ')}.`);
    throw new CliError({ code: 'not-found', message: `there is no context '${name}'`, hint }, EXIT.notFound);
  };

  return {
    file,
    all: kept,
    /** @throws CliError with a suggestion */
    named,
    /** The name of the one in use: of `--context`, else of SITEWRIGHT_CONTEXT, else the one chosen by `context use`. */
    inUse: (flag: string | undefined, env: NodeJS.ProcessEnv): string | undefined =>
      flag ?? (env.SITEWRIGHT_CONTEXT || kept().current),
    /** Its session stays while its address does. */
    put(name: string, context: Context): void {
      const { current, contexts } = kept();
      const before = contexts.get(name);
      const session = before?.url === context.url ? before.session : undefined;
      write({ current, contexts: new Map([...contexts, [name, { ...context, ...given({ session }) }]]) });
    },
    /** The session at an address, however a command names that: it is for no other. */
    session: (url: string): string | undefined =>
      [...kept().contexts.values()].find((one) => one.url === url && typeof one.session === 'string')?.session,
    /**
     * Keeps a session in the contexts of its address; without any, in a new one.
     *
     * @returns the names of these contexts
     */
    signIn(url: string, session: string): readonly string[] {
      const { current, contexts } = kept();
      const of = [...contexts.keys()].filter((name) => contexts.get(name)?.url === url);
      const names = of.length > 0 ? of : [nameFor(url, contexts)];
      const entries = names.map((name) => [name, { ...(contexts.get(name) ?? { url }), session }] as const);
      write({ current, contexts: new Map([...contexts, ...entries]) });
      return names;
    },
    /** Forgets the session at an address. */
    signOut(url: string): void {
      const { current, contexts } = kept();
      const left = [...contexts].map(([name, { session, ...context }]) => {
        const stays = context.url !== url;
        return [name, { ...context, ...(stays && given({ session })) }] as const;
      });
      write({ current, contexts: new Map(left) });
    },
    /** @param name undefined: none is in use any more */
    use(name: string | undefined): void {
      const all = kept();
      if (name !== undefined) named(name, all);
      write({ ...all, current: name });
    },
    remove(name: string): void {
      const { current, contexts } = kept();
      named(name, { current, contexts });
      const left = new Map(contexts);
      left.delete(name);
      write({ current: current === name ? undefined : current, contexts: left });
    },
  };
}

/** @param file undefined: there is no home folder */
function readKept(file: string | undefined): Kept {
  let read: unknown;
  try {
    read = JSON.parse((file === undefined ? undefined : readPrivate(file)) ?? '{}');
  } catch (error) {
    if (error instanceof PrivateFileError) throw error;
    throw usageError(
      `${file} cannot be read`,
      "Correct it, or remove it and add the contexts again: 'sitewright context add NAME URL'.",
    );
  }
  const { current, contexts } = isMapping(read) ? read : {};
  const known = Object.entries(isMapping(contexts) ? contexts : {}).filter(
    (entry): entry is [string, Context & Record<string, unknown>] =>
      isMapping(entry[1]) && typeof entry[1].url === 'string',
  );
  return { current: typeof current === 'string' ? current : undefined, contexts: new Map(known) };
}

/** A name for the context of an address: its host. */
function nameFor(url: string, contexts: ReadonlyMap<string, Context>): string {
  const host = new URL(url).host.replaceAll(/[^\w.-]+/g, '-').slice(0, 90);
  for (let name = host, more = 2; ; name = `${host}-${more++}`) if (!contexts.has(name)) return name;
}
