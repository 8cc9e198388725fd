import type { MaasClient } from './client.ts';
import { type Clock, systemClock } from './clock.ts';
import { isMaasFailure, MaasError, type MaasFailure, retryAfterSeconds } from './failure.ts';
import type { HostnameLookup } from './hostname-lookup.ts';
import { LayoutRefused } from './layout/apply-layout.ts';
import { type Machine, summariseMachine } from './machine.ts';
import {
  layoutFailed,
  type MachineAction,
  type MachineFailure,
  type MachineOutcome,
  type MachineWarning,
  maasErrorFor,
  noEffect,
  refused,
  timedOut,
  vanished,
  withChanges,
} from './machine-outcome.ts';
import type { MachineWatcher } from './machine-watcher.ts';
import { keptTags, leftOn, takeOff } from './put-on-machine.ts';
import { inProgressStatuses } from './status.ts';

/** Shared resources of all operations of a process. */
export interface MachineContext {
  readonly client: MaasClient;
  readonly watcher: MachineWatcher;
  readonly lookup: HostnameLookup;
  readonly clock?: Clock;
  readonly patience?: Partial<Patience>;
}

/** How long an operation tolerates a failing MAAS. */
export interface Patience {
  /** Pauses before retries of a change after a temporary failure; after the last, the operation fails. */
  readonly retryDelaysMs: readonly number[];
  /**
   * How long a request may be on its way whose connection was lost, or whose sender has given up. Until then it is not sent again, and an
   * abort waits for a deployment: a request that is late would have its effect after whatever came in between.
   */
  readonly settleMs: number;
  /** Grace period for an unmarked machine of our user: its holder may be about to mark it. */
  readonly markerGraceMs: number;
}

export const defaultPatience: Patience = {
  retryDelaysMs: [1_000, 5_000, 15_000],
  settleMs: 30_000,
  markerGraceMs: 5_000,
};

/** Given to every operation by its caller. */
export interface OperationOptions {
  /** Ends the operation immediately with the signal's reason. MAAS continues its work: see `abortMachine`. */
  readonly signal?: AbortSignal | undefined;
  /** Its requests go before others that wait for MAAS. */
  readonly urgent?: boolean | undefined;
  /** Deadline, ms since 1970; the same for all attempts of one activity. */
  readonly deadline?: number | undefined;
  /** No earlier attempt can have started: a state found is older. */
  readonly isFirstTry?: boolean | undefined;
  /** Tags of documents that Sitewright put on the machine; they leave with its release. */
  readonly givenTags?: readonly string[] | undefined;
  /** Longest poll interval while waiting for the machine; default: the watcher's. */
  readonly maxIntervalMs?: number | undefined;
  /** Called before each change is sent to MAAS, `isFirst` until one had an effect; if it rejects, the change is not sent. */
  readonly acting?: ((action: MachineAction, isFirst: boolean) => Promise<void>) | undefined;
  /** Called at least once per step and poll. */
  readonly heartbeat?: ((machine: Machine | undefined) => void) | undefined;
}

/** The memory of an operation; empty for a new attempt after a crash. */
export interface Progress {
  /** Sent, with any result. */
  readonly sent: ReadonlySet<MachineAction>;
  /** Answered with success. */
  readonly acknowledged: ReadonlySet<MachineAction>;
  /** Refused, but optional. */
  readonly givenUp: ReadonlySet<MachineAction>;
  /** States that were waited on, and observed states that end without a request. */
  readonly waitedOn: ReadonlySet<number>;
  /** A reading has shown the machine held for this request; see `Operation.isHeld`. */
  readonly wasHeld: boolean;
  /** The grace period for a missing marker is over. */
  readonly graceOver: boolean;
}

export const noProgress: Progress = {
  sent: new Set(),
  acknowledged: new Set(),
  givenUp: new Set(),
  waitedOn: new Set(),
  wasHeld: false,
  graceOver: false,
};

/** The next step, decided from one reading of the machine. */
export type Step =
  | { readonly do: 'done'; readonly warnings?: readonly MachineWarning[] }
  | { readonly do: 'act'; readonly action: MachineAction; readonly warnings?: readonly MachineWarning[] }
  /** Wait until a reading leads to another step. */
  | { readonly do: 'wait' }
  /** The machine is ours but unmarked: someone may be about to set the marker. */
  | { readonly do: 'wait-for-marker' }
  /** The machine is in use and unmarked: ask MAAS who uses it. */
  | { readonly do: 'find-user' }
  | { readonly do: 'fail'; readonly failure: MachineFailure };

