import { rmSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  filesBelow,
  formatManifest,
  type ManifestFile,
  PACKAGE_SOURCE,
  parsePackageSource,
} from '../../core/sources/folder-manifest.ts';
import { type ArchiveLimits, DEFAULT_ARCHIVE_LIMITS, manifestOf, readPackageArchive } from '../../packages/index.ts';
import type { PackageStore } from '../../store/index.ts';

/** Reads the content of sources by path. An error with a file system `code` concerns the file. */
interface Sources {
  read(path: string): Promise<Uint8Array>;
}

/** An archive is unpacked once per process; more than these are unpacked again when they are asked for. */
const MAX_UNPACKED = 8;

interface Unpacked {
  /** On the disk. */
  readonly folder: string;
  /** All files and folders of the package. */
  readonly files: readonly ManifestFile[];
  readonly folders: ReadonlySet<string>;
}

const notFound = (message: string) => Object.assign(new Error(message), { code: 'ENOENT' });

/** Adds the folders of installed packages to other sources. */
export function withPackageSources(
  others: Sources,
  packages: Pick<PackageStore, 'find' | 'readArchive'>,
  limits: ArchiveLimits = DEFAULT_ARCHIVE_LIMITS,
): Sources {
  /** Unpacked archives by checksum, the one used last at the end. */
  const unpacked = new Map<string, Promise<Unpacked>>();
  let root: Promise<string> | undefined;

  async function unpack(id: number): Promise<Unpacked> {
    root ??= mkdtemp(join(tmpdir(), 'sitewright-packages-')).then((folder) => {
      process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
      return folder;
    });
    const folder = await mkdtemp(join(await root, 'p-'));
    const archive = `${folder}.tar.gz`;
    await writeFile(archive, await packages.readArchive(id));
    const { tree, problems } = await readPackageArchive(archive, limits, folder);
    rmSync(archive);
    if (tree === undefined) throw new Error(`the stored archive cannot be read: ${problems[0]?.message}`);
    return { folder, files: manifestOf(tree, ''), folders: tree.folders };
  }

  async function unpackedOf(id: number, checksum: string): Promise<Unpacked> {
    const found = unpacked.get(checksum) ?? unpack(id);
    unpacked.delete(checksum);
    unpacked.set(checksum, found);
    found.catch(() => unpacked.delete(checksum));
    for (const [old, one] of [...unpacked].slice(0, -MAX_UNPACKED)) {
      unpacked.delete(old);
      void one.then(({ folder }) => rmSync(folder, { recursive: true, force: true })).catch(() => undefined);
    }
    return await found;
  }

  return {
    async read(path) {
      if (!path.startsWith(PACKAGE_SOURCE)) return await others.read(path);
      const source = parsePackageSource(path);
      const pack = source === undefined ? null : await packages.find(source.name, source.version);
      if (source === undefined || pack === null) throw notFound(`${path} is not in an installed package`);
      const { folder, files, folders } = await unpackedOf(pack.id, pack.checksum);
      if (source.file === undefined) {
        if (!folders.has(source.folder === '.' ? '' : source.folder))
          throw notFound(`the package has no folder ${source.folder}`);
        return Buffer.from(formatManifest(filesBelow(files, source.folder)));
      }
      const parts = [...source.folder.split('/').filter((part) => part !== '.'), ...source.file.split('/')];
      if (parts.some((part) => ['', '.', '..'].includes(part))) throw notFound(`${path} is outside the package`);
      return await readFile(join(folder, ...parts));
    },
  };
}
