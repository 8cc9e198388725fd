import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isMapping } from '../../core/data/plain-value.ts';
import {
  createDurably,
  readJson,
  replaceDurably,
  setAside,
  syncFolder,
  UnreadableFile,
  unlessUnreadable,
} from '../../platform/files/durable-file.ts';
import type { ProcessIdentity, ProcessMoment } from '../../platform/processes/process-identity.ts';
import { type Execution, isExecution, stableJson } from './execution.ts';
import type { TaskResult, TryRecord } from './result.ts';

/** State of an execution between its claim and its end. */
export interface Progress {
  readonly phase: 'waiting' | 'running' | 'pausing' | 'ending';
  readonly startedAt?: string;
  /** The deadline by the wall clock, for display; the supervisor enforces it by the monotonic clock. */
  readonly deadlineAt?: string;
  /** Sessions in which the task's processes were started. */
  readonly sessions: readonly number[];
  readonly tries: readonly TryRecord[];
  /** Set before a reboot is requested: the boot id that must change. */
  readonly rebootFrom?: string;
}

/** Who runs an execution. */
interface Claim extends ProcessIdentity {
  /** The process that adopts its orphans. */
  readonly reaper?: ProcessMoment;
}

export interface CancelRequest {
  readonly reason: string;
  readonly by?: string;
  readonly at: string;
}

/** Parent folders of an execution's, from its task's to the one that the state folder is in: `executionFolder`. */
const FOLDERS_ABOVE = 7;

/** Disk space reserved so that the result of a task can be written even if the task has filled the disk. */
const RESERVE_BYTES = 128 * 1024;

const isText = (value: unknown): value is string => typeof value === 'string';
const isMoment = (value: unknown): boolean =>
  isMapping(value) && Number.isSafeInteger(value.pid) && isText(value.startTime);
const isOutput = (value: unknown): boolean => isMapping(value) && typeof value.bytes === 'number';

const isClaim = (value: unknown): value is Claim =>
  isMapping(value) && isMoment(value) && isText(value.bootId) && (value.reaper === undefined || isMoment(value.reaper));
const isProgress = (value: unknown): value is Progress =>
  isMapping(value) && isText(value.phase) && Array.isArray(value.sessions) && Array.isArray(value.tries);
const isCancelRequest = (value: unknown): value is CancelRequest => isMapping(value) && isText(value.reason);
const isResult = (value: unknown): value is TaskResult =>
  isMapping(value) &&
  [value.outcome, value.message, value.startedAt, value.endedAt].every(isText) &&
  (value.failure === null || isMapping(value.failure)) &&
  Array.isArray(value.tries) &&
  isMapping(value.summary) &&
  isMapping(value.output) &&
  [value.output.stdout, value.output.stderr].every(isOutput);

/**
 * The folder of one execution. Each file is written whole and synced: `execution.json` (the intent), `claim.json` (the
 * process that runs it; created once, so it runs once), `progress.json`, `cancel.json`, `exit.json` (the only result).
 * The output files are in the same folder. Reading intent, claim and result throws `UnreadableFile`; `settle` and the
 * agent then report the outcome as unknown. The others are only details.
 */
export class Journal {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  #path(name: string): string {
    return join(this.folder, name);
  }

  /**
   * Creates the folder and its parents durably, up to the state folder's own name: they survive a power cut. Syncs those that
   * are there, too: whoever made them may have died before.
   */
  create(): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    for (let at = this.folder, depth = 0; depth < FOLDERS_ABOVE; depth += 1) {
      at = dirname(at);
      syncFolder(at);
    }
  }

  /** Keeps the intent that is there, if it is readable. */
  writeExecution(execution: Execution): void {
    const file = this.#path('execution.json');
    if (createDurably(file, stableJson(execution)) || unlessUnreadable(() => this.readExecution()) !== undefined)
      return;
    setAside(file);
    createDurably(file, stableJson(execution));
  }

  readExecution(): Execution | undefined {
    return readJson(this.#path('execution.json'), isExecution);
  }

  /** False if another process has claimed it: do not run it then. */
  claim(identity: Claim): boolean {
    this.#reserve();
    return createDurably(this.#path('claim.json'), JSON.stringify(identity));
  }

  /** Whether a process has claimed it, be its claim readable or not. */
  isClaimed(): boolean {
    return existsSync(this.#path('claim.json'));
  }

  readClaim(): Claim | undefined {
    return readJson(this.#path('claim.json'), isClaim);
  }

  /** False if it could not be written: a lost display line must not end a task. */
  writeProgress(progress: Progress): boolean {
    try {
      replaceDurably(this.#path('progress.json'), JSON.stringify(progress));
      return true;
    } catch {
      return false;
    }
  }

  readProgress(): Progress | undefined {
    return unlessUnreadable(() => readJson(this.#path('progress.json'), isProgress));
  }

  /** The first request counts. */
  requestCancel(request: CancelRequest): boolean {
    const write = () => createDurably(this.#path('cancel.json'), JSON.stringify(request));
    try {
      return write();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      this.#release();
      return write();
    }
  }

  readCancel(): CancelRequest | undefined {
    try {
      return readJson(this.#path('cancel.json'), isCancelRequest);
    } catch (error) {
      if (!(error instanceof UnreadableFile)) throw error;
      // Only a request creates the file.
      return { reason: `the request for it is unreadable: ${error.why}`, at: new Date().toISOString() };
    }
  }

  /** Only the first readable result is kept; false if there was one. */
  writeResult(result: TaskResult): boolean {
    this.#release();
    const write = () => createDurably(this.#path('exit.json'), JSON.stringify(result));
    if (write()) return true;
    if (unlessUnreadable(() => this.readResult()) !== undefined) return false;
    setAside(this.#path('exit.json'));
    return write();
  }

  readResult(): TaskResult | undefined {
    return readJson(this.#path('exit.json'), isResult);
  }

  /** Whether no process has claimed it or ended it. @throws UnreadableFile if one may have */
  isFresh(): boolean {
    return this.readResult() === undefined && this.readClaim() === undefined;
  }

  /** Again, if a full disk has cut it short. */
  #reserve(): void {
    if (statSync(this.#path('reserve'), { throwIfNoEntry: false })?.size === RESERVE_BYTES) return;
    this.#release();
    writeFileSync(this.#path('reserve'), Buffer.alloc(RESERVE_BYTES), { mode: 0o600 });
  }

  /** Gives the reserved space back to the disk. */
  #release(): void {
    rmSync(this.#path('reserve'), { recursive: true, force: true });
  }
}
