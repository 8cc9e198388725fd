// Reads and writes packages; repository-index.ts runs the tools of repositories.
import { createHash } from 'node:crypto';
import { closeSync, createReadStream, createWriteStream, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import {
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { compareKeys } from '../core/text/text.ts';
import {
  type ArchiveLimits,
  type ArchiveReading,
  archiveProblem,
  CHECKSUM_FILE,
  DEFAULT_ARCHIVE_LIMITS,
  formatChecksums,
  type KeptContents,
  readArchiveContent,
} from './archive-content.ts';
import { explainRpm, RPM_LEAD_BYTES } from './builders-archives.ts';
import { DATA_EXTENSIONS, MAX_DATA_BYTES, TEXT_EXTENSIONS } from './load-path.ts';
import { extensionOf, joinPath, type PackageFile, type PackageTree } from './package-tree.ts';
import { piecesOf, type TarBytes, tarEnd, tarHeader, tarPadding } from './tar.ts';

/** Folders of the author's tools, not part of the package. */
const LEFT_OUT: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', '.build']);
const READ: ReadonlySet<string> = new Set([...DATA_EXTENSIONS, ...TEXT_EXTENSIONS]);
const MAX_FILES = 100_000;

/** A failed access to the disk: the folder is missing, is not a folder, or is not readable or writable. */
export class PackageDiskError extends Error {}

/**
 * Reads a package folder into memory: the content of data files, names and sizes of all others. Links
 * inside the package are followed; links out of it are marked, and checks refuse them.
 * Version control folders and `.build` are left out. Throws PackageDiskError when there is no such folder.
 */
export async function readPackageFolder(folder: string): Promise<PackageTree> {
  const root = await diskResult(folder, realpath(folder));
  if (!(await stat(root)).isDirectory()) throw new PackageDiskError(`${folder} is not a folder`);
  const files = new Map<string, PackageFile>();
  const folders = new Set<string>(['']);
  const walk = async (path: string, above: ReadonlySet<string>): Promise<void> => {
    const here = join(root, path);
    for (const name of (await diskResult(folder, readdir(here))).sort()) {
      if (LEFT_OUT.has(name)) continue;
      if (files.size >= MAX_FILES) throw new PackageDiskError(`${folder} has more than ${MAX_FILES} files`);
      const inner = joinPath(path, name);
      const found = await resolveEntry(root, join(here, name), above);
      if (typeof found === 'string') files.set(inner, { size: 0, executable: false, refused: found });
      else if (found.stats.isDirectory()) {
        folders.add(inner);
        await walk(inner, new Set([...above, found.real]));
      } else files.set(inner, await diskResult(folder, describeFile(found.real, inner, found.stats)));
    }
  };
  await walk('', new Set([root]));
  return { name: folder, files, folders };
}

async function resolveEntry(
  root: string,
  path: string,
  above: ReadonlySet<string>,
): Promise<{ real: string; stats: Stats } | string> {
  const own = await lstat(path);
  if (own.isSymbolicLink()) {
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined) return 'is a broken link';
    if (real !== root && !real.startsWith(root + sep)) return 'is a link out of the package';
    if (above.has(real)) return 'is a link to a folder that contains it';
    return { real, stats: await stat(real) };
  }
  if (!own.isFile() && !own.isDirectory()) return 'is neither a file nor a folder';
  return { real: path, stats: own };
}

async function describeFile(real: string, path: string, stats: Stats): Promise<PackageFile> {
  const wanted = READ.has(extensionOf(path)) && stats.size <= MAX_DATA_BYTES;
  const executable = (stats.mode & 0o111) !== 0;
  if (!wanted) return { size: stats.size, executable };
  const content = new Uint8Array(await readFile(real));
  return { size: content.length, executable, content };
}

/** A built archive. */
interface BuiltArchive {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Files of the package, without the list of checksums. */
  readonly files: number;
}

/**
 * Writes NAME-VERSION.tar.gz to a folder: all files of a checked package in a fixed order, without times
 * and owners, then their checksums. The same files give the same bytes. The write is atomic.
 */
export async function writePackageArchive(
  tree: PackageTree,
  name: string,
  version: string,
  into: string,
): Promise<BuiltArchive> {
  const title = `${name}-${version}`;
  const path = join(into, `${title}.tar.gz`);
  const unfinished = `${path}.${process.pid}.part`;
  const root = await diskResult(tree.name, realpath(tree.name));
  // The package may contain archives of earlier builds.
  const files = [...tree.files].filter(([file]) => !isOwnArchive(file, name)).sort(compareKeys);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    await mkdir(into, { recursive: true });
    await pipeline(
      Readable.from(archiveChunks(title, root, files, [...tree.folders].sort())),
      createGzip({ level: 9 }),
      new GzipHeader(),
      new Transform({
        transform(chunk: Buffer, _encoding, done) {
          hash.update(chunk);
          bytes += chunk.length;
          done(null, chunk);
        },
      }),
      createWriteStream(unfinished),
    );
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw diskError(path, error);
  }
  return { path, sha256: hash.digest('hex'), bytes, files: files.length };
}

