import { Client } from '@temporalio/client';
import { OrderWithdrawn, RunHeld } from '../src/agent/index.js';
import type { Settings } from '../src/platform/settings/index.js';
import type { Logger } from '../src/platform/telemetry/log.js';
import { followApiKey } from '../src/platform/temporal/api-key.js';
import { type HoldLookup, holdLookup } from '../src/platform/temporal/run-hold.js';
import type { Store } from '../src/store/index.js';
import { encryptionOf } from './encryption.js';
import { graphOfRun } from './graph-of-run.js';
import { lazyConnection } from './lazy-connection.js';

/**
 * Asked before an order is handed out that a node has not started: the task may have waited for its node for hours. Rejects
 * with `RunHeld` or `OrderWithdrawn` when nothing of the run may start.
 *
 * @param run the graph, as agents name it
 */
export type StartGate = (run: string) => Promise<void>;

export const startGate =
  (store: Store, hold: HoldLookup): StartGate =>
  async (run) => {
    const workflowId = (await graphOfRun(store, run))?.run.workflowId;
    // Without a run, the order is refused.
    if (workflowId == null) return;
    const { paused, stopping } = await hold(workflowId, null).catch((error: unknown) => {
      throw new RunHeld(`whether run ${run} is paused is not known: ${error instanceof Error ? error.message : error}`);
    });
    if (stopping) throw new OrderWithdrawn('the run was stopped before it started');
    if (paused !== null) throw new RunHeld(`the run is paused since ${paused.since}`);
  };

/** A gate with a connection of its own to Temporal, which need not be there yet. */
export function openStartGate(
  settings: Settings,
  store: Store,
  log: Logger,
): { readonly mayStart: StartGate; close(): Promise<void> } {
  const { temporal } = settings;
  const connection = lazyConnection(temporal);
  const endFollowing = followApiKey(temporal, [connection], log);
  const client = new Client({ connection, namespace: temporal.namespace, ...encryptionOf(settings) });
  return {
    mayStart: startGate(store, holdLookup(client)),
    close() {
      endFollowing();
      return connection.close();
    },
  };
}
