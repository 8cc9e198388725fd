import { join } from 'node:path';
import { isMapping } from '../core/data/plain-value.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { PrivateFileError, readPrivate, writePrivate } from '../platform/files/private-file.ts';
import { homeFolder } from '../platform/settings/settings-file.ts';
import { EXIT } from './exit-codes.ts';
import { CliError, usageError } from './problem.ts';
import type { Terminal } from './terminal.ts';

/** A system by a name of the user's: where its API is, and how to show who one is. */
export interface Context {
  readonly url: string;
  /** The token itself; then the file may be read by its owner only, as it is. */
  readonly token?: string;
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

  const kept = (): Kept => {
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
  };

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
    put(name: string, context: Context): void {
      const { current, contexts } = kept();
      write({ current, contexts: new Map([...contexts, [name, context]]) });
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