interface Operation {
  /** Reads the machine, where more of it is needed than `Machine` has. */
  readonly read?: (urgent: boolean | undefined) => Promise<Machine>;
  /** Pure. */
  readonly decide: (machine: Machine, progress: Progress) => Step;
  /** @returns the machine as MAAS answered, or as it is after the action; `unchanged` when nothing had to be sent */
  readonly perform: (action: MachineAction, machine: Machine) => Promise<Machine | 'unchanged' | undefined>;
  /** Whether the operation can continue without this action when MAAS refuses it. */
  readonly isOptional?: (action: MachineAction, machine: Machine) => boolean;
  /** Whether the machine is held for this request. */
  readonly isHeld?: (machine: Machine) => boolean;
  /**
   * Reads the progress of this request from MAAS' log, for `decide`: before the first step, unless there was no earlier
   * attempt, and before repeating an action that seems to have had no effect. True when the log has any progress:
   * the machine is then read again, since the log may be newer than the reading.
   */
  readonly recall?: () => Promise<boolean>;
  /** Finds out who uses an unmarked machine, for `decide`. */
  readonly findUser?: (machine: Machine) => Promise<void>;
  /** Whether a success leaves nothing of ours on the machine. Default: it leaves the tags of its documents. */
  readonly leavesBare?: (machine: Machine) => boolean;
  /** Adds details from MAAS (script results, events) to a failure. */
  readonly explain?: (failure: MachineFailure, machine: Machine) => Promise<MachineFailure>;
}

/**
 * MAAS answers `abort` with the machine as it was before. The answers of all other actions show the machine after them
 * (recorded, 3.6.5), which saves a reading each.
 */
const staleAnswers: ReadonlySet<MachineAction> = new Set(['abort']);

/** An action acknowledged this often without a change of state has no effect. */
const maxRepetitions = 4;

/**
 * Carries out an operation: read, decide by the machine's real state, act only if needed, read again.
 * Since each decision starts from a reading, the operation may be repeated at any point, after a crash or
 * a lost answer, without a second effect.
 * @throws MaasError when MAAS cannot be reached (retryable) or refuses the key (not retryable).
 */
export async function carryOut(
  context: MachineContext,
  systemId: string,
  operation: Operation,
  options: OperationOptions,
): Promise<MachineOutcome> {
  return new OperationRun(context, systemId, operation, options).toCompletion();
}

