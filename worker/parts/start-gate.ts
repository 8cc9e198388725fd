import { Client } from '@temporalio/client';
import { OrderWithdrawn, RunHeld } from '../../src/agent/index.ts';
import type { Settings } from '../../src/platform/settings/settings.ts';
import type { Logger } from '../../src/platform/telemetry/log.ts';
import { followCredentials } from '../../src/platform/temporal/follow-credentials.ts';
import { type RunLookups, runLookups } from '../../src/runs/run-lookups.ts';
import { describeBy, type StartedLookup, startedLookup } from '../../src/runs/started-lookup.ts';
import type { Store, TransactionRecord } from '../../src/store/index.ts';
import { taskActivityId } from '../../workflows/protocol.ts';
import { encryptionOf } from './encryption.ts';
import { graphOfRun } from './graph-of-run.ts';
import { lazyLink } from './lazy-connection.ts';

/** Asked before an order is handed out. */
export interface StartGate {
  /** Whether the run of a transaction is open in Temporal: a reset continues one that was found terminated, before it opens its record again. */
  goesOn(run: TransactionRecord): Promise<boolean>;
  /**
   * For an order that a node has not started: the task may have waited for its node for hours. Rejects with `RunHeld` or
   * `OrderWithdrawn` when nothing of the run may start.
   *
   * @param run the graph, as agents name it
   */
  mayStart(run: string): Promise<void>;
}

/** Asked before an order is signed, too. */
export interface SigningGate extends StartGate {
  /**
   * Whether the run has started an attempt of a task and waits for it: anyone with Temporal's credential can put
   * tasks onto its queues. Rejects with `RunHeld` if that is not known.
   *
   * @param run a transaction
   * @param node as histories name it
   */
  hasStarted(run: TransactionRecord, task: string, node: string, generation: number): Promise<boolean>;
}

export const startGate = (store: Store, { hold, execution }: Pick<RunLookups, 'hold' | 'execution'>): StartGate => ({
  async goesOn({ workflowId, temporalRunId }) {
    if (workflowId === null || temporalRunId === null) return false;
    return (await execution(workflowId, temporalRunId))?.isOpen === true;
  },
  async mayStart(run) {
    const workflowId = (await graphOfRun(store, run))?.run.workflowId;
    // Without a run, the order is refused.
    if (workflowId == null) return;
    const { paused, stopping } = await hold(workflowId, null).catch((error: unknown) => {
      throw new RunHeld(`cannot tell whether run ${run} is paused: ${error instanceof Error ? error.message : error}`);
    });
    if (stopping) throw new OrderWithdrawn('the run was stopped before it started');
    if (paused !== null) throw new RunHeld(`the run is paused since ${paused.since}`);
  },
});

export function signingGate(
  store: Store,
  lookups: Pick<RunLookups, 'hold' | 'execution'>,
  started: StartedLookup,
): SigningGate {
  return {
    ...startGate(store, lookups),
    async hasStarted({ workflowId, temporalRunId }, task, node, generation) {
      if (workflowId === null || temporalRunId === null) return false;
      return await started(workflowId, temporalRunId, taskActivityId(task, node, generation)).catch(
        (error: unknown) => {
          const why = error instanceof Error ? error.message : String(error);
          throw new RunHeld(`cannot tell whether its run has started ${task}: ${why}`);
        },
      );
    },
  };
}

/** A gate with a connection of its own to Temporal, which need not be there yet. */
export function openStartGate(settings: Settings, store: Store, log: Logger): SigningGate & { close(): Promise<void> } {
  const { temporal } = settings;
  const link = lazyLink(temporal);
  const { connection } = link;
  const endFollowing = followCredentials(temporal, [link], log);
  const client = new Client({ connection, namespace: temporal.namespace, ...encryptionOf(settings) });
  return {
    ...signingGate(store, runLookups(client), startedLookup(describeBy(client))),
    close() {
      endFollowing();
      return connection.close();
    },
  };
}
