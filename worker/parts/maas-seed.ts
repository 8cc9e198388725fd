import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { CliError, usageError } from '../../src/cli/problem.ts';
import { seedOfSite } from './site-seed.ts';

/**
 * The seed file of a simulated MAAS. A JSON file is used unchanged; documents (folders, or YAML) become the region that they were
 * written for (`seedOfSite`), written into `folder`.
 */
export async function maasSeedFile(paths: readonly string[], folder: string): Promise<string> {
  for (const path of paths) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) throw usageError(`${path} does not exist`, 'Name a JSON seed, or the documents of a site.');
    if (paths.length === 1 && found.isFile() && !/\.ya?ml$/i.test(path)) return path;
  }
  const { loadSite, readDocumentFiles } = await import('../../src/documents/index.ts');
  const { files, diagnostics } = await readDocumentFiles(paths);
  const loaded = loadSite(files, { configuration: 'optional' });
  const errors = [...diagnostics, ...loaded.diagnostics].filter((one) => one.severity === 'error');
  if (!loaded.site) {
    throw new CliError(
      {
        code: 'invalid',
        message: `${paths.join(' ')} has errors: no machines can be created`,
        hint: `'sitewright site check ${paths.join(' ')}' shows all problems.`,
        errors,
      },
      EXIT.invalid,
    );
  }
  const file = join(folder, 'maas-seed.json');
  writeFileSync(file, JSON.stringify(seedOfSite(loaded.site)));
  return file;
}
