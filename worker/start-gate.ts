import { Client } from '@temporalio/client';
import { OrderWithdrawn, RunHeld } from '../src/agent/index.js';
import type { Settings } from '../src/platform/settings/index.js';
import type { Logger } from '../src/platform/telemetry/log.js';
import { followCredentials } from '../src/platform/temporal/follow-credentials.js';
import { type RunLookups, runLookups } from '../src/platform/temporal/run-lookups.js';
import { reopenRun, type Store, type TransactionRecord } from '../src/store/index.js';
import { encryptionOf } from './encryption.js';
import { graphOfRun } from './graph-of-run.js';
import { lazyLink } from './lazy-connection.js';

/** Asked before an order is handed out. */
export interface StartGate {
  /**
   * Whether a reset has a run going on that was found terminated; its records are then open again.
   *
   * @param run a transaction with its cluster's claim
   */
  reopened(run: TransactionRecord): Promise<boolean>;
  /**
   * For an order that a node has not started: the task may have waited for its node for hours. Rejects with `RunHeld` or
   * `OrderWithdrawn` when nothing of the run may start.
   *
   * @param run the graph, as agents name it
   */
  mayStart(run: string): Promise<void>;
}

export const startGate = (store: Store, { hold, execution }: Pick<RunLookups, 'hold' | 'execution'>): StartGate => ({
  async reopened({ workflowId, temporalRunId }) {
    if (workflowId === null || temporalRunId === null) return false;
    if ((await execution(workflowId, temporalRunId))?.isOpen !== true) return false;
    await reopenRun(store, await store.runs.get(temporalRunId));
    return true;
  },
  async mayStart(run) {
    const workflowId = (await graphOfRun(store, run))?.run.workflowId;
    // Without a run, the order is refused.
    if (workflowId == null) return;
    const { paused, stopping } = await hold(workflowId, null).catch((error: unknown) => {
      throw new RunHeld(`whether run ${run} is paused is not known: ${error instanceof Error ? error.message : error}`);
    });
    if (stopping) throw new OrderWithdrawn('the run was stopped before it started');
    if (paused !== null) throw new RunHeld(`the run is paused since ${paused.since}`);
  },
});

/** A gate with a connection of its own to Temporal, which need not be there yet. */
export function openStartGate(settings: Settings, store: Store, log: Logger): StartGate & { close(): Promise<void> } {
  const { temporal } = settings;
  const link = lazyLink(temporal);
  const { connection } = link;
  const endFollowing = followCredentials(temporal, [link], log);
  const client = new Client({ connection, namespace: temporal.namespace, ...encryptionOf(settings) });
  return {
    ...startGate(store, runLookups(client)),
    close() {
      endFollowing();
      return connection.close();
    },
  };
}
