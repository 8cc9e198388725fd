import { type Execution, OrderRefused, type OrderSource, type SecretUse } from '../../src/agent/index.ts';
import type { TaskLogs } from '../../src/agent/logs/task-logs.ts';
import { readTaskOrder, type TaskOrder } from '../../src/clusters/task-order.ts';
import { given } from '../../src/core/data/given.ts';
import type { ExecutionKey } from '../../src/core/task-on-node.ts';
import { isTransactionOpen } from '../../src/core/words.ts';
import type { SecretProvider } from '../../src/platform/secrets/secret-provider.ts';
import { type Store, StoreError } from '../../src/store/index.ts';
import { earlierRuns, graphOfRun } from './graph-of-run.ts';
import type { StartGate } from './start-gate.ts';

interface StoreOrdersParts {
  readonly store: Store;
  readonly logs: TaskLogs;
  readonly secrets: SecretProvider;
  /** Reads a source of `copy_files`. */
  readonly readSource: (path: string) => Promise<Uint8Array>;
  /** `mayStart` is absent for tasks that ask themselves before their first change. */
  readonly gate: Pick<StartGate, 'reopened'> & Partial<StartGate>;
}

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
  gate: Pick<StartGate, 'reopened'>,
  run: string,
): Promise<string | undefined> {
  const found = await graphOfRun(store, run);
  if (found === undefined) return `there is no run ${run} here`;
  const { clusterId, workflowId, temporalRunId } = found.run;
  if (clusterId === null) return `the cluster of run ${run} was deleted`;
  const claim = await store.claims.holder({ cluster: clusterId });
  const hasClaim = claim !== null && claim.workflowId === workflowId && claim.runId === temporalRunId;
  const isOver =
    !isUnderWay(found) && !(hasClaim && (await gate.reopened(found.run)) && isUnderWay(await graphOfRun(store, run)));
  if (isOver) return `run ${run} has ended`;
  if (hasClaim) return undefined;
  return `run ${run} does not hold cluster ${clusterId}: ${claim === null ? 'no run' : claim.workflowId} does`;
}

const isUnderWay = (found: Awaited<ReturnType<typeof graphOfRun>>): boolean =>
  found !== undefined && isTransactionOpen(found.graph.status);

/**
 * Orders straight from the store, unsigned: for agents in the same process, or on machines that are trusted with the
 * store. Agents on nodes ask the gateway.
 */
export function storeOrders({ store, logs, secrets, readSource, gate }: StoreOrdersParts): OrderSource {
  return {
    async fetch(key) {
      try {
        const why = await whyNoneOf(store, gate, key.run);
        if (why !== undefined) throw new OrderRefused(why);
        await gate.mayStart?.(key.run);
        const order = await readTaskOrder(store.plans, key.plan, key.node, key.task);
        const found = await graphOfRun(store, key.run);
        const earlier = found === undefined ? [] : await earlierRuns(store, found, key.task, order.uid);
        return { execution: plannedExecution(order, earlier, key) };
      } catch (error) {
        if (error instanceof StoreError && error.failure.kind === 'not-found')
          throw new OrderRefused(`plan ${key.plan.slice(0, 12)} has no task ${key.task} on node ${key.node}`);
        throw error;
      }
    },
    async secret(ref) {
      const answer = await secrets.read(ref);
      if (answer.kind === 'found') return answer.value;
      throw new OrderRefused(answer.kind === 'absent' ? `there is no secret ${ref}` : answer.message);
    },
    source: (path) => readSource(path),
    ship: async (key, chunk) => logs.append(key, chunk),
  };
}
