import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createDurably, readJson, replaceDurably, syncFolder } from '../platform/files/durable-file.js';
import { type Execution, stableJson } from './execution.js';
import type { ProcessIdentity, ProcessMoment } from './process-identity.js';
import type { TaskResult, TryRecord } from './result.js';

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
export interface Claim extends ProcessIdentity {
  /** The process that adopts its orphans. */
  readonly reaper?: ProcessMoment;
}

export interface CancelRequest {
  readonly reason: string;
  readonly by?: string;
  readonly at: string;
}

/** Disk space reserved so that the result of a task can be written even if the task has filled the disk. */
const RESERVE_BYTES = 128 * 1024;

/**
 * The folder of one execution. Each file is written whole and synced: `execution.json` (the intent), `claim.json` (the
 * process that runs it; created once, so it runs once), `progress.json`, `cancel.json`, `exit.json` (the only result).
 * The output files are in the same folder.
 */
export class Journal {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  #path(name: string): string {
    return join(this.folder, name);
  }

  /** Creates the folder and its parents durably: they survive a power cut. */
  create(): void {
    if (existsSync(this.folder)) return;
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    for (let at = this.folder, depth = 0; depth < 6; depth += 1) {
      at = dirname(at);
      syncFolder(at);
    }
  }

  /** False if there is already an intent. */
  writeExecution(execution: Execution): boolean {
    return createDurably(this.#path('execution.json'), stableJson(execution));
  }

  readExecution(): Execution | undefined {
    return readJson<Execution>(this.#path('execution.json'));
  }

  /** False if another process has claimed it: do not run it then. */
  claim(identity: Claim): boolean {
    if (!existsSync(this.#path('reserve')))
      writeFileSync(this.#path('reserve'), Buffer.alloc(RESERVE_BYTES), { mode: 0o600 });
    return createDurably(this.#path('claim.json'), JSON.stringify(identity));
  }

  readClaim(): Claim | undefined {
    return readJson<Claim>(this.#path('claim.json'));
  }

  /** Keeps the old record if the disk is full: a lost display line must not end a task. */
  writeProgress(progress: Progress): void {
    try {
      replaceDurably(this.#path('progress.json'), JSON.stringify(progress));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }

  readProgress(): Progress | undefined {
    return readJson<Progress>(this.#path('progress.json'));
  }

  /** The first request counts. */
  requestCancel(request: CancelRequest): boolean {
    return createDurably(this.#path('cancel.json'), JSON.stringify(request));
  }

  readCancel(): CancelRequest | undefined {
    return readJson<CancelRequest>(this.#path('cancel.json'));
  }

  /** Only the first result is kept; false if there was one. */
  writeResult(result: TaskResult): boolean {
    rmSync(this.#path('reserve'), { force: true });
    return createDurably(this.#path('exit.json'), JSON.stringify(result));
  }

  readResult(): TaskResult | undefined {
    return readJson<TaskResult>(this.#path('exit.json'));
  }
}
