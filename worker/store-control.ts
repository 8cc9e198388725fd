import type { ControlJudge } from '../src/agent/index.js';
import type { Store } from '../src/store/index.js';
import { operatorOrders } from './operator-orders.js';

/**
 * For agents that take their orders straight from the store: unsigned ones, so that what Temporal asks for is done, as
 * an operator's `temporal workflow cancel` is. What an operator has said beside it is told with the task's end.
 */
export function storeControl(store: Store): ControlJudge {
  const orders = operatorOrders(store);
  return {
    cancelled: async ({ run }) => (await orders.cancelled(run)) ?? { reason: 'the run asked for its end' },
    drained: async () => ({ reason: 'it was asked for by Temporal' }),
  };
}
