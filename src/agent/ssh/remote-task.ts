import type { Execution, TaskLimits } from '../index.js';
import { DEFAULT_TASK_PATH, type PreparedTask } from '../index.js';
import { shellWord } from '../onboarding/ssh-command.js';
import type { FileFrame, UploadedFile } from '../task-types/placed-file.js';
import { PUPPET_LOCKS, type PuppetParameters, puppetArguments } from '../task-types/puppet.js';
import { SYNC_ARGUMENTS } from '../task-types/sync.js';
import { BUSY, FILES_FAILED, MISSING_FOLDER, MISSING_PROGRAM, REFUSED_PATH } from './exit-codes.js';
import { PLACE } from './place-over-ssh.js';
import { enterFolder } from './remote-folders.js';

/** What a connection brings to the node for one execution. */
export interface RemoteTask {
  /** The script of one try (`$1`: the execution's folder, `$2`: number of the try). */
  readonly start: string;
  /** Exit codes that are success, and those that no further try would change. */
  readonly goodCodes: readonly number[];
  readonly finalCodes: readonly number[];
  /** Files for the folder in memory. */
  readonly contents: readonly Uint8Array[];
  readonly limits: TaskLimits;
}

/** Types that run over ssh. All others need an agent. */
export const REMOTE_TYPES: readonly string[] = [
  'shell',
  'master_shell',
  'puppet',
  'sync',
  'upload_file',
  'upload_files',
  'copy_files',
];

type Placed = FileFrame & { readonly data: Uint8Array };

/**
 * The script of a task's tries.
 *
 * @param contentOf content of a secret or of a source that the task names
 * @throws what `contentOf` throws
 */
export async function remoteTask(
  execution: Execution,
  { parameters, limits }: PreparedTask,
  mark: string,
  roots: readonly string[],
  contentOf: (input: { readonly secret: string } | { readonly source: string }) => Promise<Uint8Array>,
): Promise<RemoteTask> {
  const begin = `echo $$ >>"$1/sessions"\nif [ -e "$1/group" ]; then echo $$ >"$(cat "$1/group")/cgroup.procs"; fi\n${ENVIRONMENT(mark)}`;
  const plain = { goodCodes: [0], finalCodes: [REFUSED_PATH, MISSING_PROGRAM, MISSING_FOLDER], contents: [], limits };
  switch (execution.type) {
    case 'shell':
    case 'master_shell': {
      const { cmd, cwd } = parameters as { readonly cmd: string; readonly cwd: string };
      const start = `${begin}${enter(cwd)}printf %s ${shellWord(cmd)} >"$1/try-$2/command.sh"\n${run(['bash', '--'], '"$1/try-$2/command.sh"')}`;
      return { ...plain, start };
    }
    case 'sync': {
      const { src, dst } = parameters as { readonly src: string; readonly dst: string };
      const inside = `enter ${shellWord(dst)} 700
case $? in
  0) ;;
  ${REFUSED_PATH}) echo 'it is under none of the allowed folders' >&2; exit ${REFUSED_PATH} ;;
  *) echo 'the folder cannot be made' >&2; exit 1 ;;
esac
`;
      const start = `${begin}${enterFolder(roots)}${inside}${run([...SYNC_ARGUMENTS, src, './/'])}`;
      return { ...plain, start };
    }
    case 'puppet':
      return { ...plain, goodCodes: [0, 2], start: begin + puppetScript(parameters as PuppetParameters, execution) };
    case 'upload_file':
    case 'upload_files':
    case 'copy_files':
      return await placing(execution.type, parameters, { ...plain, start: begin }, roots, contentOf);
    default:
      throw new Error(`${execution.type} does not run over ssh`);
  }
}

const ENVIRONMENT = (mark: string): string => `clean() {
  exec env -i "PATH=${DEFAULT_TASK_PATH}" LANG=C.UTF-8 "HOME=$HOME" "RSYNC_RSH=ssh -o BatchMode=yes" SITEWRIGHT_EXECUTION=${mark} "$@"
}
`;

const enter = (cwd: string): string => `cd ${shellWord(cwd)} || exit ${MISSING_FOLDER}\n`;

function run(words: readonly string[], last = ''): string {
  const program = shellWord(words[0] ?? '');
  return `(PATH=${DEFAULT_TASK_PATH}; command -v ${program}) >/dev/null || { echo ${shellWord(`${words[0]} is not installed`)} >&2; exit ${MISSING_PROGRAM}; }
clean ${words.map(shellWord).join(' ')} ${last}
`;
}

