import { shellWord } from '../../core/text/text.ts';
import type { Execution } from '../execution.ts';
import type { TaskFailure } from '../result.ts';
import { DEFAULT_TASK_PATH } from '../task-process.ts';
import type { NeededFile } from './bring-content.ts';
import type { EndRecord } from './end-record.ts';
import { MISSING_FOLDER, MISSING_PROGRAM } from './exit-codes.ts';

/** Data that a task type sends to the node for one execution. */
export interface RemoteScript {
  /**
   * The script of one try (`$1`: the execution's folder, `$2`: number of the try). `clean` runs a program in a clean
   * environment.
   */
  readonly text: string;
  /** Exit codes that are success. Default: 0. */
  readonly goodCodes?: readonly number[];
  /** Its own exit codes after which a retry is useless. */
  readonly finalCodes?: readonly number[];
  /** Files for the folder in memory, by number. */
  readonly contents?: readonly Uint8Array[];
}

export interface ScriptContext {
  readonly execution: Execution;
  /** Folders below which files may be placed. */
  readonly roots: readonly string[];
  /** Reads a secret or a source that the task names. */
  contentOf(input: { readonly secret: string } | { readonly source: string }): Promise<Uint8Array>;
  /** Sends missing contents of some files into a folder on the node, and returns it. `name`: their purpose. */
  bring(name: string, files: readonly NeededFile[]): Promise<string>;
}

/** How a try ended, from the record on its node. */
export interface RemoteEnd {
  readonly failure: TaskFailure | null;
  readonly changed: boolean | null;
  readonly exitCode: number | null;
  readonly summary: Readonly<Record<string, unknown>>;
}

/** How a node without an agent carries out tasks of a type. */
export interface SshWork<P> {
  /** May throw errors of `contentOf`. */
  script(parameters: P, context: ScriptContext): RemoteScript | Promise<RemoteScript>;
  /** Default: whether the script wrote `changed=…` into `$1/details`. */
  changed?(record: EndRecord): boolean | null;
  summary?(record: EndRecord): Readonly<Record<string, unknown>>;
  /** Interprets the script's exit code. Default: 0 is success. */
  end?(record: EndRecord, exitCode: number): RemoteEnd;
}

/** Changes into the folder in which a task runs. */
export const enterScript = (cwd: string): string => `cd ${shellWord(cwd)} || exit ${MISSING_FOLDER}\n`;

/** Ends the try if a program is missing. */
export const needScript = (program: string): string =>
  `(PATH=${DEFAULT_TASK_PATH}; command -v ${shellWord(program)}) >/dev/null || { echo ${shellWord(`${program} is not installed`)} >&2; exit ${MISSING_PROGRAM}; }\n`;

/** Runs a program as the last command of a try. `last`: an argument that the node's shell expands. */
export const runScript = (words: readonly [string, ...string[]], last = ''): string =>
  `${needScript(words[0])}clean ${words.map(shellWord).join(' ')} ${last}\n`;
