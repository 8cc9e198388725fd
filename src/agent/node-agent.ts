import { existsSync, mkdirSync, statfsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { given } from '../core/data/given.ts';
import type { ExecutionKey } from '../core/task-on-node.ts';
import { type TaskInput, typesOver } from '../core/task-types/index.ts';
import { deleteFolder, unlessUnreadable } from '../platform/files/durable-file.ts';
import { fileErrorCode } from '../platform/files/file-errors.ts';
import { BOOT_ID_PATH, ownIdentity, readBootId } from '../platform/processes/process-identity.ts';
import {
  type Execution,
  executionFolder,
  executionIn,
  executionMark,
  isSameOrder,
  nodeFolder,
} from './journal/execution.ts';
import { type FollowEvent, follow, type OutputOffsets } from './journal/follow.ts';
import { Journal } from './journal/journal.ts';
import { executionFolders, foldersBelow } from './journal/open-executions.ts';
import type { TaskFailure, TaskResult } from './journal/result.ts';
import { type Machine, resultWithout, settle } from './journal/settle.ts';
import { ownCgroup } from './supervision/cgroup.ts';
import { contain, releaseContainment } from './supervision/containment.ts';
import { launchSupervisor, ownSupervisor } from './supervision/launch-supervisor.ts';
import { underReaper } from './supervision/reaper.ts';
import type { SupervisorMessage } from './supervision/supervisor-message.ts';
import { DEFAULT_TASK_PATH } from './supervision/task-process.ts';
import { fetchFolder } from './task-types/fetch-folder.ts';
import { DEFAULT_PATH_ROOTS } from './task-types/path-rules.ts';
import { PlacementError, systemFailure } from './task-types/place-file.ts';
import { prepareTask } from './task-types/prepare-task.ts';
import type { Runnable } from './task-types/task-runner.ts';

export interface NodeAgentOptions {
  /** The node's id, as executions name it. */
  readonly node: string;
  /** Folder that survives restarts, e.g. `/var/lib/sitewright`. Agents of other nodes may share it. */
  readonly stateDir: string;
  /** Resolves a secret reference. Without it, executions with secrets cannot start. */
  readonly resolveSecret?: (ref: string, key: ExecutionKey) => Promise<string>;
  /** Reads a source of `copy_files`. Default: a file on this machine. */
  readonly readSource?: (path: string, key: ExecutionKey) => Promise<Uint8Array>;
  /** Task types this node accepts. Default: all. */
  readonly allowedTypes?: readonly string[];
  /** Folders below which files may be placed. */
  readonly pathRoots?: readonly string[];
  /** Default `systemctl reboot`. */
  readonly rebootCommand?: readonly [string, ...string[]];
  /** Seconds to wait for another execution on this node before failing as busy. Default 60. */
  readonly lockWaitSec?: number;
  /** The PATH of tasks. */
  readonly taskPath?: string;
  /** Free bytes below which nothing new is accepted. Default 64 MiB. */
  readonly minFreeBytes?: number;
  /** The parent cgroup of tasks. Default: this process's own, if groups can be created in it. False: none. */
  readonly cgroupRoot?: string | false;
  /** Folder in memory. Default /dev/shm if it exists. */
  readonly scratchRoot?: string;
  readonly bootIdPath?: string;
  /** Command that starts a supervisor. Default: this Node.js with the program in this folder. */
  readonly supervisorCommand?: readonly [string, ...string[]];
}

/** Answer to `ensure`. A refusal leaves nothing behind, and the request may be repeated. */
export type EnsureAnswer =
  | { readonly kind: 'accepted'; readonly result: TaskResult | undefined }
  | { readonly kind: 'refused'; readonly failure: TaskFailure }
  /** The same key is already used for another execution. */
  | { readonly kind: 'conflict' };

export interface NodeFacts {
  readonly node: string;
  readonly bootId: string;
  readonly taskTypes: readonly string[];
  readonly containment: 'cgroup' | 'process-walk';
  /** Executions without a result. */
  readonly unfinished: readonly ExecutionKey[];
}

/** Executes tasks on one node of this machine, each exactly once. Its only state is the journal. */
export class NodeAgent {
  readonly #options: NodeAgentOptions;
  readonly #stateDir: string;
  readonly #machine: Machine;
  #triedMeans: NodeFacts['containment'] | undefined;

  constructor(options: NodeAgentOptions) {
    if (process.platform !== 'linux')
      throw new Error('A node agent needs Linux: it watches tasks through /proc. Run it on the node itself.');
    this.#options = options;
    this.#stateDir = resolve(options.stateDir);
    this.#machine = {
      bootIdPath: options.bootIdPath ?? BOOT_ID_PATH,
      cgroupRoot: options.cgroupRoot ?? ownCgroup() ?? false,
      scratchRoot: options.scratchRoot ?? (existsSync('/dev/shm') ? '/dev/shm' : tmpdir()),
    };
  }

  /**
   * Makes sure that the execution exists: starts it on the first call only. Returns when it is in the journal and
   * supervised, or has ended. Rejects only when a secret or a source is unavailable or no supervisor can be started:
   * retry then.
   */
  async ensure(execution: Execution): Promise<EnsureAnswer> {
    const prepared = prepareTask(execution);
    const otherNode = execution.node !== this.#options.node;
    if (otherNode || (!prepared.ok && prepared.problems.some(({ code }) => code === 'execution.invalid')))
      return { kind: 'refused', failure: this.#misdirected(execution, prepared.ok ? [] : prepared.problems) };
    const journal = this.#journal(execution);
    const before = unlessUnreadable(() => journal.readExecution());
    if (before === undefined) {
      const failure = this.#register(journal, execution);
      if (failure !== undefined) return { kind: 'refused', failure };
    }
    if (before !== undefined && !isSameOrder(before, execution)) return { kind: 'conflict' };
    if (unlessUnreadable(() => journal.isFresh()) === true) {
      const cancel = journal.readCancel();
      const early: [TaskFailure | null, Partial<TaskResult>] | undefined =
        cancel !== undefined
          ? [{ kind: 'cancelled', reason: cancel.reason, ...given({ by: cancel.by }) }, {}]
          : !prepared.ok
            ? [{ kind: 'refused', problems: prepared.problems }, {}]
            : this.#withoutRunning(execution, prepared.task);
      if (early !== undefined) this.#close(journal, early[0], early[1]);
      else if (prepared.ok) await this.#launch(journal, execution, prepared.task);
    }
    return { kind: 'accepted', result: await settle(journal.folder, this.#machine) };
  }

  /** An execution that this agent or an earlier one has ensured. */
  execution(key: ExecutionKey): Execution | undefined {
    return unlessUnreadable(() => this.#journal(key).readExecution());
  }

  hasStarted(key: ExecutionKey): boolean {
    return unlessUnreadable(() => this.#journal(key).isFresh()) !== true;
  }

  generations({ run, task, node }: Omit<ExecutionKey, 'generation'>): number[] {
    const { folder } = this.#journal({ run, task, node, generation: 1 });
    return foldersBelow(dirname(folder))
      .map((one) => Number(basename(one)))
      .filter((number) => Number.isSafeInteger(number) && number > 0)
      .sort((a, b) => b - a);
  }

  /** Follows an execution live, from the given offsets. It must have been ensured. */
  follow(key: ExecutionKey, from?: Partial<OutputOffsets>, stop?: AbortSignal): AsyncGenerator<FollowEvent> {
    return follow(this.#journal(key), this.#machine, { stdout: 0, stderr: 0, ...from }, stop);
  }

  /** Waits for the result of an execution that was ensured. */
  async result(key: ExecutionKey): Promise<TaskResult> {
    for await (const event of this.follow(key, {
      stdout: Number.MAX_SAFE_INTEGER,
      stderr: Number.MAX_SAFE_INTEGER,
    })) {
      if (event.kind === 'ended') return event.result;
    }
    throw new Error('The execution did not end while it was followed.');
  }

  /**
   * Requests the cancellation of an execution: its processes get TERM, then KILL. If it is not ensured yet, it never
   * starts. The first request counts; a request after the end has no effect.
   */
  cancel(key: ExecutionKey, reason: string, by?: string): void {
    const journal = this.#journal(key);
    journal.create();
    journal.requestCancel({ reason, at: new Date().toISOString(), ...given({ by }) });
  }

  /**
   * Ends executions that lost their supervisor, e.g. when the machine restarted. Call it when an agent starts.
   * @returns warnings for a person: executions whose outcome is unknown, folders that cannot be read
   */
  async recover(): Promise<string[]> {
    const found: string[] = [];
    for (const folder of this.#executionFolders()) {
      try {
        const result = await settle(folder, this.#machine);
        if (result !== undefined) releaseContainment(this.#machine.cgroupRoot, executionMark(folder));
        if (result?.failure?.kind === 'journal') found.push(result.message);
      } catch (error) {
        found.push(`the outcome of ${executionIn(folder)} is unknown: ${String(error)}`);
      }
    }
    return found;
  }

  /**
   * Deletes journal and output of all executions that ended before a moment. No one may request them any more: one that is
   * ensured again runs again.
   */
  forgetBefore(moment: Date): void {
    for (const folder of this.#executionFolders()) {
      const result = unlessUnreadable(() => new Journal(folder).readResult());
      if (result === undefined || Date.parse(result.endedAt) >= moment.getTime()) continue;
      releaseContainment(this.#machine.cgroupRoot, executionMark(folder));
      deleteFolder(folder);
    }
  }

  facts(): NodeFacts {
    const unfinished = this.#executionFolders().flatMap((folder) => {
      const journal = new Journal(folder);
      const execution = unlessUnreadable(() =>
        journal.readResult() === undefined ? journal.readExecution() : undefined,
      );
      if (execution === undefined) return [];
      const { run, task, node, generation } = execution;
      return [{ run, task, node, generation }];
    });
    return {
      node: this.#options.node,
      bootId: readBootId(this.#machine.bootIdPath),
      taskTypes: this.#options.allowedTypes ?? typesOver('agent'),
      containment: this.#means(),
      unfinished,
    };
  }

  /** Tries whether groups can be created here. */
  #means(): NodeFacts['containment'] {
    if (this.#triedMeans === undefined) {
      const probe = contain(this.#machine.cgroupRoot, `probe-${process.pid}`);
      probe.close();
      this.#triedMeans = probe.means;
    }
    return this.#triedMeans;
  }

  #journal(key: ExecutionKey): Journal {
    return new Journal(executionFolder(this.#stateDir, key));
  }

  #executionFolders(): string[] {
    return executionFolders(nodeFolder(this.#stateDir, this.#options.node));
  }

  #misdirected(execution: Execution, problems: Extract<TaskFailure, { kind: 'refused' }>['problems']): TaskFailure {
    if (problems.length > 0) return { kind: 'refused', problems };
    const message = `this is the agent of node ${this.#options.node}, not of ${execution.node}`;
    const problem = { severity: 'error', code: 'execution.other-node', message, path: 'node' } as const;
    return { kind: 'refused', problems: [{ ...problem, hint: "Send it to that node's agent." }] };
  }

  /** Writes the intent; returns the failure if the disk has no space for it and its output. */
  #register(journal: Journal, execution: Execution): TaskFailure | undefined {
    try {
      mkdirSync(this.#stateDir, { recursive: true, mode: 0o700 });
      const { bavail, bsize } = statfsSync(this.#stateDir);
      const [free, needed] = [bavail * bsize, this.#options.minFreeBytes ?? 64 * 1024 * 1024];
      if (free < needed) return { kind: 'no-space', path: this.#stateDir, limit: { of: 'reserve', free, needed } };
      journal.create();
      journal.writeExecution(execution);
      return undefined;
    } catch (error) {
      return systemFailure(this.#stateDir, error);
    }
  }

  /** The end of an execution that needs no process; undefined if it needs one. */
  #withoutRunning(execution: Execution, task: Runnable): [TaskFailure | null, Partial<TaskResult>] | undefined {
    const { allowedTypes } = this.#options;
    if (allowedTypes !== undefined && !allowedTypes.includes(execution.type)) {
      const problem = {
        severity: 'error',
        code: 'execution.forbidden-type',
        message: `the policy of this node forbids tasks of type ${execution.type}`,
        hint: `It allows ${allowedTypes.join(', ')}.`,
        path: 'type',
      } as const;
      return [{ kind: 'refused', problems: [problem] }, { changed: false }];
    }
    const isNoop = execution.mode === 'noop' && task.type.noop === 'skip';
    if (task.type.kind === 'work' && !isNoop) return undefined;
    const message = isNoop ? 'nothing was done: this is a noop run' : 'there is nothing to do';
    return [null, { outcome: 'skipped', changed: false, message }];
  }

  /** Ends an execution that was never started, unless another process claims it first. */
  #close(journal: Journal, failure: TaskFailure | null, rest: Partial<TaskResult>): void {
    const identity = ownIdentity(this.#machine.bootIdPath);
    if (!journal.claim(identity)) return;
    journal.writeResult(resultWithout(journal, identity.bootId, failure, { changed: false, ...rest }));
  }

  async #launch(journal: Journal, execution: Execution, task: Runnable): Promise<void> {
    const secrets: Record<string, string> = {};
    const sources: Record<string, SupervisorMessage['sources'][string]> = {};
    for (const input of task.inputs) {
      if (input.kind === 'secret') secrets[input.ref] ??= await this.#secret(input.ref, execution);
      else sources[input.path] ??= await this.#source(input, execution);
    }
    const options = this.#options;
    const own = options.supervisorCommand ?? ownSupervisor();
    const adopting = this.#means() === 'process-walk' ? underReaper(own) : undefined;
    const order: SupervisorMessage = {
      folder: journal.folder,
      lockFile: join(nodeFolder(this.#stateDir, execution.node), 'lock'),
      lockWaitSec: options.lockWaitSec ?? 60,
      machine: this.#machine,
      pathRoots: options.pathRoots ?? DEFAULT_PATH_ROOTS,
      rebootCommand: options.rebootCommand ?? ['systemctl', 'reboot'],
      taskPath: options.taskPath ?? DEFAULT_TASK_PATH,
      secrets,
      sources,
      contentFolder: this.#contentFolder(execution.node),
    };
    await launchSupervisor(adopting?.command ?? own, journal, order, adopting?.environment);
  }

  async #secret(ref: string, key: ExecutionKey): Promise<string> {
    if (this.#options.resolveSecret === undefined)
      throw new Error(`The task needs the secret ${ref}, and this agent has no source of secrets.`);
    return await this.#options.resolveSecret(ref, key);
  }

  /** Where fetched files of packages wait until they are placed. */
  #contentFolder(node: string): string {
    return join(nodeFolder(this.#stateDir, node), 'content');
  }

  async #source(
    input: Exclude<TaskInput, { kind: 'secret' }>,
    key: ExecutionKey,
  ): Promise<SupervisorMessage['sources'][string]> {
    const { path } = input;
    const read = (file: string) => (this.#options.readSource ?? ((own: string) => readFile(own)))(file, key);
    try {
      const data =
        input.kind === 'source' ? await read(path) : await fetchFolder(input, this.#contentFolder(key.node), read);
      return { base64: Buffer.from(data).toString('base64') };
    } catch (error) {
      if (error instanceof PlacementError) return { failure: error.failure };
      // Everything else is an outage: the task starts when it is over.
      if (fileErrorCode(error) === undefined) throw error;
      return { failure: systemFailure(path, error) };
    }
  }
}
