import type { FileHandle } from 'node:fs/promises';
import { sync as type } from '../../core/task-types/files.ts';
import { shellWord } from '../../core/text/text.ts';
import { openFolder, PlacementError, systemFailure } from '../place-file.ts';
import { REFUSED_PATH } from '../ssh/exit-codes.ts';
import { enterFolder } from '../ssh/remote-folders.ts';
import { runScript, type SshWork } from '../ssh/ssh-work.ts';
import { runner, type TaskContext, type TryEnd, tryEndOf } from '../task-runner.ts';

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

const overSsh: SshWork<SyncParameters> = {
  script: ({ src, dst }, { roots }) => ({
    text: `${enterFolder(roots)}enter ${shellWord(dst)} 700
case $? in
  0) ;;
  ${REFUSED_PATH}) echo 'it is outside the allowed folders' >&2; exit ${REFUSED_PATH} ;;
  *) echo 'the folder cannot be created' >&2; exit 1 ;;
esac
${runScript([...SYNC_ARGUMENTS, src, './/'])}`,
  }),
  changed: (record) => record.count('itemized') > 0,
  summary: (record) => ({ changes: record.count('itemized') }),
};

export const sync = runner(type, { run, ssh: overSsh });
