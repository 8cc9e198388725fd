import { type Execution, OrderRefused, type OrderSource, type SecretUse } from '../../src/agent/index.ts';
import type { TaskLogs } from '../../src/agent/output/task-logs.ts';
import type { TaskOrder } from '../../src/clusters/task-order.ts';
import { given } from '../../src/core/data/given.ts';
import type { ExecutionKey } from '../../src/core/task-on-node.ts';
import { isTransactionOpen } from '../../src/core/words.ts';
import {
  type Alarms,
  type Caller,
  type OrderBook,
  OrderDesk,
  Refusal,
  type SourceFiles,
} from '../../src/gateway/index.ts';
import type { SecretProvider } from '../../src/platform/secrets/secret-provider.ts';
import { endedWithRun, type Store } from '../../src/store/index.ts';
import { graphOfRun } from './graph-of-run.ts';
import type { StartGate } from './start-gate.ts';

/** Converts the stored order of a task to the execution of one attempt. */
export function plannedExecution(
  { type, parameters, secrets, deadline_sec }: TaskOrder,
  earlier: readonly string[],
  {
    run,
    task,
    node,
    generation,
    mode,
    debug,
  }: ExecutionKey & { readonly mode: 'apply' | 'noop'; readonly debug?: true },
): Execution {
  return {
    run,
    task,
    node,
    generation,
    type,
    parameters,
    deadlineSec: deadline_sec,
    ...(earlier.length === 0 ? {} : { earlier }),
    ...(mode === 'noop' ? { mode } : {}),
    ...given({ debug }),
    ...(secrets === undefined ? {} : { secrets: secrets as readonly SecretUse[] }),
  };
}

/**
 * Why no task of a graph is handed out: the graph has ended, or its run does not have its cluster any more.
 *
 * @param run the graph, as agents name it
 * @returns undefined while its run may have tasks executed
 */
export async function whyNoneOf(
  store: Store,
  gate: Pick<StartGate, 'goesOn'>,
  run: string,
): Promise<string | undefined> {
  const found = await graphOfRun(store, run);
  if (found === undefined) return `there is no run ${run} here`;
  const { clusterId, workflowId, temporalRunId } = found.run;
  if (clusterId === null) return `the cluster of run ${run} was deleted`;
  const claim = await store.claims.holder({ cluster: clusterId });
  const hasClaim = claim !== null && claim.workflowId === workflowId && claim.runId === temporalRunId;
  const mayGoOn = (): boolean => hasClaim && endedWithRun(found.graph);
  if (!isTransactionOpen(found.graph.status) && !(mayGoOn() && (await gate.goesOn(found.run))))
    return `run ${run} has ended`;
  if (hasClaim) return undefined;
  return `run ${run} does not hold cluster ${clusterId}: ${claim === null ? 'no run' : claim.workflowId} does`;
}

interface StoreOrdersParts {
  readonly store: Pick<Store, 'nodeIdentities'>;
  readonly orders: OrderBook;
  readonly logs: Pick<TaskLogs, 'append'>;
  readonly secrets: SecretProvider;
  readonly sources: SourceFiles;
  readonly alarms: Alarms;
}

/**
 * Orders straight from the store, unsigned: for agents in the same process, or on machines that are trusted with the
 * store. What they get is decided as for nodes, which ask the gateway.
 *
 * @returns the source for one node
 */
export function storeOrders({ store, logs, ...parts }: StoreOrdersParts): (caller: Caller) => OrderSource {
  const desk = new OrderDesk({ ...parts, identities: store.nodeIdentities, now: () => new Date() });
  return (caller) => ({
    fetch: (key) => asAgentsKnow(async () => ({ execution: (await desk.order(caller, key)).execution })),
    secret: (ref, key) => asAgentsKnow(() => desk.secret(caller, key, ref)),
    source: (path, key) => asAgentsKnow(() => desk.source(caller, key, path)),
    ship: async (key, chunk) => logs.append(key, chunk),
  });
}

/** Refusals as an agent of the gateway receives them: those that may pass are no refusal. */
async function asAgentsKnow<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal && error.status < 500) throw new OrderRefused(error.message, { cause: error });
    throw error;
  }
}
