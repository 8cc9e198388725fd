import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { given } from '../../core/data/given.ts';
import { deleteFolder, unlessUnreadable } from '../../platform/files/durable-file.ts';
import { readBootId } from '../../platform/processes/process-identity.ts';
import { type Execution, executionMark } from '../journal/execution.ts';
import { type CancelRequest, Journal, type Progress } from '../journal/journal.ts';
import { NodeLock } from '../journal/node-lock.ts';
import { foldersBelow } from '../journal/open-executions.ts';
import {
  describeFailure,
  isFinal,
  type KillRecord,
  outcomeOf,
  type TaskFailure,
  type TaskResult,
  type TryRecord,
} from '../journal/result.ts';
import { resultWithout, scratchFolder, settle } from '../journal/settle.ts';
import { watchFolder } from '../journal/watch-folder.ts';
import { CapturedOutput } from '../output/captured-output.ts';
import { scrubProgress, scrubResult } from '../output/scrub-result.ts';
import { trySeparator } from '../output/try-separator.ts';
import { systemFailure } from '../task-types/place-file.ts';
import type { Runnable, TaskContext, TryEnd } from '../task-types/task-runner.ts';
import { stoppedEnd } from '../task-types/task-runner.ts';
import { type Containment, contain, endAll, processesOf } from './containment.ts';
import { ownReaper } from './reaper.ts';
import type { SupervisorMessage } from './supervisor-message.ts';
import { runCommand } from './task-process.ts';

type StopCause =
  | { readonly kind: 'cancel'; readonly request: CancelRequest }
  | { readonly kind: 'timeout'; readonly seconds: number }
  | { readonly kind: 'terminated' };

/** Longest delay of a timer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** How long a runner may take to notice that its processes have ended, before it is abandoned. */
const NOTICE_MS = 5000;
/** How often to poll for a cancellation, for file systems without notifications. */
const POLL_MS = 1000;
/** How often to try to write the result: five minutes. */
const MAX_WRITES = 300;

const NEVER_ENDED: TryEnd = { failure: { kind: 'signal', signal: 'SIGKILL' }, changed: null, signal: 'SIGKILL' };

/** A change by one try counts even if a later try has nothing to do. */
const eitherChanged = (one: boolean | null, other: boolean | null): boolean | null =>
  one === true || other === true ? true : one === null || other === null ? null : false;

const timerMs = (seconds: number): number => Math.min(seconds * 1000, LONGEST_TIMER_MS);

function failureOf(cause: StopCause): TaskFailure {
  switch (cause.kind) {
    case 'cancel':
      return {
        kind: 'cancelled',
        reason: cause.request.reason,
        ...given({ by: cause.request.by }),
      };
    case 'timeout':
      return { kind: 'timeout', seconds: cause.seconds };
    case 'terminated':
      return { kind: 'interrupted', cause: 'supervisor-stopped' };
  }
}

/** A later attempt of the same task that a process has claimed; undefined if there is none. */
const newerAttempt = (folder: string): number | undefined =>
  foldersBelow(dirname(folder))
    .map((other) => ({ other, number: Number(basename(other)) }))
    .find(({ other, number }) => number > Number(basename(folder)) && new Journal(other).isClaimed())?.number;

/** Runs one claimed execution, from the node's lock to its result. */
export class Supervision {
  readonly #order: SupervisorMessage;
  readonly #journal: Journal;
  readonly #execution: Execution;
  readonly #task: Runnable;
  readonly #output: CapturedOutput;
  readonly #secrets: readonly string[];
  readonly #mark: string;
  readonly #bootId: string;
  readonly #scratch: string;
  #containment: Containment | undefined;
  #progress: Progress = { phase: 'waiting', sessions: [], tries: [] };
  /** The reason that ends the whole execution; only the first counts. */
  #cause: StopCause | undefined;
  readonly #stop = new AbortController();
  #killing: Promise<KillRecord> | undefined;
  #killed: KillRecord | null = null;

