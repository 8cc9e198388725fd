import { setTimeout as delay } from 'node:timers/promises';
import { given } from '../core/data/given.ts';
import type { RunSummary, Store } from '../store/index.ts';
import { closeGone, type Ends } from './life.ts';
import type { RunLookups } from './run-lookups.ts';

const EVERY_MS = 5_000;
/** A run that has shown nothing for so long is asked: its last status may have been lost with its worker. */
const QUIET_MS = 60_000;

/** Looks at an open run, about once a minute. */
export type WatchRun = (run: Pick<RunSummary, 'id' | 'site'>) => Promise<unknown>;

interface Reconciled extends Ends {
  readonly store: Store;
  /** Has the run answer a query, after which it shows its status to the worker that read it again. */
  readonly ask: (workflowId: string) => Promise<unknown>;
  /** Which children the run waits for. */
  readonly execution: RunLookups['execution'];
  /** Tells a run that a child which it waits for has ended, whose end no one told it. */
  readonly missed: (workflowId: string, child: string) => Promise<unknown>;
  readonly watch?: WatchRun;
  readonly log?: (fields: Readonly<Record<string, unknown>>, message: string) => void;
}

/**
 * Keeps the records of open runs true. Those whose workflows have ended without closing them, terminated or gone with Temporal's
 * data, are closed; the run that is opened next on the same site or cluster, and whoever looks at the run itself, find out by
 * themselves. Those that show nothing new are asked once a minute, and told which of their children are gone: of one that ended while
 * its run was closed, as when someone terminates the run, Temporal tells it nothing when it goes on after a reset.
 */
export function startReconciler(
  { store, end, ask, execution, missed, announceEnd, watch, log }: Reconciled,
  { everyMs = EVERY_MS, quietMs = QUIET_MS } = {},
) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const asked = new Map<string, number>();
  let watchedAt = Number.NEGATIVE_INFINITY;

  async function reconcile(): Promise<void> {
    const items = await closeGone({ store, end, ...given({ announceEnd }) });
    const now = Date.now();
    for (const { id, workflowId, temporalRunId, statusAt, startedAt } of items) {
      const since = Math.max(Date.parse(statusAt ?? startedAt), asked.get(id) ?? 0);
      if (now - since < quietMs) continue;
      asked.set(id, now);
      // A run whose worker is away does not answer, and is asked again.
      void ask(workflowId).catch(() => undefined);
      void tellOfChildren(workflowId, temporalRunId).catch(() => undefined);
    }
    if (watch !== undefined && now - watchedAt >= quietMs) {
      watchedAt = now;
      for (const run of items) if (!run.paused) await watch(run);
    }
    const open = new Set(items.map(({ id }) => id));
    for (const id of asked.keys()) if (!open.has(id)) asked.delete(id);
  }

  async function tellOfChildren(workflowId: string, runId: string | null): Promise<void> {
    const run = await execution(workflowId, runId);
    if (!run?.isOpen) return;
    for (const child of run.children) {
      // By its newest execution: one that was continued as new, or reset, goes on.
      const now = await execution(child.workflowId, null);
      if (!now?.isOpen) await missed(workflowId, child.workflowId);
    }
  }

  const done = (async () => {
    let isFailing = false;
    while (!signal.aborted) {
      const failure = await reconcile().then(
        () => undefined,
        (error: unknown) => String(error),
      );
      if (failure !== undefined && !isFailing) log?.({ error: failure }, 'ended runs cannot be closed at the moment');
      isFailing = failure !== undefined;
      await delay(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  })();
  return {
    async stop(): Promise<void> {
      stopping.abort();
      await done;
    },
  };
}
