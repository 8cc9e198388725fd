import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tokenForOwnApi } from '../../platform/local-access.ts';
import type { Terminal } from './terminal.ts';

/**
 * The token of a `sitewright up` or `demo` of this user, whose folder is the working directory or above it, if its API has this
 * address; undefined for every other API.
 */
export function localToken({ cwd }: Pick<Terminal, 'cwd'>, url: string): string | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const kept = join(folder, '.sitewright');
    for (const place of [kept, ...demosIn(kept)]) {
      const token = tokenForOwnApi(join(place, 'token'), url);
      if (token !== undefined) return token;
    }
    if (folder === dirname(folder)) return undefined;
  }
}

function demosIn(kept: string): readonly string[] {
  try {
    return readdirSync(kept)
      .filter((name) => /^demo(-\d+)?$/.test(name))
      .map((name) => join(kept, name));
  } catch {
    return [];
  }
}
