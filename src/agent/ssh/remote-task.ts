import type { TaskLimits } from '../../core/task-types/index.ts';
import { DEFAULT_TASK_PATH } from '../task-process.ts';
import type { Runnable } from '../task-runner.ts';
import { MISSING_FOLDER, MISSING_PROGRAM, REFUSED_PATH } from './exit-codes.ts';
import type { RemoteScript, ScriptContext } from './ssh-work.ts';

/** Data that a connection sends to the node for one execution. */
export interface ScriptToSend extends Required<RemoteScript> {
  readonly limits: TaskLimits;
}

/**
 * The script of a task's tries; undefined for a type that needs an agent.
 *
 * @throws errors of `contentOf` of the context
 */
export async function remoteTask(
  task: Runnable,
  mark: string,
  context: ScriptContext,
): Promise<ScriptToSend | undefined> {
  const script = await task.overSsh(context);
  if (script === undefined) return undefined;
  return {
    goodCodes: [0],
    contents: [],
    ...script,
    finalCodes: [REFUSED_PATH, MISSING_PROGRAM, MISSING_FOLDER, ...(script.finalCodes ?? [])],
    limits: task.limits,
    text: `${BEGIN}${environment(mark)}${script.text}`,
  };
}

const BEGIN = `echo $$ >>"$1/sessions"
if [ -e "$1/group" ]; then echo $$ >"$(cat "$1/group")/cgroup.procs"; fi
`;

const environment = (mark: string): string => `clean() {
  exec env -i "PATH=${DEFAULT_TASK_PATH}" LANG=C.UTF-8 "HOME=$HOME" "RSYNC_RSH=ssh -o BatchMode=yes" SITEWRIGHT_EXECUTION=${mark} "$@"
}
`;
