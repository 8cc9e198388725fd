import type { Content } from '../../core/task-types/index.ts';
import { shellWord } from '../../core/text/text.ts';
import { PlacementError, placeFile, type WantedFile } from '../place-file.ts';
import type { TaskFailure } from '../result.ts';
import { FILES_FAILED } from '../ssh/exit-codes.ts';
import { PLACE } from '../ssh/place-over-ssh.ts';
import { enterFolder } from '../ssh/remote-folders.ts';
import type { RemoteScript, ScriptContext } from '../ssh/ssh-work.ts';
import type { TaskContext, TryEnd } from '../task-runner.ts';

/** A file of `upload_file`, `upload_files` or `copy_files`, without its content. */
export type FileFrame = Omit<WantedFile, 'data'>;

export interface UploadedFile extends FileFrame {
  readonly data: Content;
}

/** Why a file that an order names by its hash is not placed. */
export const OTHER_CONTENT = 'its content differs from the order; the package was replaced during the run';

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

/** The same for a node without an agent. */
export async function placeInOrderOverSsh(
  files: readonly UploadedFile[],
  { roots, contentOf }: ScriptContext,
): Promise<RemoteScript> {
  const placed: PlacedOverSsh[] = [];
  for (const { data, ...frame } of files)
    placed.push({ ...frame, data: 'text' in data ? Buffer.from(data.text) : await contentOf({ secret: data.secret }) });
  return placeScript(placed, roots, 'exit $?');
}

/** A file to place over ssh, or why there is nothing to place. */
export type PlacedOverSsh = (FileFrame & OverSsh) | { readonly path: string; readonly reason: string };
/** Content to send, or that is on the node: `choose` finds it by its hash. */
type OverSsh = { readonly data: Uint8Array } | { readonly sha256: string };

/** @param onFailure shell command to run if a file was not placed */
export function placeScript(
  files: readonly PlacedOverSsh[],
  roots: readonly string[],
  onFailure: string,
): RemoteScript {
  const contents: Uint8Array[] = [];
  const placed = (file: FileFrame, content: string) =>
    `place ${[
      content,
      shellWord(file.path),
      file.permissions.toString(8),
      file.dirPermissions.toString(8),
      shellWord(file.owner ?? ''),
      shellWord(file.group ?? ''),
      String(file.overwrite),
      String(file.parents),
    ].join(' ')}`;
  const refused = ({ path }: { readonly path: string }, reason: string) =>
    `refuse 1 ${shellWord(path)} ${shellWord(reason)}`;
  const call = (file: PlacedOverSsh): string => {
    if ('reason' in file) return refused(file, file.reason);
    if ('data' in file) return placed(file, `"$scratch/${contents.push(file.data) - 1}"`);
    return `{ choose ${file.sha256} ${shellWord(file.path)} || ${refused(file, OTHER_CONTENT)}; } && ${placed(file, '"$from"')}`;
  };
  const lines = files.map((file) => `${call(file)} || ${onFailure}`);
  return {
    text: `. "$1/settings"
dir=$1 failed=0
: >"$dir/details"
${enterFolder(roots)}${PLACE}${lines.join('\n')}
[ "$failed" -eq 0 ] || exit ${FILES_FAILED}
`,
    finalCodes: [FILES_FAILED],
    contents,
  };
}