const isOwnArchive = (file: string, name: string): boolean =>
  file.startsWith(`${name}-`) && /^\d+\.\d+\.\d+\.tar\.gz(?:\.\d+\.part)?$/.test(file.slice(name.length + 1));

async function* archiveChunks(
  title: string,
  root: string,
  files: readonly (readonly [string, PackageFile])[],
  folders: readonly string[],
): AsyncGenerator<Uint8Array> {
  for (const folder of folders) yield tarHeader(joinPath(title, folder).replace(/\/$/, ''), 'folder', 0, true);
  const sums = new Map<string, string>();
  for (const [path, { executable, size }] of files) {
    if (path === CHECKSUM_FILE) continue;
    yield tarHeader(joinPath(title, path), 'file', size, executable);
    const hash = createHash('sha256');
    let read = 0;
    for await (const chunk of createReadStream(join(root, path))) {
      hash.update(chunk as Buffer);
      read += (chunk as Buffer).length;
      yield chunk as Buffer;
    }
    if (read !== size) throw new PackageDiskError(`${path} changed while it was being packed; build again`);
    yield tarPadding(size);
    sums.set(path, hash.digest('hex'));
  }
  const list = new TextEncoder().encode(formatChecksums(sums));
  yield tarHeader(joinPath(title, CHECKSUM_FILE), 'file', list.length, false);
  yield list;
  yield tarPadding(list.length);
  yield tarEnd();
}

/** Clears the operating system in the gzip header, byte 9. */
class GzipHeader extends Transform {
  #seen = 0;

  override _transform(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: (error: Error | null, chunk: Buffer) => void,
  ): void {
    if (this.#seen <= 9 && this.#seen + chunk.length > 9) {
      chunk = Buffer.from(chunk);
      chunk[9 - this.#seen] = 0xff;
    }
    this.#seen += chunk.length;
    done(null, chunk);
  }
}

/**
 * Reads an archive and refuses hostile ones (see readArchiveContent). It is unpacked into a temporary file in pieces;
 * unpacking stops as soon as it has more than the limits. Throws PackageDiskError when there is no such file.
 *
 * @param into an empty folder that gets the files of a good archive
 */
export async function readPackageArchive(
  path: string,
  limits: ArchiveLimits = DEFAULT_ARCHIVE_LIMITS,
  into?: string,
): Promise<ArchiveReading> {
  const refuse = (code: string, message: string, hint?: string): ArchiveReading => ({
    tree: undefined,
    problems: [archiveProblem(basename(path), code, message, hint)],
  });
  const start = await startOf(path);
  if (!isGzip(start)) {
    const rpm = explainRpm(start);
    if (rpm !== undefined) return refuse(rpm.code, rpm.message, rpm.hint);
    return refuse(
      'archive.format',
      'this is not a gzip file',
      'Name the folder of a package, or an archive made by `sitewright package build`.',
    );
  }
  const scratch = await diskResult(path, mkdtemp(join(tmpdir(), 'sitewright-archive-')));
  try {
    const unpacked = join(scratch, 'unpacked.tar');
    const bomb = await unpack(path, unpacked, limits);
    if (bomb !== undefined) return refuse('archive.bomb', bomb, 'Do not install this archive.');
    const fd = openSync(unpacked, 'r');
    try {
      const bytes = bytesOfFile(fd);
      const reading = await readArchiveContent(basename(path), bytes, limits, sha256OfPieces, KEPT);
      if (into !== undefined && reading.tree !== undefined) await writeMembers(into, reading, bytes);
      return reading;
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code?.startsWith('Z_')) throw diskError(path, error);
    const message = `the archive is damaged: ${(error as Error).message}`;
    return refuse('archive.damaged', message, 'Download it again, or rebuild it.');
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Contents of data that checks read: a package has 0.1 MB of it. */
const KEPT: KeptContents = {
  keeps: (path, size) => READ.has(extensionOf(path)) && size <= MAX_DATA_BYTES,
  maxBytes: 32 * 1024 * 1024,
};

/** Returns why it stopped, if the archive has more than the limits. */
async function unpack(from: string, to: string, limits: ArchiveLimits): Promise<string | undefined> {
  const packed = (await stat(from)).size;
  let size = 0;
  let bomb: string | undefined;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > limits.maxUnpackedBytes) bomb = `it unpacks to more than ${limits.maxUnpackedBytes} bytes`;
      else if (size > limits.freeBytes && size > packed * limits.maxRatio)
        bomb = `it unpacks to more than ${limits.maxRatio} times its size`;
      if (bomb === undefined) done(null, chunk);
      else done(new PackageDiskError(bomb));
    },
  });
  try {
    await pipeline(createReadStream(from), createGunzip({ chunkSize: 128 * 1024 }), measure, createWriteStream(to));
  } catch (error) {
    if (bomb === undefined) throw error;
  }
  return bomb;
}

