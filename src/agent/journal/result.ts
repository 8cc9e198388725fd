import type { TaskEnd, TaskOutcome } from '../../core/graph-run/task-end.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';

/** The exhausted resource. */
type SpaceLimit =
  | { readonly of: 'disk' | 'files' | 'quota' }
  /** Less is free than an agent keeps for the journal and the output of a task. Bytes. */
  | { readonly of: 'reserve'; readonly free: number; readonly needed: number };

/** Why a task did not succeed. A new reason is a new variant. */
export type TaskFailure =
  | { readonly kind: 'exit'; readonly exitCode: number }
  | { readonly kind: 'signal'; readonly signal: string }
  /** It was asked to end when its time was up. `exitCode`: with which it then ended by itself. */
  | { readonly kind: 'timeout'; readonly seconds: number; readonly exitCode?: number }
  | { readonly kind: 'cancelled'; readonly reason: string; readonly by?: string }
  /** The supervisor or the machine stopped before the task ended. The caller must know whether it may run again. */
  | { readonly kind: 'interrupted'; readonly cause: 'reboot' | 'supervisor-lost' | 'supervisor-stopped' }
  | { readonly kind: 'refused'; readonly problems: readonly Diagnostic[] }
  /** Files of its journal are unreadable, so no one knows how it ended. `execution` is RUN/TASK/GENERATION. */
  | { readonly kind: 'journal'; readonly execution: string; readonly damage: string }
  /** Another execution (`holder`: its folder) or another program occupied the node for too long. */
  | { readonly kind: 'busy'; readonly holder: string }
  | { readonly kind: 'no-space'; readonly path: string; readonly limit: SpaceLimit }
  | { readonly kind: 'missing-program'; readonly program: string }
  | { readonly kind: 'refused-path'; readonly path: string; readonly rule: string }
  | { readonly kind: 'io'; readonly path: string; readonly code: string }
  /** The files that could not be placed, each with its reason; the other files were placed. */
  | { readonly kind: 'files'; readonly files: readonly { readonly path: string; readonly reason: string }[] }
  /** puppet's exit code and its summary contradict each other, or the summary is missing or old. */
  | { readonly kind: 'puppet-summary'; readonly reason: string }
  | { readonly kind: 'not-rebooted'; readonly fired: number }
  | { readonly kind: 'defect'; readonly message: string };

/** One try of an execution; a retry adds another. */
export interface TryRecord {
  /** From 1. */
  readonly number: number;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly outcome: TaskOutcome;
  readonly exitCode: number | null;
  readonly message: string;
}

export interface OutputRecord {
  /** Bytes the task wrote. */
  readonly bytes: number;
  /** Of these, bytes that were not stored: over the limit, or the disk was full. */
  readonly dropped: number;
  /** The end of the output as text, at most 4,000 characters. */
  readonly tail: string;
  /** It contains NUL or invalid UTF-8. */
  readonly binary: boolean;
}

/** How the processes of a cancelled, timed out or interrupted task were ended. */
export interface KillRecord {
  readonly cause: 'timeout' | 'cancel' | 'interrupted' | 'signal';
  /** The strongest signal that was needed. */
  readonly signal: 'SIGTERM' | 'SIGKILL' | null;
  readonly means: 'cgroup' | 'process-walk';
  /** Number of processes found, and of those that survived. */
  readonly found: number;
  readonly survivors: number;
}

/** Result of an execution. Under 64 KiB as JSON, without secrets. */
export interface TaskResult {
  readonly v: 1;
  readonly outcome: TaskOutcome;
  readonly failure: TaskFailure | null;
  /** One sentence for a person. */
  readonly message: string;
  /** Whether the node was changed; null if unknown. */
  readonly changed: boolean | null;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly bootId: string;
  readonly tries: readonly TryRecord[];
  readonly killed: KillRecord | null;
  /** Number of processes that the task left running on purpose (daemons). They are not killed. */
  readonly leftRunning: number;
  /** Details by task type, e.g. puppet's counts and names. */
  readonly summary: Readonly<Record<string, unknown>>;
  readonly output: { readonly stdout: OutputRecord; readonly stderr: OutputRecord };
}

export function outcomeOf(failure: TaskFailure): TaskOutcome {
  switch (failure.kind) {
    case 'cancelled':
      return 'cancelled';
    case 'refused':
      return 'refused';
    case 'journal':
      return 'lost';
    default:
      return 'failed';
  }
}

/** The kind of a failure, where the outcome alone does not name it. */
export const failureKindOf = (failure: TaskFailure | null): TaskEnd['failure_kind'] =>
  failure === null || failure.kind === 'cancelled' || failure.kind === 'refused' || failure.kind === 'journal'
    ? undefined
    : failure.kind;

/** Whether a retry would fail the same way. */
export function isFinal(failure: TaskFailure): boolean {
  return ['cancelled', 'interrupted', 'refused', 'missing-program', 'refused-path', 'not-rebooted'].includes(
    failure.kind,
  );
}

export function describeFailure(failure: TaskFailure): string {
  switch (failure.kind) {
    case 'exit':
      return `ended with exit code ${failure.exitCode}`;
    case 'signal':
      return `was ended by ${failure.signal}`;
    case 'timeout':
      return failure.exitCode === undefined
        ? `did not end within ${failure.seconds} s; its processes were killed`
        : `did not end within ${failure.seconds} s; told to end, it ended with exit code ${failure.exitCode}`;
    case 'cancelled':
      return `was cancelled${failure.by === undefined ? '' : ` by ${failure.by}`}: ${failure.reason}`;
    case 'interrupted':
      return {
        reboot: 'the machine was restarted while it ran',
        'supervisor-lost': 'its supervisor was killed; the processes it had started were killed too',
        'supervisor-stopped': 'the machine was shutting down',
      }[failure.cause];
    case 'refused':
      return `was not run: ${failure.problems.map((p) => `${p.path === undefined ? '' : `${p.path}: `}${p.message}`).join('; ')}`;
    case 'journal':
      return `its outcome is unknown, because the journal of ${failure.execution} on the node is damaged (${failure.damage}); the unreadable part is set aside there`;
    case 'busy':
      return `was not run: the node was still busy with ${failure.holder}`;
    case 'no-space':
      return describeSpace(failure.path, failure.limit);
    case 'missing-program':
      return `${failure.program} is not installed on this node, or not in PATH`;
    case 'refused-path':
      return `${failure.path} is refused: ${failure.rule}`;
    case 'io':
      return `${failure.path}: ${failure.code}`;
    case 'files':
      return failure.files.map((file) => `${file.path}: ${file.reason}`).join('; ');
    case 'puppet-summary':
      return `puppet's summary cannot be trusted: ${failure.reason}`;
    case 'not-rebooted':
      return `the boot id stayed the same after ${failure.fired} reboot command(s)`;
    case 'defect':
      return `the agent has a defect: ${failure.message}`;
  }
}

function describeSpace(path: string, limit: SpaceLimit): string {
  switch (limit.of) {
    case 'disk':
      return `no space is left on the disk of ${path}`;
    case 'files':
      return `no more files fit on the disk of ${path}: its inodes are used up`;
    case 'quota':
      return `the quota of the agent's user on the disk of ${path} is used up`;
    case 'reserve':
      return `was not run: the disk of ${path} has ${mebibytes(limit.free)} free; a task needs ${mebibytes(limit.needed)} for its journal and output`;
  }
}

const mebibytes = (bytes: number): string => `${Math.floor(bytes / 1_048_576)} MiB`;
