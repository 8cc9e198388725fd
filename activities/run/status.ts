import { ApplicationFailure } from '@temporalio/activity';
import { given } from '../../src/core/data/given.ts';
import { CLAIM_LOST } from '../../src/core/run/failure.ts';
import { provenClaim } from '../../src/runs/claims.ts';
import { showRecord } from '../../src/runs/life.ts';
import { sequenceIn } from '../../src/store/index.ts';
import type { ShownRun } from '../contract.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import { believedReport, believedStatus } from './recorded-names.ts';

/** A status in the store is no older, as long as the store can be reached. */
const EVERY_MS = 1_000;
/** A run waits no longer for its status to be written when someone waits to see it. */
const LIMIT_MS = 1_000;
/** A run that shows nothing for so long may be another worker's now. */
const FORGOTTEN_AFTER_MS = 60_000;
/** While the store is away. */
const AGAIN_MS = 5_000;

interface Showing extends ShownRun {
  readonly execution: { readonly workflowId: string; readonly runId: string };
  /** Events of the history at that time. */
  readonly events: number;
}

interface Pending {
  /** To be written. */
  newest: Showing | null;
  /** Someone waits for it. */
  isUrgent: boolean;
  writing: Promise<void> | null;
  timer: NodeJS.Timeout | undefined;
  /** When what is not urgent may be written. */
  dueAt: number;
  sequence: number;
  isFailing: boolean;
}

/** The newer one, with the plan of either: a run shows it once. */
const merged = (before: Showing | null, now: Showing | null): Showing | null =>
  now === null ? before : { ...given({ plan: before?.plan }), ...now };

/**
 * Writes the statuses that runs of this worker show to their rows: the newest of each, at most once a second, and immediately
 * what people wait for. A status that is not written, because the store is away or the worker is killed, is superseded by the
 * next one that the run shows.
 */
export class RunStatuses {
  readonly #deps: Pick<ActivityDependencies, 'store' | 'execution' | 'log'>;
  readonly #runs = new Map<string, Pending>();

  constructor(deps: Pick<ActivityDependencies, 'store' | 'execution' | 'log'>) {
    this.#deps = deps;
  }

  /** Resolves once it is written, if that is urgent: the run waits for that. */
  async show(run: Showing, urgent: boolean): Promise<void> {
    const pending = this.#pendingOf(run.run_id);
    pending.newest = merged(pending.newest, run);
    if (!urgent || pending.isFailing) return this.#later(run.run_id, pending);
    let limit: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      limit = setTimeout(resolve, LIMIT_MS);
    });
    await Promise.race([this.#now(run.run_id, pending), late]);
    clearTimeout(limit);
  }

  /** Writes what is left. */
  async close(): Promise<void> {
    await Promise.all([...this.#runs].map(([id, pending]) => this.#now(id, pending)));
    for (const { timer } of this.#runs.values()) clearTimeout(timer);
  }

  #pendingOf(id: string): Pending {
    const known = this.#runs.get(id);
    if (known !== undefined) return known;
    const pending: Pending = {
      newest: null,
      isUrgent: false,
      writing: null,
      timer: undefined,
      dueAt: 0,
      sequence: 0,
      isFailing: false,
    };
    this.#runs.set(id, pending);
    return pending;
  }

  #now(id: string, pending: Pending): Promise<void> {
    pending.isUrgent = true;
    return this.#write(id, pending);
  }

  #later(id: string, pending: Pending): void {
    if (pending.writing !== null) return;
    clearTimeout(pending.timer);
    const wait = Math.max(0, pending.dueAt - Date.now());
    pending.timer = setTimeout(() => void this.#write(id, pending), wait).unref();
  }

  #write(id: string, pending: Pending): Promise<void> {
    clearTimeout(pending.timer);
    pending.writing ??= this.#writeNewest(pending).finally(() => {
      pending.writing = null;
      if (pending.newest !== null) this.#later(id, pending);
      else pending.timer = setTimeout(() => this.#runs.delete(id), FORGOTTEN_AFTER_MS).unref();
    });
    return pending.writing;
  }

  /** And what becomes urgent meanwhile. */
  async #writeNewest(pending: Pending): Promise<void> {
    do {
      const run = pending.newest;
      if (run === null) return;
      pending.newest = null;
      pending.isUrgent = false;
      pending.isFailing = !(await this.#isWritten(run, pending));
      if (pending.isFailing) pending.newest = merged(run, pending.newest);
      pending.dueAt = Date.now() + (pending.isFailing ? AGAIN_MS : EVERY_MS);
    } while (pending.isUrgent && !pending.isFailing);
  }

  async #isWritten(run: Showing, pending: Pending): Promise<boolean> {
    try {
      await this.#put(run, pending);
      return true;
    } catch (error) {
      // Without its claim, nothing of the run is its own to write.
      if (error instanceof ApplicationFailure && error.type === CLAIM_LOST) return true;
      if (!pending.isFailing)
        this.#deps.log?.({ run: run.run_id, error: String(error) }, 'the status of a run could not be written');
      return false;
    }
  }

  async #put(
    { run_id, kind, subject, started_at, revision, plan, status, report, execution, events }: Showing,
    pending: Pending,
  ) {
    const { generation } = await provenClaim(this.#deps, subject, execution);
    const named = await believedReport(this.#deps.store, run_id, report, false);
    // Several turns of a run may see the same number of events.
    pending.sequence = Math.max(sequenceIn(generation, events), pending.sequence + 1);
    const run = {
      id: run_id,
      sequence: pending.sequence,
      workflowId: execution.workflowId,
      kind,
      startedAt: started_at,
    };
    await showRecord(this.#deps.store, { ...run, revision, plan }, believedStatus(status, named), named);
  }
}

/** For workers: passes what their runs show to `statuses`. */
export const statusSinks = (statuses: Pick<RunStatuses, 'show'>) => ({
  runs: {
    show: {
      fn: (
        { workflowId, runId, historyLength }: { workflowId: string; runId: string; historyLength: number },
        run: ShownRun,
        urgent: boolean,
      ) => statuses.show({ ...run, execution: { workflowId, runId }, events: historyLength }, urgent),
      callDuringReplay: false,
    },
  },
});
