import { type FileHandle, readdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type ManifestFile, readManifest } from '../../core/sources/folder-manifest.ts';
import { packageFiles as type } from '../../core/task-types/package-files.ts';
import { readRegular } from '../../platform/files/regular-file.ts';
import type { TaskFailure } from '../journal/result.ts';
import { dropFetched, sha256 } from './fetch-folder.ts';
import { inside, openFolder, openInside, PlacementError, systemFailure } from './place-file.ts';
import { type FileFrame, place, STOPPED } from './placed-file.ts';
import { runner, type TaskContext, type TryEnd } from './task-runner.ts';

const frameOf = (dst: string, { path, executable }: ManifestFile): FileFrame => ({
  path: join(dst, path),
  permissions: executable ? 0o755 : 0o644,
  dirPermissions: 0o755,
  owner: undefined,
  group: undefined,
  overwrite: true,
  parents: true,
});

/** Makes a folder equal to that of a package, from fetched and existing files. */
export const packageFiles = runner(type, {
  run: async (p, context) => {
    const list = context.source(p.src);
    if (!Buffer.isBuffer(list)) return { failure: list, changed: false };
    const files = readManifest(list.toString())!;
    let placed = 0;
    const end = (failure: TaskFailure | null, deleted = 0): TryEnd => ({
      failure,
      changed: placed + deleted > 0,
      summary: { files: files.length, placed, deleted },
    });
    for (const file of files) {
      if (context.stop.aborted) return { ...STOPPED, changed: placed > 0 };
      const frame = frameOf(p.dst, file);
      const data = await contentOf(file, frame.path, context.contentFolder);
      if (data === undefined) return end({ kind: 'io', path: frame.path, code: 'it changed during the task' });
      const one = await place(frame, data, context);
      if ('failure' in one) return end(one.failure);
      if (one.changed) placed += 1;
    }
    try {
      const deleted = await deleteOthers(p.dst, new Set(files.map(({ path }) => path)), context);
      await dropFetched(
        context.contentFolder,
        files.map((file) => file.sha256),
      );
      return end(null, deleted);
    } catch (error) {
      return end(error instanceof PlacementError ? error.failure : systemFailure(p.dst, error));
    }
  },
});

/** The fetched content, else that of the file on the node; undefined if neither has the wanted content. */
async function contentOf({ sha256: wanted }: ManifestFile, path: string, cache: string): Promise<Buffer | undefined> {
  for (const from of [join(cache, wanted), path]) {
    const content = await readRegular(from);
    if (content !== undefined && sha256(content) === wanted) return content;
  }
  return undefined;
}

/**
 * Deletes files below the folder that the package lacks. Links are deleted, never followed: each folder is opened by its name in
 * the one above.
 */
async function deleteOthers(folder: string, kept: ReadonlySet<string>, context: TaskContext): Promise<number> {
  let deleted = 0;
  const below = async (open: FileHandle, path: string): Promise<void> => {
    for (const entry of await readdir(inside(open, '.'), { withFileTypes: true })) {
      const inner = join(path, entry.name);
      if (entry.isDirectory()) {
        await within(await openInside(open, entry.name), (its) => below(its, inner));
        if (![...kept].some((one) => one.startsWith(`${inner}/`))) await rmdir(inside(open, entry.name));
      } else if (!kept.has(inner)) {
        await unlink(inside(open, entry.name));
        context.print(`deleted: ${join(folder, inner)}`);
        deleted += 1;
      }
    }
  };
  const wanted = { path: folder, parents: true, dirPermissions: 0o755 };
  await within(await openFolder(folder, wanted, context.pathRoots), (open) => below(open, ''));
  return deleted;
}

async function within(folder: FileHandle, work: (folder: FileHandle) => Promise<void>): Promise<void> {
  try {
    await work(folder);
  } finally {
    await folder.close();
  }
}
