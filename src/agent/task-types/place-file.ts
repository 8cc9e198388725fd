import { constants, statfsSync } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, realpath, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { allowedPath } from '../../core/task-types/index.ts';
import type { TaskFailure } from '../journal/result.ts';
import { isUnderRoots } from './path-rules.ts';

/** The desired state of one file. */
export interface WantedFile {
  readonly path: string;
  readonly data: Uint8Array;
  readonly permissions: number;
  /** Name or number; undefined: the agent's own user or group. */
  readonly owner: string | undefined;
  readonly group: string | undefined;
  /** False leaves an existing file unchanged. */
  readonly overwrite: boolean;
  /** Whether to create missing folders, with `dirPermissions`. Existing folders are never changed. */
  readonly parents: boolean;
  readonly dirPermissions: number;
}

/** A file could not be placed, for the reason in `failure`. */
export class PlacementError extends Error {
  readonly failure: TaskFailure;

  constructor(failure: TaskFailure) {
    super(failure.kind);
    this.failure = failure;
  }
}

const refuse = (path: string, rule: string): never => {
  throw new PlacementError({ kind: 'refused-path', path, rule });
};

/** Converts a system error at a path to a task failure. */
export function systemFailure(path: string, error: unknown): TaskFailure {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EDQUOT') return { kind: 'no-space', path, limit: { of: 'quota' } };
  if (code === 'ENOSPC') return { kind: 'no-space', path, limit: { of: hasInodes(path) ? 'disk' : 'files' } };
  return { kind: 'io', path, code: code ?? String(error) };
}

/** Whether the file system can hold one more file; some do not count them. */
function hasInodes(path: string): boolean {
  try {
    const { files, ffree } = statfsSync(path);
    return files === 0 || ffree > 0;
  } catch {
    // The file does not exist yet.
    const folder = dirname(path);
    return folder === path || hasInodes(folder);
  }
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** The path of a name inside an open folder. It stays valid if the folder is renamed or replaced. */
export const inside = (folder: FileHandle, name: string): string => `/proc/self/fd/${folder.fd}/${name}`;

/**
 * Places a file under one of the roots. It is written next to its target with final owner and permissions, synced and
 * renamed, so that the path always has either the old or the new content. Links are followed in folders only, and only
 * to places under the roots. Only regular files are replaced.
 * @returns whether anything was changed
 * @throws PlacementError
 */
export async function placeFile(wanted: WantedFile, roots: readonly string[]): Promise<boolean> {
  const rule = allowedPath(wanted.path);
  if (rule !== undefined) refuse(wanted.path, rule);
  const name = basename(wanted.path);
  if (name === '' || wanted.path.endsWith('/')) refuse(wanted.path, 'it names a folder, not a file');
  const owner = await idOf(wanted.owner, '/etc/passwd', wanted.path);
  const group = await idOf(wanted.group, '/etc/group', wanted.path);
  try {
    const folder = await openFolder(dirname(wanted.path), wanted, roots);
    try {
      return await placeInside(folder, name, wanted, owner, group);
    } finally {
      await folder.close();
    }
  } catch (error) {
    if (error instanceof PlacementError) throw error;
    throw new PlacementError(systemFailure(wanted.path, error));
  }
}

/**
 * Opens a folder under one of the roots, part by part and without following links, and creates missing folders.
 * Operations by name inside the open folder stay in it, even if a part of its path is replaced meanwhile.
 * @throws PlacementError, or the system's error
 */
export async function openFolder(
  path: string,
  wanted: Pick<WantedFile, 'path' | 'parents' | 'dirPermissions'>,
  roots: readonly string[],
): Promise<FileHandle> {
  const missing: string[] = [];
  let existing = path;
  let resolved: string | undefined;
  while (resolved === undefined) {
    try {
      resolved = await realpath(existing);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      missing.unshift(basename(existing));
      existing = dirname(existing);
    }
  }
  if (!isUnderRoots(join(resolved, ...missing), roots))
    refuse(wanted.path, `${join(resolved, ...missing)} is under none of ${roots.join(', ')}`);
  if (missing.length > 0 && !wanted.parents) refuse(wanted.path, `the folder ${path} does not exist`);

  let folder = await open('/', FOLDER);
  for (const part of resolved.split('/').filter(Boolean)) folder = await stepInto(folder, part);
  for (const part of missing) {
    const made = await mkdir(inside(folder, part), { mode: wanted.dirPermissions }).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') return false;
        throw error;
      },
    );
    folder = await stepInto(folder, part);
    if (made) await folder.chmod(wanted.dirPermissions);
  }
  return folder;
}

/** A folder in an open one; a link is an error. */
export const openInside = (folder: FileHandle, name: string): Promise<FileHandle> => open(inside(folder, name), FOLDER);

async function stepInto(folder: FileHandle, part: string): Promise<FileHandle> {
  try {
    return await openInside(folder, part);
  } finally {
    await folder.close();
  }
}

async function placeInside(
  folder: FileHandle,
  name: string,
  wanted: WantedFile,
  owner: number | undefined,
  group: number | undefined,
): Promise<boolean> {
  const there = await existing(folder, name, wanted.path);
  if (there !== undefined) {
    try {
      if (!wanted.overwrite || (await isSame(there, wanted, owner, group))) return false;
    } finally {
      await there.close();
    }
  }
  // Named after the process: two writers never share one, and a retry after a kill starts with a new one.
  const temporary = inside(folder, `.sitewright-${process.pid}-${Date.now().toString(36)}`);
  const file = await open(
    temporary,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    try {
      await file.writeFile(wanted.data);
      // Owner before permissions: chown clears setuid bits.
      if (owner !== undefined || group !== undefined) await file.chown(owner ?? -1, group ?? -1);
      await file.chmod(wanted.permissions);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, inside(folder, name));
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await folder.sync();
  return true;
}

/** The regular file of that name; undefined if nothing exists there. */
async function existing(folder: FileHandle, name: string, path: string): Promise<FileHandle | undefined> {
  let file: FileHandle;
  try {
    // Non-blocking: opening a FIFO would wait for its other end.
    file = await open(inside(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP') return refuse(path, 'it is a symbolic link');
    if (code === 'ENXIO') return refuse(path, 'it is not a regular file');
    throw error;
  }
  if ((await file.stat()).isFile()) return file;
  await file.close();
  return refuse(path, 'it is not a regular file');
}

async function isSame(
  file: FileHandle,
  wanted: WantedFile,
  owner: number | undefined,
  group: number | undefined,
): Promise<boolean> {
  const stat = await file.stat();
  return (
    stat.size === wanted.data.length &&
    (stat.mode & 0o7777) === wanted.permissions &&
    stat.uid === (owner ?? stat.uid) &&
    stat.gid === (group ?? stat.gid) &&
    (await file.readFile()).equals(wanted.data)
  );
}

/** The numeric id of a user or group name, from the node's files. */
async function idOf(name: string | undefined, file: string, path: string): Promise<number | undefined> {
  if (name === undefined) return undefined;
  if (/^\d{1,10}$/.test(name)) return Number(name);
  const line = (await readFile(file, 'utf8')).split('\n').find((entry) => entry.startsWith(`${name}:`));
  const id = line?.split(':')[2];
  return id === undefined ? refuse(path, `this node has no "${name}" in ${file}`) : Number(id);
}
