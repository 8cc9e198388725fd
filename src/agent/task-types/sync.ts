import type { FileHandle } from 'node:fs/promises';
import type { ParameterReader } from '../parameters.js';
import { openFolder, PlacementError, systemFailure } from '../place-file.js';
import { type TaskContext, type TaskType, type TryEnd, tryEndOf } from '../task-type.js';

interface SyncParameters {
  readonly src: string;
  readonly dst: string;
  readonly timeout: number;
  readonly retries: number;
}

/** rsync's own spellings of a source: a daemon's module (two ways), a host over ssh, a path of this machine. */
const SOURCES = [
  /^rsync:\/\/[\w.@[\]:-]+\/[^\n]+$/,
  /^(?:[\w.-]+@)?[\w.-]+::[^\n]+$/,
  /^(?:[\w.-]+@)?[\w.-]+:\/(?!\/)[^\n]*$/,
  /^\/[^\n]*$/,
];

export const SYNC_ARGUMENTS = [
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

function read(parameters: ParameterReader): SyncParameters {
  const src = parameters.operand('src');
  if (src !== '' && !SOURCES.some((form) => form.test(src)))
    parameters.wrong(
      'src',
      'src is no source that rsync knows',
      'Use rsync://HOST/MODULE/PATH, HOST::MODULE/PATH, HOST:/PATH or /PATH.',
    );
  return {
    src,
    dst: parameters.path('dst'),
    timeout: parameters.amount('timeout', 300),
    retries: parameters.count('retries', 10),
  };
}

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

/** Inside the folder as it was opened: its path may lead elsewhere by now. */
async function synchronise(p: SyncParameters, folder: FileHandle, context: TaskContext): Promise<TryEnd> {
  let changes = 0;
  let rest = '';
  const end = await context.run({
    argv: [...SYNC_ARGUMENTS, p.src, './'],
    cwd: `/proc/${process.pid}/fd/${folder.fd}`,
    // Nobody is there to answer a question of ssh.
    environment: { RSYNC_RSH: 'ssh -o BatchMode=yes' },
    onStdout: (chunk) => {
      const lines = (rest + chunk.toString('latin1')).split('\n');
      rest = lines.pop()!.slice(0, 1000);
      changes += lines.filter((line) => CHANGE.test(line)).length;
    },
  });
  return { ...tryEndOf(end, changes > 0), summary: { changes } };
}

/** Makes a folder equal to a source by checksum, and deletes what the source does not have. */
export const sync: TaskType<SyncParameters> = {
  name: 'sync',
  noop: 'skip',
  read,
  limits: (p) => ({
    timeoutSec: p.timeout,
    timeoutCovers: 'all-tries',
    retries: p.retries,
    intervalSec: 2,
    killGraceSec: 5,
  }),
  run,
};
