import { type Execution, type ExecutionKey, executionMark, folderName, nodeFolder, stableJson } from '../index.js';
import { shellWord } from '../onboarding/ssh-command.js';
import { COMMON, RUNNER } from './remote-runner.js';
import type { RemoteTask } from './remote-task.js';

/** Where an execution is on its node. */
export interface RemotePlace {
  readonly folder: string;
  /** The lock an agent on the node has, too. */
  readonly lock: string;
  readonly mark: string;
}

/** @param stateDir the folder an agent on the node would have for the site */
export function remotePlace(stateDir: string, key: ExecutionKey): RemotePlace {
  const node = nodeFolder(stateDir, key.node);
  const folder = `${node}/ssh/${folderName(key.run)}/${folderName(key.task)}/${key.generation}`;
  return { folder, lock: `${node}/lock`, mark: executionMark(folder) };
}

/** A script that came in halves must not begin: as one compound it is read to its end before anything is done. */
const whole = (script: string): string => `{\n${script}\nexit 0\n}\n`;

const head = ({ folder, mark }: RemotePlace): string => `umask 077
dir=${shellWord(folder)} mark=${mark}
scratch=/tmp/sitewright-$mark
[ -d /dev/shm ] && scratch=/dev/shm/sitewright-$mark
${COMMON}`;

/**
 * Prints what a node knows before anything is begun: a line `begun`, `intent` or `none`, a line with its own policy (in
 * base64 after `=`; empty when it has none), and the intent.
 */
export const lookScript = (place: RemotePlace, policyFile: string): string =>
  whole(`dir=${shellWord(place.folder)} policy=${shellWord(policyFile)}
state=none
[ -e "$dir/execution" ] && state=intent
[ "$state" = intent ] && { [ -e "$dir/claim" ] || [ -e "$dir/exit" ]; } && state=begun
echo "$state"
if [ -e "$policy" ]; then text=$(base64 <"$policy") || exit 4; printf '=%s\n' "$(printf %s "$text" | tr -d '\n')"; else echo; fi
[ "$state" = none ] || cat "$dir/execution"`);

/** Says `accepted` or `conflict`; starts the execution unless somebody did. */
export function ensureScript(place: RemotePlace, execution: Execution, task: RemoteTask, lockWaitSec: number): string {
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
  // By a built-in command: a secret is in no argument of a process, and in no file but those in memory.
  const contents = task.contents.map(
    (content, at) => `printf %s ${shellWord(Buffer.from(content).toString('base64'))} | base64 -d >"$scratch/${at}"`,
  );
  return whole(`${head(place)}
for program in flock setsid base64 mkfifo; do
  command -v $program >/dev/null || { echo "$program is not installed" >&2; exit 3; }
done
mkdir -p "$dir" || exit 4
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
[ -e "$dir/claim" ] || { cat "$dir/runner.log" >&2; echo 'the runner did not begin' >&2; exit 5; }
fi
echo accepted`);
}

/** Writes the wish to end into the folder; also where nothing was begun: then it never begins. */
export const cancelScript = (place: RemotePlace, reason: string): string =>
  whole(`${head(place)}
mkdir -p "$dir" || exit 4
printf %s ${shellWord(reason)} | first cancel
echo noted`);

/**
 * Follows an execution from the given offsets to its end, in lines and pieces: `S` (a beat), `O OFFSET LENGTH` and
 * `E OFFSET LENGTH` with that many bytes after them, `X LENGTH` with the record of the end, `N`: there is no such
 * execution. The beat is also what makes it end soon after the connection has.
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
  [ -e "$dir/exit" ] && over=yes
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

/** Boot id, and whether the programs are there that everything needs. */
export const factsScript = (): string =>
  whole(`cat /proc/sys/kernel/random/boot_id
for program in flock setsid base64 mkfifo; do command -v $program >/dev/null || { echo "$program is not installed" >&2; exit 3; }; done`);

/** Deletes what ended long ago. */
export const forgetScript = (stateDir: string, node: string, minutes: number): string =>
  whole(
    `find ${shellWord(`${nodeFolder(stateDir, node)}/ssh`)} -mindepth 4 -maxdepth 4 -name exit -mmin +${minutes} 2>/dev/null | while read -r exit_file; do rm -rf "\${exit_file%/exit}"; done`,
  );
