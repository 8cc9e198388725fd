import { setTimeout as delay } from 'node:timers/promises';
import { type AnnounceEnd, closeGoneRuns, type EndOf, MAX_OPEN, type Store } from '../../src/store/index.ts';

const EVERY_MS = 5_000;

interface Reconciled {
  readonly store: Store;
  /** How runs have ended in Temporal. */
  readonly end: EndOf;
  /** Sends the notice of such a run. Absent: no one wants to know. */
  readonly announceEnd?: AnnounceEnd;
  readonly log?: (fields: Readonly<Record<string, unknown>>, message: string) => void;
}

/**
 * Closes the records of runs whose workflows have ended without doing so: terminated, or gone with Temporal's data. The run
 * that is opened next on the same site or cluster, and whoever looks at the run itself, find out by themselves.
 */
export function startReconciler({ store, end, announceEnd, log }: Reconciled, everyMs = EVERY_MS) {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function reconcile(): Promise<void> {
    const { items } = await store.runs.list({ open: true, limit: MAX_OPEN });
    await closeGoneRuns(store, { end, ...(announceEnd && { announceEnd }) }, items);
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
