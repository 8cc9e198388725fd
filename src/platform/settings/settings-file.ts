import { existsSync } from 'node:fs';
import { join } from 'node:path';

const NAME = 'sitewright.yaml';

/** The folder of what a user's commands keep in the home folder; undefined without one. Loads no settings. */
export function homeFolder(env: NodeJS.ProcessEnv): string | undefined {
  const folder = env.XDG_CONFIG_HOME || (env.HOME ? join(env.HOME, '.config') : undefined);
  return folder === undefined ? undefined : join(folder, 'sitewright');
}

/** The settings file where none is named: of the working directory, else of the home folder; undefined: there is none. */
export function unnamedSettingsFile(env: NodeJS.ProcessEnv, cwd: string): string | undefined {
  const home = homeFolder(env);
  return [cwd, ...(home === undefined ? [] : [home])]
    .map((folder) => join(folder, NAME))
    .find((file) => existsSync(file));
}
