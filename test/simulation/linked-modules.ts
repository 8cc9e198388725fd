import { mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { installationFile } from '../../src/platform/installation.ts';

/** Gives a copy of the project in this folder the packages of others that we have, and its own packages. */
export async function linkModules(folder: string): Promise<void> {
  const modules = installationFile('node_modules');
  await mkdir(join(folder, 'node_modules/@sitewright'), { recursive: true });
  for (const name of await readdir(modules))
    if (name !== '@sitewright' && name !== '.cache')
      await symlink(join(modules, name), join(folder, 'node_modules', name));
  for (const name of await readdir(join(folder, 'packages')))
    await symlink(join(folder, 'packages', name), join(folder, 'node_modules/@sitewright', name));
}
