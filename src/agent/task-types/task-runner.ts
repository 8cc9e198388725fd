import type { Prepared, Reading, TaskType } from '../../core/task-types/index.ts';
import type { Execution } from '../journal/execution.ts';
import type { TaskFailure } from '../journal/result.ts';
import type { Command, CommandEnd } from '../supervision/task-process.ts';

/** How one try ended. */
export interface TryEnd {
  readonly failure: TaskFailure | null;
  readonly changed: boolean | null;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly summary?: Readonly<Record<string, unknown>>;
}

/** The operations of the machine for a task runner. */
export interface TaskContext {
  readonly execution: Execution;
  readonly noop: boolean;
  /** Folder of this try, on disk; kept with the journal. */
  readonly tryFolder: string;
  /** Folder in memory (tmpfs if there is one), mode 0700; removed when the task ends. */
  readonly scratchFolder: string;
  /** Folders below which files may be placed. */
  readonly pathRoots: readonly string[];
  readonly rebootCommand: readonly [string, ...string[]];
  /** Aborted when the task is cancelled or times out; the supervisor kills its processes. */
  readonly stop: AbortSignal;
  run(command: Command): Promise<CommandEnd>;
  /** Adds a line to the task's stdout. */
  print(line: string): void;
  /** The value of a secret reference of this execution. */
  secret(ref: string): string;
  /** The fetched content of a source file, or why it could not be read. */
  source(path: string): Buffer | TaskFailure;
  /** Fetched content of folders, by hash (`fetchFolder`). */
  readonly contentFolder: string;
  /** Returns early, without an error, when the task is stopped. */
  pause(ms: number): Promise<void>;
  readBootId(): string;
  /** Records durably that the machine is about to restart on purpose. */
  armReboot(bootId: string): void;
}

/** How tasks of a type are carried out on their node. */
interface Work<P> {
  run(parameters: P, context: TaskContext): Promise<TryEnd>;
}

/** A task whose parameters have been read; it can run if there are no problems. */
export interface Runnable extends Omit<Prepared<unknown>, 'parameters'> {
  readonly type: TaskType;
  run(context: TaskContext): Promise<TryEnd>;
}

/** A task type with the code that carries it out. */
export interface TaskRunner {
  readonly type: TaskType;
  read(given: Readonly<Record<string, unknown>>, reading: Reading): Runnable;
}

export const runner = <P>(type: TaskType<P>, { run }: Work<P>): TaskRunner => ({
  type,
  read: (given, reading) => {
    const { parameters, ...prepared } = type.prepare(given, reading);
    return {
      ...prepared,
      type,
      run: (context) => run(parameters, context),
    };
  },
});

/** Converts the end of a command to the end of a try: exit code 0 is success. */
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

/**
 * How a try ended that was to be stopped: its time was up, or someone had cancelled it.
 *
 * What ended before anything of it was told to end has ended as its exit code says, also in the moment of its limit. What was told to
 * end has not succeeded, also with exit code 0: whether a program ends so because its work is done or because it heeds SIGTERM,
 * no one can tell, and the tasks that follow would build on it.
 *
 * @param cause why it was stopped
 * @param told processes that were told to end
 */
export function stoppedEnd(end: TryEnd, cause: TaskFailure, told: number): TryEnd {
  const endedItself = end.failure === null || (end.failure.kind === 'exit' && cause.kind === 'timeout');
  if (told === 0 && endedItself) return end;
  const hasCode = cause.kind === 'timeout' && end.exitCode !== undefined;
  return {
    ...end,
    failure: hasCode ? { ...cause, exitCode: end.exitCode } : cause,
    changed: end.changed === false ? false : null,
  };
}
