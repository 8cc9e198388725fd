import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Seed } from '@sitewright/maas-simulator';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { CliError, usageError } from '../../src/cli/problem.ts';
import { given } from '../../src/core/data/given.ts';

/**
 * The seed file of a simulated MAAS. A JSON file is used unchanged; documents (a folder, or YAML)
 * become bare machines with the names, MACs and racks of their nodes, written into `folder`.
 */
export async function maasSeedFile(path: string, folder: string): Promise<string> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw usageError(`${path} does not exist`, 'Name a JSON seed, or the documents of a site.');
  if (found.isFile() && !/\.ya?ml$/i.test(path)) return path;
  const { loadSite, readDocumentFiles } = await import('../../src/documents/index.ts');
  const { files, diagnostics } = await readDocumentFiles([path]);
  const loaded = loadSite(files, { configuration: 'optional' });
  const errors = [...diagnostics, ...loaded.diagnostics].filter((one) => one.severity === 'error');
  if (!loaded.site) {
    throw new CliError(
      {
        code: 'invalid',
        message: `${path} has errors: no machines can be created`,
        hint: `'sitewright site check ${path}' shows all problems.`,
        errors,
      },
      EXIT.invalid,
    );
  }
  const seed: Seed = {
    machines: loaded.site.nodes.map((node) => ({
      hostname: node.hostname,
      status: 0,
      power_type: 'ipmi',
      ...given({ mac: node.boot_mac }),
    })),
  };
  const file = join(folder, 'maas-seed.json');
  writeFileSync(file, JSON.stringify(seed));
  return file;
}
