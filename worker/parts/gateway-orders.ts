import { OrderRefused } from '../../src/agent/index.ts';
import { readTaskOrder } from '../../src/clusters/task-order.ts';
import type { ExecutionKey } from '../../src/core/task-on-node.ts';
import type { OrderBook, PlannedTask } from '../../src/gateway/index.ts';
import { type Store, StoreError, type TaskHistoryRow } from '../../src/store/index.ts';
import { earlierRuns, graphOfRun } from './graph-of-run.ts';
import { operatorOrders } from './operator-orders.ts';
import type { SigningGate, StartGate } from './start-gate.ts';
import { plannedExecution, whyNoneOf } from './store-orders.ts';

/** The order book of the gateway, from plans, runs and histories in the store. */
export function storeOrderBook(store: Store, gate: SigningGate): OrderBook {
  return {
    find: (key) => found(() => findTask(store, gate, key)),
    mayStart: (run) => gate.mayStart(run),
    async hasStarted({ run, task, generation }, uid) {
      const found = await graphOfRun(store, run);
      return found !== undefined && (await gate.hasStarted(found.run, task, uid, generation));
    },
    ...operatorOrders(store),
  };
}

async function findTask(
  store: Store,
  gate: StartGate,
  key: Pick<ExecutionKey, 'run' | 'task' | 'node'>,
): Promise<PlannedTask | undefined> {
  const found = await graphOfRun(store, key.run);
  if (found === undefined) return undefined;
  const { id, planHash, mode, debug } = found.graph;
  if (planHash === null || mode === 'dry_run') return undefined;
  const order = await readTaskOrder(store.plans, planHash, key.node, key.task);
  const [row] = await store.taskHistory.list(id, { nodes: [order.uid], tasks: [key.task] });
  const earlier = await earlierRuns(store, found, key.task, order.uid);
  const { generation: _, ...execution } = plannedExecution(order, earlier, {
    ...key,
    generation: 1,
    mode: mode === 'noop_run' ? 'noop' : 'apply',
    ...(debug ? { debug: true as const } : {}),
  });
  return {
    site: order.site,
    uid: order.uid,
    plan: planHash,
    closed: await whyNoneOf(store, gate, key.run),
    execution,
    latest: { generation: row?.attempts ?? 0, state: stateOf(row) },
  };
}

function stateOf(row: TaskHistoryRow | undefined): PlannedTask['latest']['state'] {
  switch (row?.status) {
    case 'success':
      return 'success';
    case 'failed':
    case 'ignored':
    case 'blocked':
    case 'not_reached':
    case 'skipped':
      return 'failed';
    case 'retrying':
      return 'retry';
    case 'waiting':
      // It waits again after an attempt: another attempt was requested.
      return row.attempts > 0 ? 'retry' : 'open';
    case 'running':
    case undefined:
      return 'open';
  }
}

async function found<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OrderRefused) return undefined;
    if (error instanceof StoreError && error.failure.kind === 'not-found') return undefined;
    throw error;
  }
}
