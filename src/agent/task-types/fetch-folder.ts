import { createHash } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileOfSource, readManifest } from '../../core/sources/folder-manifest.ts';
import type { TaskInput } from '../../core/task-types/index.ts';
import { readRegular } from '../../platform/files/regular-file.ts';
import { PlacementError } from './place-file.ts';

type FolderInput = Extract<TaskInput, { kind: 'folder' }>;

export const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

/**
 * Fetches the files of a folder that differ from the node's into `cache`, each under its hash. Content from an
 * interrupted transfer is not fetched again.
 *
 * @returns the list of the files
 * @throws PlacementError if the content differs from the order; whatever `read` rejects with
 */
export async function fetchFolder(
  { path, digest, dst }: FolderInput,
  cache: string,
  read: (path: string) => Promise<Uint8Array>,
): Promise<Buffer> {
  const list = Buffer.from(await read(path));
  const files = sha256(list) === digest ? readManifest(list.toString()) : undefined;
  if (files === undefined) throw changed(path);
  await mkdir(cache, { recursive: true, mode: 0o700 });
  for (const file of files) {
    const fetched = join(cache, file.sha256);
    if ((await hashOf(join(dst, file.path))) === file.sha256 || (await hashOf(fetched)) === file.sha256) continue;
    const source = fileOfSource(path, file.path);
    const content = await read(source);
    if (sha256(content) !== file.sha256) throw changed(source);
    await writeFile(`${fetched}.part`, content, { mode: 0o600 });
    await rename(`${fetched}.part`, fetched);
  }
  return list;
}

/** Removes the files that `fetchFolder` fetched, once they are in place. */
export async function dropFetched(cache: string, hashes: Iterable<string>): Promise<void> {
  for (const hash of hashes) await rm(join(cache, hash), { force: true });
}

/** On the node, others may put anything in the place of a file. */
async function hashOf(path: string): Promise<string | undefined> {
  const content = await readRegular(path);
  return content && sha256(content);
}

const changed = (path: string) =>
  new PlacementError({
    kind: 'refused-path',
    path,
    rule: 'its content differs from the order; the package was replaced during the run',
  });
