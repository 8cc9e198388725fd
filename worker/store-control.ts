import type { ControlJudge } from '../src/agent/index.js';
import type { Alarms } from '../src/gateway/index.js';
import type { Store } from '../src/store/index.js';
import type { AgentNode } from './agent.js';
import { operatorOrders } from './operator-orders.js';

/** Judges what comes by Temporal straight from the store: for agents on machines that are trusted with it. */
export function storeControl(store: Store, alarms: Alarms, { site, node }: AgentNode): ControlJudge {
  const orders = operatorOrders(store);
  const alarm = (kind: string, message: string, details = {}) => alarms({ site, node, kind, message, details });
  return {
    async cancelled({ run, task, generation }) {
      const order = await orders.cancelled(run);
      if (order === undefined)
        await alarm('cancel-not-ordered', 'Temporal has a task cancelled that no operator cancelled here', {
          run,
          task,
          generation,
        });
      return order;
    },
    async drained(_node, instance) {
      const order = await orders.drained(site, node);
      if (order !== undefined) {
        const key = { run: `drain/${site}`, node, task: order.id, generation: 1 };
        const first = await store.nodeIdentities.noteOrder(key, instance, new Date().toISOString());
        if (first === instance) return order;
      }
      await alarm('drain-not-ordered', 'Temporal has the agent drained, and no operator ordered it here');
      return undefined;
    },
  };
}
