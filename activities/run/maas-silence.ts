import { ApplicationFailure, Context } from '@temporalio/activity';
import type { MaasSilence } from '../../src/core/run/silence.ts';

/** An execution of a workflow, whose activities ask MAAS. */
export interface Asking {
  readonly workflowId: string;
  readonly runId: string;
}

/** A client's knowledge of MAAS; ms since 1970. */
export interface MaasPulse {
  /** Since when no request has been answered. */
  readonly silentSince?: number | undefined;
  readonly lastAnswerAt?: number | undefined;
}

/** ISO 8601; null: MAAS answers; undefined: an earlier process may have reported something else. */
type Reported = string | null | undefined;

interface Entry {
  readonly execution: Asking;
  /** Activities under way. */
  open: number;
  /** Until when the next try of one that failed is waited for; another process may have taken it over. Ms since 1970. */
  waitsUntil: number;
  reported: Reported;
}

/** A MAAS under load may take this long for any request. */
const REPORT_SILENCE_AFTER_MS = 20_000;
const LOOK_EVERY_MS = 5_000;
/** Longer than any pause between two tries. */
const NEXT_TRY_WITHIN_MS = 120_000;

/** Since when MAAS has not answered, if long enough to be reported. */
export const reportedSilence = (
  since: number | undefined,
  now: number,
  afterMs: number = REPORT_SILENCE_AFTER_MS,
): string | null => (since !== undefined && now - since >= afterMs ? new Date(since).toISOString() : null);

const keyOf = ({ workflowId, runId }: Asking): string => `${workflowId} ${runId}`;

interface SilenceReportsOptions {
  readonly pulse: () => MaasPulse;
  /** Signals the execution. */
  readonly send: (execution: Asking, silence: MaasSilence) => Promise<void>;
  readonly now?: () => number;
  /** For tests: as after a longer silence. */
  readonly afterMs?: number;
}

/**
 * Reports to each workflow whose activities wait for MAAS since when it has not answered, and when it answers again: one signal for each
 * change, however many activities there are.
 */
export class SilenceReports {
  readonly #options: SilenceReportsOptions;
  readonly #entries = new Map<string, Entry>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SilenceReportsOptions) {
    this.#options = options;
  }

  /**
   * Runs a try of the current activity.
   *
   * @param before the last attempt's heartbeats; undefined: unknown
   */
  during<T>(before: string | null | undefined, work: () => Promise<T>): Promise<T> {
    const { info, cancellationSignal } = Context.current();
    const { workflowExecution, attempt } = info;
    if (workflowExecution === undefined) return work();
    const isOver = (error: unknown): boolean =>
      cancellationSignal.aborted || (error instanceof ApplicationFailure && error.nonRetryable === true);
    return this.watch(workflowExecution, attempt === 1 ? null : before, isOver, work);
  }

  /** @param isOver a failed try is not repeated */
  async watch<T>(
    execution: Asking,
    before: Reported,
    isOver: (error: unknown) => boolean,
    work: () => Promise<T>,
  ): Promise<T> {
    const key = keyOf(execution);
    const entry = this.#entries.get(key) ?? { execution, open: 0, waitsUntil: 0, reported: before };
    this.#entries.set(key, entry);
    this.#timer ??= setInterval(
      () => void this.look(),
      Math.min(LOOK_EVERY_MS, this.#options.afterMs ?? LOOK_EVERY_MS),
    ).unref();
    entry.open += 1;
    entry.waitsUntil = 0;
    try {
      return await work();
    } catch (error) {
      if (!isOver(error)) entry.waitsUntil = this.#now() + NEXT_TRY_WITHIN_MS;
      throw error;
    } finally {
      entry.open -= 1;
      await this.#report(entry);
    }
  }

  /** Reports changes. */
  async look(): Promise<void> {
    await Promise.all([...this.#entries.values()].map((entry) => this.#report(entry)));
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }

  async #report(entry: Entry): Promise<void> {
    const { reported } = entry;
    const since = this.#stateFor(entry);
    if (!this.#isAsking(entry)) this.#forget(entry);
    if (since === reported || since === undefined) return;
    entry.reported = since;
    await this.#options.send(entry.execution, { since }).catch(() => {
      // Temporal is unreachable, or the workflow has ended: retried as long as something asks MAAS.
      entry.reported = reported;
    });
  }

  #isAsking({ open, waitsUntil }: Entry): boolean {
    return open > 0 || this.#now() < waitsUntil;
  }

  #stateFor(entry: Entry): Reported {
    const { reported } = entry;
    const { silentSince, lastAnswerAt } = this.#options.pulse();
    const isUnknown = reported === undefined && lastAnswerAt === undefined;
    if (!this.#isAsking(entry)) return isUnknown ? undefined : null;
    // This process may know of a silence from the one before it.
    if (typeof reported === 'string' && (lastAnswerAt ?? 0) < Date.parse(reported)) return reported;
    const since = reportedSilence(silentSince, this.#now(), this.#options.afterMs);
    return isUnknown && since === null ? undefined : since;
  }

  #forget({ execution }: Entry): void {
    this.#entries.delete(keyOf(execution));
    if (this.#entries.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
