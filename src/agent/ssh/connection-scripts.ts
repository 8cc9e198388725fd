import type { ExecutionKey } from '../../core/task-on-node.ts';
import { shellWord } from '../../core/text/text.ts';
import { type Execution, executionMark, folderName, nodeFolder, stableJson } from '../index.ts';
import { whole } from '../onboarding/ssh-command.ts';
import { COMMON, RUNNER } from './remote-runner.ts';
import type { ScriptToSend } from './remote-task.ts';

/** Location of an execution on its node. */
export interface RemotePlace {
  readonly folder: string;
  /** The lock, shared with an agent on the node. */
  readonly lock: string;
  readonly mark: string;
  /** The folder for content that tasks need, each under a name of its own. */
  readonly content: string;
}

/** @param stateDir the folder that an agent on the node would use for the site */
export function remotePlace(stateDir: string, key: ExecutionKey): RemotePlace {
  const node = nodeFolder(stateDir, key.node);
  const folder = `${node}/ssh/${folderName(key.run)}/${folderName(key.task)}/${key.generation}`;
  return { folder, lock: `${node}/lock`, mark: executionMark(folder), content: `${node}/ssh-content` };
}

const head = ({ folder, mark }: RemotePlace): string => `umask 077
dir=${shellWord(folder)} mark=${mark}
scratch=/tmp/sitewright-$mark
[ -d /dev/shm ] && scratch=/dev/shm/sitewright-$mark
${COMMON}`;

/**
 * Prints the node's state of an execution before it starts: a line `started`, `intent` or `none`, a line with the
 * node's own policy (in base64 after `=`; empty if it has none), and the intent.
 */
export const lookScript = (place: RemotePlace, policyFile: string): string =>
  whole(`dir=${shellWord(place.folder)} policy=${shellWord(policyFile)}
state=none
[ -e "$dir/execution" ] && state=intent
[ "$state" = intent ] && { [ -e "$dir/claim" ] || [ -e "$dir/exit" ]; } && state=started
echo "$state"
if [ -e "$policy" ]; then text=$(base64 <"$policy") || exit 4; printf '=%s\n' "$(printf %s "$text" | tr -d '\n')"; else echo; fi
[ "$state" = none ] || cat "$dir/execution"`);

/**
 * Prints `accepted` or `conflict`; starts the execution unless it is already started.
 *
 * @param setsAside the node's intent of it, which is unreadable
 */
export function ensureScript(
  place: RemotePlace,
  execution: Execution,
  task: ScriptToSend,
  { lockWaitSec, setsAside }: { readonly lockWaitSec: number; readonly setsAside: boolean },
): string {
  const { limits } = task;
  const hundredths = (seconds: number) => Math.max(1, Math.round(seconds * 100));
  const overall = [
    ...(limits.timeoutCovers === 'all-tries' ? [limits.timeoutSec] : []),
    ...(execution.deadlineSec === undefined ? [] : [execution.deadlineSec]),
  ];
  const settings = [
    `mark=${place.mark}`,
    `lock=${shellWord(place.lock)}`,
    `lock_wait=${Math.round(lockWaitSec * 100)}`,
    `whole=${overall.length === 0 ? 0 : hundredths(Math.min(...overall))}`,
    `each=${limits.timeoutCovers === 'each-try' ? hundredths(limits.timeoutSec) : 0}`,
    `retries=${execution.singleTry === true ? 0 : limits.retries}`,
    `interval=${Math.ceil(limits.intervalSec * 5)}`,
    `grace=${Math.ceil(execution.killGraceSec ?? limits.killGraceSec)}`,
    `limit=${execution.outputLimitBytes ?? 16 * 1024 * 1024}`,
    `good_codes=${shellWord(task.goodCodes.join(' '))}`,
    `final_codes=${shellWord(task.finalCodes.join(' '))}`,
  ];
  const put = (name: string, text: string) => `printf %s ${shellWord(text)} >"$dir/${name}"`;
  // `printf` is a shell built-in: secrets are never in a process's arguments, and only in files in memory.
  const contents = task.contents.map(
    (content, at) => `printf %s ${shellWord(Buffer.from(content).toString('base64'))} | base64 -d >"$scratch/${at}"`,
  );
  return whole(`${head(place)}
for program in flock setsid base64 mkfifo; do
  command -v $program >/dev/null || { echo "$program is not installed" >&2; exit 3; }
done
mkdir -p "$dir" || exit 4
${setsAside ? `[ -e "$dir/claim" ] || mv -T "$dir/execution" "$dir/execution.unreadable" || exit 4` : ''}
printf %s ${shellWord(stableJson(execution))} | first execution
printf %s ${shellWord(stableJson(execution))} | cmp -s - "$dir/execution" || { echo conflict; exit 0; }
if [ ! -e "$dir/exit" ] && [ ! -e "$dir/claim" ]; then
set -e
rm -rf "$scratch"
mkdir -m 700 "$scratch"
${contents.join('\n')}
${put('settings', `${settings.join('\n')}\n`)}
echo "scratch=$scratch" >>"$dir/settings"
${put('start.sh', task.text)}
${put('runner.sh', RUNNER)}
setsid sh "$dir/runner.sh" "$dir" </dev/null >/dev/null 2>"$dir/runner.log" &
set +e
looks=100
while [ ! -e "$dir/claim" ] && [ "$looks" -gt 0 ]; do sleep 0.1; looks=$((looks - 1)); done
[ -e "$dir/claim" ] || { cat "$dir/runner.log" >&2; echo 'the runner did not start' >&2; exit 5; }
fi
echo accepted`);
}

