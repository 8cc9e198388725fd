import { existsSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { readDocumentFiles, type SourceFile } from '../../documents/index.ts';
import { loadSite } from '../../documents/site/load-site.ts';
import { PackageDiskError, readPackageFolder } from '../../packages/index.ts';
import { checkedPackage } from '../checked-package.ts';

/** What the offline checks say of the files of a folder, each by its path. */
export interface CheckedFolder {
  readonly folder: string;
  readonly sources: readonly SourceFile[];
  readonly diagnostics: readonly Diagnostic[];
}

/** A document of a site has a schema; every site has exactly one of this kind. */
const SITE_DOCUMENT = /^schema:/m;
const CONFIGURATION = /^schema:.*\bDeploymentConfiguration\b/m;

/**
 * Checks a file together with those that belong to it, as `package check` and `site check` do: a file of a package with the
 * package, a document of a site with all of the site. Undefined for any other file.
 *
 * @param root no folder above it is looked at
 * @param open texts of editors by path, which are newer than the files
 */
export async function checkAround(
  path: string,
  root: string,
  open: ReadonlyMap<string, string>,
): Promise<CheckedFolder | undefined> {
  const folders = foldersUpTo(dirname(path), root);
  const ofPackage = folders.find(
    (folder) => existsSync(join(folder, 'metadata.yaml')) || open.has(join(folder, 'metadata.yaml')),
  );
  if (ofPackage !== undefined) return checkPackageFolder(ofPackage, open);
  if (!SITE_DOCUMENT.test(open.get(path) ?? '')) return undefined;
  let nearest: readonly SourceFile[] | undefined;
  for (const folder of folders) {
    const sources = await documentsIn(folder, open);
    nearest ??= sources;
    if (sources.some(({ text }) => CONFIGURATION.test(text))) return checkSite(folder, sources);
  }
  return checkSite(folders[0]!, nearest ?? []);
}

const checkSite = (folder: string, sources: readonly SourceFile[]): CheckedFolder => ({
  folder,
  sources,
  diagnostics: loadSite(sources).diagnostics,
});

async function documentsIn(folder: string, open: ReadonlyMap<string, string>): Promise<readonly SourceFile[]> {
  const { files } = await readDocumentFiles([folder]);
  const names = new Set(files.map(({ name }) => name));
  const unsaved = [...open].filter(([path]) => !names.has(path) && isBelow(path, folder) && /\.ya?ml$/i.test(path));
  return [
    ...files.map(({ name, text }) => ({ name, text: open.get(name) ?? text })),
    ...unsaved.map(([name, text]) => ({ name, text })),
  ];
}

async function checkPackageFolder(folder: string, open: ReadonlyMap<string, string>): Promise<CheckedFolder> {
  try {
    const tree = await readPackageFolder(folder);
    const files = new Map(tree.files);
    for (const [path, text] of open) {
      if (!isBelow(path, folder)) continue;
      const content = new TextEncoder().encode(text);
      const name = relative(folder, path).split(sep).join('/');
      files.set(name, { executable: false, ...files.get(name), size: content.length, content });
    }
    const { errors, warnings } = await checkedPackage({ ...tree, files });
    const at = (file: string): string => join(folder, file);
    const sources = [...files].flatMap(([name, { content }]) =>
      content === undefined || !/\.ya?ml$/i.test(name)
        ? []
        : [{ name: at(name), text: new TextDecoder().decode(content) }],
    );
    return { folder, sources, diagnostics: [...errors, ...warnings].map((one) => ({ ...one, file: at(one.file) })) };
  } catch (error) {
    if (!(error instanceof PackageDiskError)) throw error;
    const file = join(folder, 'metadata.yaml');
    return {
      folder,
      sources: [],
      diagnostics: [
        { severity: 'error', code: 'package.unreadable', message: error.message, file, line: 1, column: 1 },
      ],
    };
  }
}

const isBelow = (path: string, folder: string): boolean =>
  path.startsWith(folder.endsWith(sep) ? folder : folder + sep);

/** The folder and those above it, up to the root; it alone where it is elsewhere. */
function foldersUpTo(folder: string, root: string): readonly string[] {
  if (folder !== root && !isBelow(folder, root)) return [folder];
  const found = [folder];
  for (let one = folder; one !== root; ) {
    one = dirname(one);
    found.push(one);
  }
  return found;
}
