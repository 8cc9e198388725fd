import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NAME = 'sitewright';

/** Nearest package.json above: of a checkout, of an installed package, of an agent's package. */
const { root, version } = findInstallation(dirname(fileURLToPath(import.meta.url)));

/** The version of this program. */
export const programVersion = (): string => version;

/** The path of a file that the installation brings along, e.g. `examples/stl1`. */
export const installationFile = (path: string): string => join(root, path);

/** Whether this is a clone with its sources, and not a package. */
export const isCheckout = (): boolean => existsSync(installationFile('workflows/index.ts'));

/** The path of a file that the build makes, e.g. `page/page.js`. Code that runs from its source has it made first. */
export function builtFile(path: string): string {
  if (import.meta.url.endsWith('.ts')) buildOnce();
  return join(root, 'dist', path);
}

function findInstallation(from: string): { readonly root: string; readonly version: string } {
  for (let folder = from; ; folder = dirname(folder)) {
    const about = join(folder, 'package.json');
    if (existsSync(about)) {
      const found = JSON.parse(readFileSync(about, 'utf8')) as { readonly name?: string; readonly version?: string };
      if (found.name === NAME && found.version !== undefined) return { root: folder, version: found.version };
    }
    if (folder === dirname(folder))
      throw new Error(`No folder above ${from} has the package.json of ${NAME}. Install it again.`);
  }
}

let isBuilt = false;

function buildOnce(): void {
  if (isBuilt) return;
  const { status, error } = spawnSync(process.execPath, [installationFile('scripts/build.ts')], {
    stdio: ['ignore', 2, 2],
  });
  if (error) throw error;
  if (status !== 0) throw new Error('The programs cannot be built. `npm run build` shows why.');
  isBuilt = true;
}