/** Pieces share one buffer. */
function bytesOfFile(fd: number): TarBytes {
  const { size } = fstatSync(fd);
  let buffer = Buffer.alloc(64 * 1024);
  return {
    length: size,
    read(at, length) {
      if (length > buffer.length) buffer = Buffer.alloc(length);
      return buffer.subarray(0, readSync(fd, buffer, 0, length, at));
    },
  };
}

/** Lets other work go on after each piece: the gateway reads archives in the process of the API. */
async function sha256OfPieces(pieces: Iterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for (const piece of pieces) {
    hash.update(piece);
    await setImmediate();
  }
  return hash.digest('hex');
}

async function writeMembers(folder: string, { tree, members = [] }: ArchiveReading, bytes: TarBytes): Promise<void> {
  for (const path of tree?.folders ?? []) await mkdir(join(folder, path), { recursive: true });
  for (const { path, kind, executable, at, size } of members) {
    if (kind === 'folder' || !tree?.files.has(path)) continue;
    const file = await open(join(folder, path), 'wx', executable ? 0o755 : 0o644);
    try {
      for (const piece of piecesOf(bytes, at, size)) await file.writeFile(piece);
    } finally {
      await file.close();
    }
  }
}

const isGzip = (start: Uint8Array): boolean => start[0] === 0x1f && start[1] === 0x8b;

/** The bytes that tell what a file is; fewer if it has fewer. */
async function startOf(path: string): Promise<Uint8Array> {
  const file = await diskResult(path, open(path));
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(RPM_LEAD_BYTES), 0, RPM_LEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    throw diskError(path, error);
  } finally {
    await file.close();
  }
}

/** Writes a tree whose contents are in memory (a template, a checked archive) into a folder that must not exist yet. */
export async function writePackageFolder(tree: PackageTree, folder: string): Promise<void> {
  const target = resolve(folder);
  try {
    await mkdir(dirname(target), { recursive: true });
    await mkdir(target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new PackageDiskError(`${folder} already exists; choose another name`);
    throw diskError(folder, error);
  }
  try {
    for (const path of [...tree.folders].sort()) if (path !== '') await mkdir(join(target, path), { recursive: true });
    for (const [path, { content, executable }] of tree.files) {
      if (content) await writeFile(join(target, path), content, { mode: executable ? 0o755 : 0o644, flag: 'wx' });
    }
  } catch (error) {
    await rm(target, { recursive: true, force: true });
    throw diskError(folder, error);
  }
}

async function diskResult<T>(name: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw diskError(name, error);
  }
}

function diskError(name: string, error: unknown): PackageDiskError {
  if (error instanceof PackageDiskError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'does not exist',
    ENOTDIR: 'is not a folder',
    EISDIR: 'is a folder',
    EACCES: 'cannot be read or written: permission denied',
    EPERM: 'cannot be read or written: permission denied',
    ENOSPC: 'does not fit on the disk',
  };
  const reason = code === undefined ? undefined : reasons[code];
  return new PackageDiskError(reason === undefined ? `${name}: ${message}` : `${name} ${reason}`, { cause: error });
}
