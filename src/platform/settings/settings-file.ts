import { existsSync } from 'node:fs';
import { join } from 'node:path';

const NAME = 'sitewright.yaml';

/** The folder of what a user's commands keep in the home folder; undefined without one. Loads no settings. */
export const homeFolder = (env: NodeJS.ProcessEnv): string | undefined =>
  ownFolder(env, env.XDG_CONFIG_HOME, '.config');

/** The folder of what a user's programs keep over restarts; undefined for a user without a home. */
export const stateFolder = (env: NodeJS.ProcessEnv): string | undefined =>
  ownFolder(env, env.XDG_STATE_HOME, '.local/state');

/** Ours in one of a user's base directories (XDG): the one that is set, or the usual one of the home folder. */
function ownFolder({ HOME: home }: NodeJS.ProcessEnv, set: string | undefined, usual: string): string | undefined {
  const base = set || (home && join(home, usual));
  return base ? join(base, 'sitewright') : undefined;
}

/** The settings file where none is named: of the working directory, else of the home folder; undefined: there is none. */
export function unnamedSettingsFile(env: NodeJS.ProcessEnv, cwd: string): string | undefined {
  const home = homeFolder(env);
  return [cwd, ...(home === undefined ? [] : [home])]
    .map((folder) => join(folder, NAME))
    .find((file) => existsSync(file));
}