  constructor(order: SupervisorMessage, journal: Journal, execution: Execution, task: Runnable) {
    this.#order = order;
    this.#journal = journal;
    this.#execution = execution;
    this.#task = task;
    this.#secrets = Object.values(order.secrets);
    this.#output = new CapturedOutput(order.folder, execution.outputLimitBytes, this.#secrets);
    this.#mark = executionMark(order.folder);
    this.#bootId = readBootId(order.machine.bootIdPath);
    this.#scratch = scratchFolder(order.machine, order.folder);
  }

  /** Runs the task and writes its result. */
  async run(): Promise<void> {
    const look = () => {
      const request = this.#journal.readCancel();
      if (request !== undefined) this.#end({ kind: 'cancel', request });
    };
    const watcher = watchFolder(this.#order.folder, look);
    const looking = setInterval(look, POLL_MS);
    const terminate = () => this.#end({ kind: 'terminated' });
    process.on('SIGTERM', terminate);
    look();
    this.#record({});
    try {
      await this.#serially();
    } catch (error) {
      const failure = this.#failureOf(error);
      await this.#write(resultWithout(this.#journal, this.#bootId, failure));
    } finally {
      watcher.close();
      clearInterval(looking);
      process.off('SIGTERM', terminate);
    }
  }

  async #serially(): Promise<void> {
    const { lockFile, lockWaitSec, machine, folder } = this.#order;
    const answer = await NodeLock.acquire(lockFile, lockWaitSec, this.#stop.signal);
    if (answer.kind !== 'held') {
      const failure: TaskFailure =
        answer.kind === 'given-up'
          ? failureOf(this.#cause!)
          : answer.kind === 'busy'
            ? { kind: 'busy', holder: answer.holder }
            : { kind: 'missing-program', program: answer.program };
      await this.#write(resultWithout(this.#journal, this.#bootId, failure));
      return;
    }
    // Its claim may have become unreadable while it waited: then it was given up.
    if (unlessUnreadable(() => this.#journal.readResult()) !== undefined) return;
    const newer = newerAttempt(folder);
    if (newer !== undefined) {
      // An agent had the order of this attempt for so long that its run went on without it.
      const failure: TaskFailure = { kind: 'cancelled', reason: `attempt ${newer} of the task has begun` };
      await this.#write(resultWithout(this.#journal, this.#bootId, failure, { changed: false }));
      answer.lock.release();
      return;
    }
    const last = answer.lock.lastHolder();
    // Processes of a killed supervisor must not run in parallel with this task.
    if (last !== '' && last !== folder) await settle(last, machine);
    answer.lock.sign(folder);
    this.#containment = contain(machine.cgroupRoot, this.#mark, [], ownReaper());
    await this.#work(new Date().toISOString());
    this.#containment.close();
    answer.lock.release();
  }

  async #work(startedAt: string): Promise<void> {
    const { limits } = this.#task;
    const overall = [
      ...(limits.timeoutCovers === 'all-tries' ? [limits.timeoutSec] : []),
      ...(this.#execution.deadlineSec === undefined ? [] : [this.#execution.deadlineSec]),
    ];
    const seconds = Math.min(...overall, Number.POSITIVE_INFINITY);
    let deadline: NodeJS.Timeout | undefined;
    if (seconds !== Number.POSITIVE_INFINITY) {
      deadline = setTimeout(() => this.#end({ kind: 'timeout', seconds }), timerMs(seconds));
      this.#record({ deadlineAt: new Date(Date.now() + timerMs(seconds)).toISOString() });
    }
    this.#record({ startedAt });
    let end: TryEnd;
    try {
      this.#makeScratch();
      end = await this.#tries();
    } catch (error) {
      end = { failure: this.#failureOf(error), changed: null };
    }
    clearTimeout(deadline);
    await this.#finish(end, startedAt);
  }

  #failureOf(error: unknown): TaskFailure {
    const { code, path } = error as NodeJS.ErrnoException;
    return code === undefined
      ? { kind: 'defect', message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
      : systemFailure(path ?? this.#order.folder, error);
  }

  #makeScratch(): void {
    mkdirSync(join(this.#scratch, 'secrets'), { recursive: true, mode: 0o700 });
    for (const { name, ref, as } of this.#execution.secrets ?? [])
      if (as === 'file') writeFileSync(join(this.#scratch, 'secrets', name), this.#secret(ref), { mode: 0o600 });
  }

  async #tries(): Promise<TryEnd> {
    const { limits } = this.#task;
    const most = this.#execution.singleTry === true ? 1 : limits.retries + 1;
    let changed: boolean | null = false;
    for (let number = 1; ; number += 1) {
      if (this.#cause !== undefined) return { failure: failureOf(this.#cause), changed };
      if (number > 1) {
        const before = this.#progress.tries.at(-1)!.message;
        // Not into the standard output, which is the task's alone.
        this.#output.write('stderr', Buffer.from(trySeparator(number, most, before)));
      }
      const end = await this.#oneTry(number);
      changed = eitherChanged(changed, end.changed);
      const over = end.failure === null || isFinal(end.failure) || this.#cause !== undefined || number >= most;
      if (over) return { ...end, changed };
      this.#record({ phase: 'pausing' });
      await this.#pause(limits.intervalSec * 1000, this.#stop.signal);
    }
  }

  async #oneTry(number: number): Promise<TryEnd> {
    const { limits } = this.#task;
    const startedAt = new Date().toISOString();
    const own = new AbortController();
    const stop = AbortSignal.any([this.#stop.signal, own.signal]);
    let tooLong = false;
    const timer =
      limits.timeoutCovers === 'each-try'
        ? setTimeout(() => {
            tooLong = true;
            own.abort();
            this.#killAll('timeout');
          }, timerMs(limits.timeoutSec))
        : undefined;
    const tryFolder = join(this.#order.folder, `try-${number}`);
    mkdirSync(tryFolder, { recursive: true, mode: 0o700 });
    this.#record({ phase: 'running' });

    const abandoned = new Promise<TryEnd>((resolve) => {
      stop.addEventListener('abort', () => {
        const killed = this.#killing ?? Promise.resolve();
        void killed.then(() => delay(NOTICE_MS)).then(() => resolve(NEVER_ENDED));
      });
    });
    const ended = await Promise.race([this.#task.run(this.#context(tryFolder, stop)), abandoned]);
    clearTimeout(timer);
    this.#output.flush();
    const end = this.#verdict(ended, tooLong, await this.#killing);
    const record: TryRecord = {
      number,
      startedAt,
      endedAt: new Date().toISOString(),
      outcome: end.failure === null ? 'success' : outcomeOf(end.failure),
      exitCode: end.exitCode ?? null,
      message: end.failure === null ? 'done' : describeFailure(end.failure).slice(0, 300),
    };
    this.#record({ tries: [...this.#progress.tries.slice(-49), record] });
    return end;
  }

  #verdict(end: TryEnd, tooLong: boolean, killed: KillRecord | undefined): TryEnd {
    const stopped: StopCause | undefined =
      this.#cause ?? (tooLong ? { kind: 'timeout', seconds: this.#task.limits.timeoutSec } : undefined);
    return stopped === undefined ? end : stoppedEnd(end, failureOf(stopped), killed?.found ?? 0);
  }

  async #finish(end: TryEnd, startedAt: string): Promise<void> {
    this.#record({ phase: 'ending' });
    const containment = this.#containment!;
    this.#killed = (await this.#killing) ?? null;
    // Ended by a foreign signal: its children have lost their parent but may still be running.
    if (end.failure?.kind === 'signal') this.#killed = await endAll(containment, 0, 'signal');
    if (this.#cause?.kind === 'terminated' && this.#progress.rebootFrom !== undefined) return;
    const { stdout, stderr } = this.#output.end();
    deleteFolder(this.#scratch);
    const outcome = end.failure === null ? 'success' : outcomeOf(end.failure);
    await this.#write(
      resultWithout(this.#journal, this.#bootId, end.failure, {
        outcome,
        changed: end.changed,
        exitCode: end.exitCode ?? null,
        signal: end.signal ?? null,
        startedAt,
        tries: this.#progress.tries,
        killed: this.#killed,
        leftRunning: (await processesOf(containment)).length,
        summary: end.summary ?? {},
        output: { stdout, stderr },
      }),
    );
  }

  /** Waits for space on a full disk: the result is the only proof of the work. */
  async #write(result: TaskResult): Promise<void> {
    const scrubbed = scrubResult(result, this.#secrets);
    for (let tries = 1; ; tries += 1) {
      try {
        this.#journal.writeResult(scrubbed);
        return;
      } catch (error) {
        if (tries === MAX_WRITES) throw error;
      }
      await delay(POLL_MS);
    }
  }

  #end(cause: StopCause): void {
    if (this.#cause !== undefined) return;
    this.#cause = cause;
    // Kill first: listeners of the stop may wait for it.
    this.#killAll(cause.kind === 'timeout' ? 'timeout' : cause.kind === 'cancel' ? 'cancel' : 'interrupted');
    this.#stop.abort();
  }

  #killAll(cause: KillRecord['cause']): void {
    if (this.#containment === undefined) return;
    const graceSec = this.#execution.killGraceSec ?? this.#task.limits.killGraceSec;
    const before = this.#killing ?? Promise.resolve();
    this.#killing = before.then(() => endAll(this.#containment!, graceSec * 1000, cause));
  }

  #record(change: Partial<Progress>): boolean {
    this.#progress = { ...this.#progress, ...change };
    return this.#journal.writeProgress(scrubProgress(this.#progress, this.#secrets));
  }

  #secret(ref: string): string {
    const value = this.#order.secrets[ref];
    if (value === undefined) throw new Error(`no value was passed for the secret ${ref}`);
    return value;
  }

  async #pause(ms: number, stop: AbortSignal): Promise<void> {
    await delay(ms, undefined, { signal: stop }).catch(() => undefined);
  }

  #environment(): Record<string, string> {
    const uses = this.#execution.secrets ?? [];
    if (uses.length === 0) return {};
    const variables = uses.filter(({ as }) => as === 'environment').map(({ name, ref }) => [name, this.#secret(ref)]);
    return { ...Object.fromEntries(variables), SITEWRIGHT_SECRETS: join(this.#scratch, 'secrets') };
  }

  #context(tryFolder: string, stop: AbortSignal): TaskContext {
    const { machine } = this.#order;
    return {
      execution: this.#execution,
      noop: this.#execution.mode === 'noop',
      tryFolder,
      scratchFolder: this.#scratch,
      pathRoots: this.#order.pathRoots,
      rebootCommand: this.#order.rebootCommand,
      stop,
      run: async (command) => {
        // Nothing new may start between the stop and the kill.
        if (stop.aborted) return { kind: 'signal', signal: 'SIGTERM' };
        return await runCommand(
          { ...command, environment: { ...this.#environment(), ...command.environment } },
          {
            path: this.#order.taskPath,
            mark: this.#mark,
            containment: this.#containment!,
            sink: this.#output,
            started: (pid) => void this.#record({ sessions: [...this.#progress.sessions, pid] }),
          },
        );
      },
      print: (line) => this.#output.write('stdout', Buffer.from(`${line}\n`)),
      secret: (ref) => this.#secret(ref),
      source: (path) => {
        const found = this.#order.sources[path];
        if (found === undefined) return { kind: 'io', path, code: 'ENOENT' };
        return 'base64' in found ? Buffer.from(found.base64, 'base64') : found.failure;
      },
      contentFolder: this.#order.contentFolder,
      pause: (ms) => this.#pause(ms, stop),
      readBootId: () => readBootId(machine.bootIdPath),
      armReboot: (bootId) => {
        if (!this.#record({ rebootFrom: bootId })) throw new Error('the reboot cannot be recorded in the journal');
      },
    };
  }
}