/** Writes the cancellation request into the folder. An execution that is not started yet then never starts. */
export const cancelScript = (place: RemotePlace, reason: string): string =>
  whole(`${head(place)}
mkdir -p "$dir" || exit 4
printf %s ${shellWord(reason)} | first cancel
echo noted`);

/**
 * Follows an execution from the given offsets to completion. Prints lines, some followed by bytes: `S` (a heartbeat),
 * `O OFFSET LENGTH` and `E OFFSET LENGTH` with bytes of stdout and stderr, `X LENGTH` with the end record, `N` if the
 * execution does not exist. Writing the heartbeat ends the script soon after the connection is closed.
 */
export const followScript = (place: RemotePlace, from: { readonly stdout: number; readonly stderr: number }): string =>
  whole(`${head(place)}
[ -e "$dir/execution" ] || { echo N; exit 0; }
piece() { # letter file offset
  size=$(wc -c <"$dir/$2" 2>/dev/null || echo 0)
  n=$((size - $3))
  [ "$n" -gt 262144 ] && n=262144
  [ "$n" -gt 0 ] || { n=0; return; }
  echo "$1 $3 $n"
  tail -c "+$(($3 + 1))" "$dir/$2" | head -c "$n"
}
o=${from.stdout} e=${from.stderr} look=0
while :; do
  over=
  has_result && over=yes
  [ -z "$over" ] && [ -e "$dir/exit" ] && { settle; has_result && over=yes; }
  piece O stdout "$o"; o=$((o + n)); got=$n
  piece E stderr "$e"; e=$((e + n)); got=$((got + n))
  [ "$got" -gt 0 ] && continue
  if [ -n "$over" ]; then
    echo "X $(wc -c <"$dir/exit")"
    cat "$dir/exit"
    exit 0
  fi
  [ $((look % 5)) -eq 0 ] && { settle; echo S; }
  look=$((look + 1))
  sleep 0.2
done`);

/** Prints the generations of a task that the node has, newest first, one a line. */
export const generationsScript = ({ folder }: RemotePlace): string =>
  whole(`ls ${shellWord(folder.slice(0, folder.lastIndexOf('/')))} 2>/dev/null | grep -x '[1-9][0-9]*' | sort -rn`);

/** Prints the boot id; fails if a required program is missing. */
export const factsScript = (): string =>
  whole(`cat /proc/sys/kernel/random/boot_id
for program in flock setsid base64 mkfifo; do command -v $program >/dev/null || { echo "$program is not installed" >&2; exit 3; }; done`);

/** Deletes executions that ended more than some minutes ago. */
export const forgetScript = (stateDir: string, node: string, minutes: number): string =>
  whole(
    `find ${shellWord(`${nodeFolder(stateDir, node)}/ssh`)} -mindepth 4 -maxdepth 4 -name exit -mmin +${minutes} 2>/dev/null | while read -r exit_file; do rm -rf "\${exit_file%/exit}"; done`,
  );
