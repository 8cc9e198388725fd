import type { ControlJudge } from '../src/agent/index.ts';
import type { Store } from '../src/store/index.ts';
import { operatorOrders } from './operator-orders.ts';

/**
 * For agents that read their unsigned orders directly from the store. They obey every request from Temporal, also an
 * operator's `temporal workflow cancel`. If an operator gave a reason, it is recorded with the task's result.
 */
export function storeControl(store: Store): ControlJudge {
  const orders = operatorOrders(store);
  return {
    cancelled: async ({ run }) => (await orders.cancelled(run)) ?? { reason: 'the run requested it' },
    drained: async () => ({ reason: 'Temporal requested it' }),
  };
}
