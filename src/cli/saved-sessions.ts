import { join } from 'node:path';
import { isMapping } from '../core/data/plain-value.ts';
import { PrivateFileError, readPrivate, writePrivate } from '../platform/files/private-file.ts';
import { homeFolder } from '../platform/settings/settings-file.ts';
import { usageError } from './problem.ts';
import type { Terminal } from './terminal.ts';

/**
 * The sessions of `sitewright login`, by the address of their API, in a file that only its owner may read. A token is
 * sent only to the address that issued it.
 */
export function savedSessions(terminal: Pick<Terminal, 'env'>) {
  const folder = homeFolder(terminal.env);
  const file = folder === undefined ? undefined : join(folder, 'sessions.json');

  const all = (): Map<string, string> => {
    try {
      const read: unknown = JSON.parse((file === undefined ? undefined : readPrivate(file)) ?? '{}');
      const pairs = isMapping(read) ? Object.entries(read) : [];
      return new Map(pairs.filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
    } catch (error) {
      if (error instanceof PrivateFileError) throw error;
      throw usageError(`${file} cannot be read`, "Remove it, and sign in again with 'sitewright login'.");
    }
  };

  return {
    of: (url: string): string | undefined => all().get(url),
    /** @param token undefined: forgets it */
    set(url: string, token: string | undefined): void {
      if (file === undefined) throw usageError('there is no home directory to store the session in', 'Set HOME.');
      const sessions = all();
      if (token === undefined) sessions.delete(url);
      else sessions.set(url, token);
      writePrivate(file, `${JSON.stringify(Object.fromEntries(sessions), null, 2)}\n`);
    },
  };
}