function puppetScript(p: PuppetParameters, execution: Execution): string {
  const noop = execution.mode === 'noop' || p.noopRun;
  const words = puppetArguments(p, '@FOLDER@', noop, p.debug || execution.debug === true);
  // Its folders are known on the node only.
  const line = words.map((word) => shellWord(word).replaceAll('@FOLDER@', `'"$folder"'`)).join(' ');
  const locks = PUPPET_LOCKS.map(shellWord).join(' ');
  return `${enter(p.cwd)}(PATH=${DEFAULT_TASK_PATH}; command -v puppet) >/dev/null || { echo 'puppet is not installed' >&2; exit ${MISSING_PROGRAM}; }
looks=${Math.ceil(p.startTimeout * 5)}
for lock in ${locks}; do
  while pid=$(cat "$lock" 2>/dev/null) && [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; do
    [ "$looks" -le 0 ] && { echo "$lock" >&2; exit ${BUSY}; }
    sleep 0.2; looks=$((looks - 1))
  done
done
confirmation=0 changed=0
while :; do
  folder=$1/try-$2/puppet-$confirmation
  mkdir -p "$folder/state"
  begun=$(date +%s)
  (clean ${line})
  code=$?
  [ "$code" = 2 ] && changed=1
  {
    echo "puppet_begun=$begun"
    echo "puppet_code=$code"
    echo "puppet_changed=$changed"
    echo "puppet_folder=$folder"
    echo "puppet_summary=$(head -c 65536 "$folder/last_run_summary.yaml" 2>/dev/null | base64 | tr -d '\\n')"
    echo "puppet_report=$({ echo resource_statuses:; sed -n '/^resource_statuses:/,$p' "$folder/last_run_report.yaml" 2>/dev/null | grep -E '^    (resource|changed|failed|failed_to_restart): '; } | head -c 131072 | base64 | tr -d '\\n')"
  } >"$1/told"
  case $code in 0 | 2) ;; *) exit "$code" ;; esac
  [ "$confirmation" -ge ${p.succeedRetries} ] && exit "$code"
  confirmation=$((confirmation + 1))
done
`;
}

async function placing(
  type: string,
  parameters: unknown,
  base: Omit<RemoteTask, 'contents'>,
  roots: readonly string[],
  contentOf: (input: { readonly secret: string } | { readonly source: string }) => Promise<Uint8Array>,
): Promise<RemoteTask> {
  const files: (Placed | { readonly path: string; readonly reason: string })[] = [];
  if (type === 'copy_files') {
    const { files: wanted } = parameters as { readonly files: readonly (FileFrame & { readonly src: string })[] };
    for (const file of wanted) {
      try {
        files.push({ ...file, data: await contentOf({ source: file.src }) });
      } catch (error) {
        // As in the agent: what the file system says of one file fails that file.
        const { code } = error as NodeJS.ErrnoException;
        if (code === undefined || !/^E[A-Z]+$/.test(code)) throw error;
        files.push({ path: file.src, reason: code });
      }
    }
  } else {
    const wanted = parameters as { readonly file?: UploadedFile; readonly files?: readonly UploadedFile[] };
    for (const { content, ...frame } of wanted.files ?? (wanted.file === undefined ? [] : [wanted.file]))
      files.push({
        ...frame,
        data: 'text' in content ? Buffer.from(content.text) : await contentOf({ secret: content.secret }),
      });
  }
  const contents = files.map((file) => ('data' in file ? file.data : Buffer.alloc(0)));
  const each = files.map((file, at) => {
    const call =
      'data' in file
        ? `place ${[
            `"$scratch/${at}"`,
            shellWord(file.path),
            file.permissions.toString(8),
            file.dirPermissions.toString(8),
            shellWord(file.owner ?? ''),
            shellWord(file.group ?? ''),
            String(file.overwrite),
            String(file.parents),
          ].join(' ')}`
        : `refuse 1 ${shellWord(file.path)} ${shellWord(file.reason)}`;
    return type === 'copy_files' ? `${call} || failed=$((failed + 1))` : `${call} || exit $?`;
  });
  const start = `${base.start}. "$1/settings"
dir=$1 failed=0
: >"$dir/told"
${enterFolder(roots)}${PLACE}${each.join('\n')}
[ "$failed" -eq 0 ] || exit ${FILES_FAILED}
`;
  return { ...base, finalCodes: [...base.finalCodes, FILES_FAILED], start, contents };
}