class OperationRun {
  readonly #context: MachineContext;
  readonly #systemId: string;
  readonly #operation: Operation;
  readonly #options: OperationOptions;
  readonly #clock: Clock;
  readonly #patience: Patience;
  readonly #actions: MachineAction[] = [];
  readonly #warnings: MachineWarning[] = [];
  readonly #failures = new Map<MachineAction, number>();
  readonly #acknowledgements = new Map<MachineAction, number>();
  readonly #progress = {
    sent: new Set<MachineAction>(),
    acknowledged: new Set<MachineAction>(),
    givenUp: new Set<MachineAction>(),
    waitedOn: new Set<number>(),
    wasHeld: false,
    graceOver: false,
  };
  /** Tags of ours that MAAS refuses to remove. */
  readonly #kept = new Set<string>();
  #machine: Machine | undefined;

  constructor(context: MachineContext, systemId: string, operation: Operation, options: OperationOptions) {
    this.#context = context;
    this.#systemId = systemId;
    this.#operation = operation;
    this.#options = options;
    this.#clock = context.clock ?? systemClock;
    this.#patience = { ...defaultPatience, ...context.patience };
  }

  async toCompletion(): Promise<MachineOutcome> {
    let ended = await this.#read();
    // After the reading, so that the log covers it.
    if (!ended && !this.#options.isFirstTry) ended = await this.#recall();
    while (ended === undefined) {
      this.#options.signal?.throwIfAborted();
      const machine = this.#machine as Machine;
      this.#options.heartbeat?.(machine);
      const step = this.#decide();
      ended = await this.#take(step, machine);
    }
    return ended.ok ? ended : this.#cleared(ended);
  }

  #decide(): Step {
    const step = this.#operation.decide(this.#machine as Machine, this.#progress);
    return this.#leftBefore(step).length > 0 ? { do: 'act', action: 'untag' } : step;
  }

  /** What has to be taken off the machine before this step. */
  #leftBefore(step: Step): readonly string[] {
    const machine = this.#machine as Machine;
    if (step.do === 'act') return step.action === 'release' ? this.#left(this.#options.givenTags) : [];
    if (step.do !== 'done') return [];
    if (this.#operation.leavesBare?.(machine)) return this.#left(this.#options.givenTags);
    return machine.owner === null ? this.#left() : [];
  }

  #left(givenTags: readonly string[] = []): readonly string[] {
    return leftOn(this.#machine as Machine, givenTags).filter((tag) => !this.#kept.has(tag));
  }

  async #untag(machine: Machine, tags: readonly string[]): Promise<'unchanged' | undefined> {
    const { kept, warnings } = await takeOff(this.#context.client, machine, tags, this.#options.signal);
    for (const tag of kept) this.#kept.add(tag);
    this.#warn(warnings);
    return kept.length === tags.length ? 'unchanged' : undefined;
  }

  /** After a failure nobody else gets our kernel options with the machine. */
  async #cleared(ended: MachineOutcome & { readonly ok: false }): Promise<MachineOutcome> {
    const isLost = ended.failure.kind === 'other-owner' && this.#actions.includes('configure');
    const machine = this.#machine;
    const left = machine !== undefined && (machine.owner === null || isLost) ? this.#left() : [];
    if (left.length === 0) return ended;
    try {
      await this.#options.acting?.('untag', false);
      await this.#untag(machine as Machine, left);
    } catch (error) {
      // The failure is more important.
      if (!(error instanceof MaasError)) throw error;
      this.#warn([keptTags(machine as Machine, left, error)]);
    }
    return ended;
  }

  async #take(step: Step, machine: Machine): Promise<MachineOutcome | undefined> {
    if (step.do === 'done') {
      this.#warn(step.warnings);
      return { ok: true, machine: summariseMachine(machine), actions: this.#actions, warnings: this.#warnings };
    }
    if (step.do === 'fail') {
      const failure = (await this.#operation.explain?.(step.failure, machine)) ?? step.failure;
      return this.#failed(failure);
    }
    // Done and failed states are reported even after the deadline; anything else would take more time.
    const takesTime = step.do !== 'act' || step.action !== 'untag';
    if (takesTime && this.#isLate()) return this.#failed(timedOut(machine));
    if (step.do === 'wait') return this.#wait(machine);
    if (step.do === 'wait-for-marker') {
      await this.#pause(this.#patience.markerGraceMs);
      this.#progress.graceOver = true;
      return this.#read();
    }
    if (step.do === 'find-user') {
      await this.#operation.findUser!(machine);
      return undefined;
    }
    if (this.#progress.sent.has(step.action)) {
      const ended = await this.#recall();
      if (ended || !this.#isStillNext(step.action)) return ended;
    }
    return this.#act(step.action, step.warnings ?? [], machine);
  }

  async #wait(machine: Machine): Promise<MachineOutcome | undefined> {
    this.#progress.waitedOn.add(machine.status);
    const until = (reading: Machine) => {
      if (this.#operation.decide(reading, this.#progress).do !== 'wait') return true;
      this.#progress.waitedOn.add(reading.status);
      return false;
    };
    const outcome = await this.#context.watcher.waitFor(this.#systemId, until, {
      signal: this.#options.signal,
      deadline: this.#options.deadline,
      maxIntervalMs: this.#options.maxIntervalMs,
      onPoll: this.#options.heartbeat,
    });
    if (outcome.kind === 'gone') return this.#failed(vanished(this.#systemId));
    if (outcome.machine) this.#see(outcome.machine);
    if (outcome.kind === 'deadline') return this.#failed(timedOut(this.#machine as Machine));
    return undefined;
  }

  async #act(
    action: MachineAction,
    warnings: readonly MachineWarning[],
    machine: Machine,
  ): Promise<MachineOutcome | undefined> {
    const acknowledged = this.#acknowledgements.get(action) ?? 0;
    if (acknowledged >= maxRepetitions) return this.#failed(noEffect(machine, action));
    await this.#options.acting?.(action, this.#actions.length === 0);
    this.#progress.sent.add(action);
    let result: Machine | 'unchanged' | undefined;
    try {
      result = await (action === 'untag'
        ? this.#untag(machine, this.#leftBefore(this.#operation.decide(machine, this.#progress)))
        : this.#operation.perform(action, machine));
    } catch (error) {
      if (error instanceof LayoutRefused) return this.#failed(layoutFailed(machine, error));
      if (!(error instanceof MaasError) || isOfTheWholeMaas(error.failure)) throw error;
      return this.#afterFailure(action, error, machine.status);
    }
    this.#acknowledgements.set(action, acknowledged + 1);
    this.#progress.acknowledged.add(action);
    if (result !== 'unchanged') this.#actions.push(action);
    this.#warn(warnings);
    if (result === 'unchanged') return undefined;
    if (result === undefined || staleAnswers.has(action)) return this.#read();
    this.#see(result);
    return undefined;
  }

  /** An error does not mean that nothing happened: the machine's current state decides. */
  async #afterFailure(
    action: MachineAction,
    error: MaasError,
    statusBefore: number,
  ): Promise<MachineOutcome | undefined> {
    const { failure } = error;
    const attempts = (this.#failures.get(action) ?? 0) + 1;
    this.#failures.set(action, attempts);
    const settleMs = failure.kind === 'connection-lost' ? this.#patience.settleMs : 0;
    let ended: MachineOutcome | undefined;
    try {
      ended = await this.#read();
    } catch (readError) {
      // The next attempt would not know about a request that may still be on its way.
      if (settleMs > 0) await this.#pause(settleMs);
      throw readError;
    }
    if (ended) return ended;
    if (this.#hasHappened(action, failure, statusBefore)) return undefined;
    if (!failure.retryable) return (await this.#recall()) ?? this.#failIfNext(action, error);
    const delay = this.#patience.retryDelaysMs[attempts - 1];
    if (delay === undefined) return this.#failAction(action, error);
    const asked = (retryAfterSeconds(failure) ?? 0) * 1000;
    await this.#pause(Math.max(delay, asked, settleMs));
    ended = await this.#read();
    if (ended === undefined) this.#hasHappened(action, failure, statusBefore);
    return ended;
  }

  /** Whether the machine shows that a change had its effect, or needs it no more. */
  #hasHappened(action: MachineAction, failure: MaasFailure, statusBefore: number): boolean {
    const hasMoved = this.#machine?.status !== statusBefore;
    if (!hasMoved && this.#isStillNext(action)) return false;
    // The state alone does not show whose allocation it was; any other change counts as ours.
    if (failure.outcomeUnknown && hasMoved && action !== 'allocate') this.#progress.acknowledged.add(action);
    const isForeign = action === 'allocate' && failure.kind === 'conflict-state';
    if (failure.outcomeUnknown && !isForeign) this.#actions.push(action);
    return true;
  }

  #warn(warnings: readonly MachineWarning[] = []): void {
    for (const warning of warnings) {
      if (!this.#warnings.some((known) => known.code === warning.code)) this.#warnings.push(warning);
    }
  }

  #isStillNext(action: MachineAction): boolean {
    const step = this.#decide();
    return step.do === 'act' && step.action === action;
  }

  async #recall(): Promise<MachineOutcome | undefined> {
    return (await this.#operation.recall?.()) ? this.#read() : undefined;
  }

  #failIfNext(action: MachineAction, error: MaasError): MachineOutcome | undefined {
    return this.#isStillNext(action) ? this.#failAction(action, error) : undefined;
  }

  #failAction(action: MachineAction, error: MaasError): MachineOutcome | undefined {
    const { failure } = error;
    if (!failure.retryable && this.#operation.isOptional?.(action, this.#machine as Machine)) {
      this.#progress.givenUp.add(action);
      this.#warnings.push({ code: 'not-marked', message: `MAAS would not mark the machine: ${error.message}` });
      return undefined;
    }
    if (!failure.retryable) return this.#failed(refused(action, failure));
    // A definite failure for this machine is its own result; an unreachable MAAS is not.
    const isOfTheMachine =
      failure.kind === 'unavailable' &&
      (failure.status === 500 || (failure.status === 503 && failure.retryAfterSeconds === undefined));
    if (isOfTheMachine) return this.#failed(maasErrorFor(action, failure));
    throw error;
  }

  async #read(): Promise<MachineOutcome | undefined> {
    try {
      const { signal, urgent } = this.#options;
      const { read } = this.#operation;
      const machine = read?.(urgent) ?? this.#context.client.machines.read(this.#systemId, signal, { urgent });
      this.#see(await machine);
      return undefined;
    } catch (error) {
      if (isMaasFailure(error, 'not-found')) return this.#failed(vanished(this.#systemId));
      if (isMaasFailure(error, 'forbidden')) return this.#failed(refused('read', error.failure));
      throw error;
    }
  }

  #see(machine: Machine): void {
    this.#machine = machine;
    if (inProgressStatuses.has(machine.status)) this.#progress.waitedOn.add(machine.status);
    if (this.#operation.isHeld?.(machine)) this.#progress.wasHeld = true;
  }

  async #pause(ms: number): Promise<void> {
    const { deadline, signal } = this.#options;
    const left = deadline === undefined ? ms : Math.max(0, deadline - this.#clock.now());
    await this.#clock.sleep(Math.min(ms, left), signal);
  }

  #isLate(): boolean {
    const { deadline } = this.#options;
    return deadline !== undefined && this.#clock.now() >= deadline;
  }

  #failed(failure: MachineFailure): MachineOutcome {
    const machine = this.#machine && { machine: summariseMachine(this.#machine) };
    const said = withChanges(failure, this.#actions, this.#options.isFirstTry === true);
    return { ok: false, failure: said, ...machine, actions: this.#actions, warnings: this.#warnings };
  }
}

/** Failures that are not about one machine. Another worker may have the right clock. */
function isOfTheWholeMaas(failure: MaasFailure): boolean {
  return (
    failure.kind === 'worker-clock' ||
    (!failure.retryable &&
      (failure.kind === 'unauthorised' || failure.kind === 'unreachable' || failure.kind === 'unexpected'))
  );
}
