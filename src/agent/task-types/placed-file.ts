import type { Content, ParameterReader } from '../parameters.js';
import { PlacementError, placeFile, type WantedFile } from '../place-file.js';
import type { TaskFailure } from '../result.js';
import type { TaskContext, TaskLimits, TryEnd } from '../task-type.js';

/** A file of `upload_file`, `upload_files` or `copy_files`, content apart. */
export type FileFrame = Omit<WantedFile, 'data'>;

export interface UploadedFile extends FileFrame {
  readonly content: Content;
}

/** Reads what the three types have in common; `fallback` are the task's own permissions. */
export function readFrame(
  file: ParameterReader,
  pathName: 'path' | 'dst',
  fallback: { readonly permissions: number; readonly dirPermissions: number },
): FileFrame {
  const path = file.path(pathName);
  if (path.endsWith('/')) file.wrong(pathName, `${pathName} names a folder`, 'Add the name of the file.');
  const permissions = file.permissions('permissions', fallback.permissions);
  if ((permissions & 0o6002) !== 0 && !file.flag('allow_special_permissions', false))
    file.wrong(
      'permissions',
      'the file would be setuid, setgid or writable for everybody',
      'Choose others, or set allow_special_permissions: true if that is meant.',
    );
  return {
    path,
    permissions,
    dirPermissions: file.permissions('dir_permissions', fallback.dirPermissions),
    // Root's as in the reference; an agent that is not root can only make files of its own.
    owner: file.has('user_owner') ? file.text('user_owner') : asRoot('root'),
    group: file.has('group_owner') ? file.text('group_owner') : asRoot('root'),
    overwrite: file.flag('overwrite', true),
    parents: file.flag('parents', true),
  };
}

const asRoot = (name: string): string | undefined => (process.getuid?.() === 0 ? name : undefined);

/** An upload's timeout holds for each try, and tries follow each other without a pause. */
export const uploadLimits = (p: { readonly timeout: number; readonly retries: number }): TaskLimits => ({
  timeoutSec: p.timeout,
  timeoutCovers: 'each-try',
  retries: p.retries,
  intervalSec: 0,
  killGraceSec: 0,
});

export const secretsOf = (files: readonly UploadedFile[]) =>
  files.flatMap(({ content }) => ('secret' in content ? [{ kind: 'secret', ref: content.secret } as const] : []));

/** Places one file and says so in the output. */
export async function place(
  frame: FileFrame,
  data: Uint8Array,
  context: TaskContext,
): Promise<{ readonly changed: boolean } | { readonly failure: TaskFailure }> {
  try {
    const changed = await placeFile({ ...frame, data }, context.pathRoots);
    context.print(`${changed ? 'written' : 'unchanged'}: ${frame.path}`);
    return { changed };
  } catch (error) {
    if (error instanceof PlacementError) return { failure: error.failure };
    throw error;
  }
}

export const contentOf = (content: Content, context: TaskContext): Buffer =>
  Buffer.from('text' in content ? content.text : context.secret(content.secret));

/** The end of a runner that was told to stop; the supervisor knows why and says so. */
export const STOPPED: TryEnd = { failure: { kind: 'signal', signal: 'SIGTERM' }, changed: null };

/** Places files in order and stops at the first that fails: what follows may rely on it. */
export async function placeInOrder(files: readonly UploadedFile[], context: TaskContext): Promise<TryEnd> {
  let changed = false;
  let done = 0;
  for (const file of files) {
    if (context.stop.aborted) return { ...STOPPED, changed };
    const end = await place(file, contentOf(file.content, context), context);
    if ('failure' in end) return { failure: end.failure, changed, summary: { files: files.length, placed: done } };
    changed ||= end.changed;
    done += 1;
  }
  return { failure: null, changed, summary: { files: files.length, placed: done } };
}
