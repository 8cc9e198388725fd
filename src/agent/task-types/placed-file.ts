import type { Content } from '../../core/task-types/index.ts';
import type { TaskFailure } from '../journal/result.ts';
import { PlacementError, placeFile, type WantedFile } from './place-file.ts';
import type { TaskContext, TryEnd } from './task-runner.ts';

/** A file of `upload_file`, `upload_files` or `copy_files`, without its content. */
export type FileFrame = Omit<WantedFile, 'data'>;

export interface UploadedFile extends FileFrame {
  readonly data: Content;
}

interface Modes {
  readonly permissions: number;
  readonly dir_permissions: number;
}

/** Parameters of a file that the three types have in common. */
interface FileParameters extends Partial<{ readonly [Name in keyof Modes]: number | undefined }> {
  readonly user_owner: string | undefined;
  readonly group_owner: string | undefined;
  readonly overwrite: boolean;
  readonly parents: boolean;
}

/** A file from its parameters; permissions default to those of the task. */
export const frameOf = (path: string, file: FileParameters, task: Modes): FileFrame => ({
  path,
  permissions: file.permissions ?? task.permissions,
  dirPermissions: file.dir_permissions ?? task.dir_permissions,
  // Root as in the reference; an agent that does not run as root can only create its own files.
  owner: file.user_owner ?? asRoot('root'),
  group: file.group_owner ?? asRoot('root'),
  overwrite: file.overwrite,
  parents: file.parents,
});

const asRoot = (name: string): string | undefined => (process.getuid?.() === 0 ? name : undefined);

/** Places one file and prints the result. */
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

/** The end of a runner that was stopped; the supervisor replaces the failure by the cause of the stop. */
export const STOPPED: TryEnd = { failure: { kind: 'signal', signal: 'SIGTERM' }, changed: null };

/** Places files in order and stops at the first failure: later files may depend on earlier ones. */
export async function placeInOrder(files: readonly UploadedFile[], context: TaskContext): Promise<TryEnd> {
  let changed = false;
  let done = 0;
  for (const { data, ...frame } of files) {
    if (context.stop.aborted) return { ...STOPPED, changed };
    const end = await place(frame, Buffer.from('text' in data ? data.text : context.secret(data.secret)), context);
    if ('failure' in end) return { failure: end.failure, changed, summary: { files: files.length, placed: done } };
    changed ||= end.changed;
    done += 1;
  }
  return { failure: null, changed, summary: { files: files.length, placed: done } };
}
