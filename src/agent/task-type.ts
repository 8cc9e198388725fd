import type { Execution } from './execution.js';
import type { ParameterReader } from './parameters.js';
import type { TaskFailure } from './result.js';

/** Limits of a task, from its parameters. */
export interface TaskLimits {
  readonly timeoutSec: number;
  /** Whether the timeout covers all tries together, or each. */
  readonly timeoutCovers: 'all-tries' | 'each-try';
  /** Further tries after a failed one. */
  readonly retries: number;
  /** Seconds between tries. */
  readonly intervalSec: number;
  /** Seconds between TERM and KILL when it is cancelled or times out. */
  readonly killGraceSec: number;
}

/** Content a task needs and does not carry: fetched by the agent before the task starts. */
export type TaskInput =
  | { readonly kind: 'secret'; readonly ref: string }
  /** A file of the machine that holds the sources (`copy_files`). */
  | { readonly kind: 'source'; readonly path: string };

/** A program to run. Never a shell line: each argument is one operand as it stands. */
export interface Command {
  readonly argv: readonly [string, ...string[]];
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Sees what the program prints to stdout, chunk by chunk, beside the output files. */
  readonly onStdout?: (chunk: Buffer) => void;
}

export type CommandEnd =
  | { readonly kind: 'exit'; readonly exitCode: number }
  | { readonly kind: 'signal'; readonly signal: string }
  | { readonly kind: 'not-started'; readonly failure: TaskFailure };

/** How one try ended. */
export interface TryEnd {
  readonly failure: TaskFailure | null;
  readonly changed: boolean | null;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly summary?: Readonly<Record<string, unknown>>;
  /** Nothing was to be done. */
  readonly skipped?: boolean;
}

/** What a task runner may use of the machine. */
export interface TaskContext {
  readonly execution: Execution;
  readonly noop: boolean;
  /** A folder of this try alone, on disk; stays with the journal. */
  readonly tryFolder: string;
  /** A folder in memory (tmpfs where there is one), mode 0700, gone when the task ends. */
  readonly scratchFolder: string;
  /** Where files may be placed. */
  readonly pathRoots: readonly string[];
  readonly rebootCommand: readonly [string, ...string[]];
  /** Aborted when the task is cancelled or out of time; its processes are killed by the supervisor. */
  readonly stop: AbortSignal;
  run(command: Command): Promise<CommandEnd>;
  /** Adds a line to the task's stdout. */
  print(line: string): void;
  /** The value of a secret reference of this execution. */
  secret(ref: string): string;
  /** The fetched content of a source file, or why there is none. */
  source(path: string): Buffer | TaskFailure;
  /** Ends early, without an error, when the task is stopped. */
  pause(ms: number): Promise<void>;
  readBootId(): string;
  /** Records durably that the machine is about to go down on purpose. */
  armReboot(bootId: string): void;
}

/** One type of task: parameters, limits, what it needs, what it does. */
export interface TaskType<P = unknown> {
  readonly name: string;
  /** Reads and checks the parameters; problems go to the reader. */
  read(parameters: ParameterReader, node: string): P;
  limits(parameters: P): TaskLimits;
  /** `skip`: in noop mode the runner is not even called. `simulate`: it is, and must change nothing. */
  readonly noop: 'skip' | 'simulate';
  /** Nothing to run at all: settled without a process. */
  readonly nothing?: true;
  inputs?(parameters: P): TaskInput[];
  run(parameters: P, context: TaskContext): Promise<TryEnd>;
}

/** The end of a command as the end of a try: exit code 0 is success. */
export function tryEndOf(end: CommandEnd, changed: boolean | null): TryEnd {
  switch (end.kind) {
    case 'not-started':
      return { failure: end.failure, changed: false };
    case 'signal':
      return { failure: { kind: 'signal', signal: end.signal }, changed, signal: end.signal };
    case 'exit':
      return {
        failure: end.exitCode === 0 ? null : { kind: 'exit', exitCode: end.exitCode },
        changed,
        exitCode: end.exitCode,
      };
  }
}
