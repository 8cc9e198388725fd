import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { formatManifest, PACKAGE_SOURCE, parsePackageSource } from '../../core/folder-manifest.js';
import { manifestOf, readPackageArchive } from '../../packages/index.js';
import type { PackageStore } from '../../store/index.js';

/** Reads the content of sources by path. An error with a file system `code` concerns the file. */
export interface Sources {
  read(path: string): Promise<Uint8Array>;
}

/** An archive is unpacked once per process; more than these are unpacked again when they are asked for. */
const MOST_UNPACKED = 8;

const notFound = (message: string) => Object.assign(new Error(message), { code: 'ENOENT' });

/** Adds the folders of installed packages to other sources. */
export function withPackageSources(others: Sources, packages: Pick<PackageStore, 'find' | 'readArchive'>): Sources {
  /** Folders of unpacked archives by checksum, the one used last at the end. */
  const unpacked = new Map<string, Promise<string>>();
  let root: Promise<string> | undefined;

  async function unpack(id: number): Promise<string> {
    root ??= mkdtemp(join(tmpdir(), 'sitewright-packages-')).then((folder) => {
      process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
      return folder;
    });
    const folder = await mkdtemp(join(await root, 'p-'));
    const archive = join(folder, 'archive.tar.gz');
    await writeFile(archive, await packages.readArchive(id));
    const { tree, problems } = await readPackageArchive(archive);
    rmSync(archive);
    if (tree === undefined) throw new Error(`the stored archive cannot be read: ${problems[0]?.message}`);
    for (const [path, { content }] of tree.files) {
      const file = join(folder, 'files', path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content ?? new Uint8Array());
    }
    const folders = [...tree.folders];
    await mkdir(join(folder, 'lists'));
    for (const [at, name] of folders.entries())
      await writeFile(join(folder, 'lists', String(at)), formatManifest(manifestOf(tree, name, sha256)));
    await writeFile(join(folder, 'folders.json'), JSON.stringify(folders));
    return folder;
  }

  async function folderOf(id: number, checksum: string): Promise<string> {
    const found = unpacked.get(checksum) ?? unpack(id);
    unpacked.delete(checksum);
    unpacked.set(checksum, found);
    found.catch(() => unpacked.delete(checksum));
    for (const [old, folder] of [...unpacked].slice(0, -MOST_UNPACKED)) {
      unpacked.delete(old);
      void folder.then((path) => rmSync(path, { recursive: true, force: true })).catch(() => undefined);
    }
    return await found;
  }

  return {
    async read(path) {
      if (!path.startsWith(PACKAGE_SOURCE)) return await others.read(path);
      const source = parsePackageSource(path);
      const pack = source === undefined ? null : await packages.find(source.name, source.version);
      if (source === undefined || pack === null) throw notFound(`${path} is not of an installed package`);
      const folder = await folderOf(pack.id, pack.checksum);
      if (source.file === undefined) {
        const folders = JSON.parse(await readFile(join(folder, 'folders.json'), 'utf8')) as readonly string[];
        const at = folders.indexOf(source.folder === '.' ? '' : source.folder);
        if (at < 0) throw notFound(`the package has no folder ${source.folder}`);
        return await readFile(join(folder, 'lists', String(at)));
      }
      const parts = [...source.folder.split('/').filter((part) => part !== '.'), ...source.file.split('/')];
      if (parts.some((part) => ['', '.', '..'].includes(part))) throw notFound(`${path} is outside the package`);
      return await readFile(join(folder, 'files', ...parts));
    },
  };
}

const sha256 = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');
