import type { FileHandle } from 'node:fs/promises';
import { sync as type } from '../../core/task-types/files.ts';
import { openFolder, PlacementError, systemFailure } from './place-file.ts';
import { runner, type TaskContext, type TryEnd, tryEndOf } from './task-runner.ts';

interface SyncParameters {
  readonly src: string;
  readonly dst: string;
}

const SYNC_ARGUMENTS = [
  'rsync',
  '-c',
  '-r',
  '--delete',
  '-l',
  '--itemize-changes',
  '--out-format=%i %n',
  '--',
] as const;

/** An itemized change, e.g. `>f+++++++++ name` or `*deleting   name`. */
const CHANGE = /^(?:[<>ch*][fdLDS.]|\*deleting)/;

async function run(p: SyncParameters, context: TaskContext): Promise<TryEnd> {
  let folder: FileHandle;
  try {
    folder = await openFolder(p.dst, { path: p.dst, parents: true, dirPermissions: 0o755 }, context.pathRoots);
  } catch (error) {
    const failure = error instanceof PlacementError ? error.failure : systemFailure(p.dst, error);
    return { failure, changed: false };
  }
  try {
    return await synchronise(p, folder, context);
  } finally {
    await folder.close();
  }
}

/** Works in the open folder: its path may lead elsewhere by now. */
async function synchronise(p: SyncParameters, folder: FileHandle, context: TaskContext): Promise<TryEnd> {
  let changes = 0;
  let rest = '';
  const end = await context.run({
    argv: [...SYNC_ARGUMENTS, p.src, './'],
    cwd: `/proc/${process.pid}/fd/${folder.fd}`,
    // No one is there to answer prompts of ssh.
    environment: { RSYNC_RSH: 'ssh -o BatchMode=yes' },
    onStdout: (chunk) => {
      const lines = (rest + chunk.toString('latin1')).split('\n');
      rest = lines.pop()!.slice(0, 1000);
      changes += lines.filter((line) => CHANGE.test(line)).length;
    },
  });
  return { ...tryEndOf(end, changes > 0), summary: { changes } };
}

export const sync = runner(type, { run });
