import type { ControlOrder, Order } from '../agent/index.ts';
import type { ExecutionKey, RunTask } from '../core/task-on-node.ts';
import type { ControlTarget } from './identity/control-statement.ts';
import type { SigningKeys } from './identity/signing-keys.ts';
import { type Caller, OrderDesk, type OrderDeskParts } from './order-desk.ts';

/** How long an order is valid: enough for clocks that are some minutes off. */
const ORDER_LIFE_MS = 15 * 60_000;

export interface HandOutParts extends OrderDeskParts {
  readonly orderKeys: SigningKeys;
}

/** Signs what a node may have, for that node. */
export class HandOut extends OrderDesk {
  readonly #orderKeys: SigningKeys;
  readonly #now: () => Date;

  constructor({ orderKeys, ...desk }: HandOutParts) {
    super(desk);
    this.#orderKeys = orderKeys;
    this.#now = desk.now;
  }

  /** Signs an order for a task. */
  async signedOrder(caller: Caller, key: RunTask): Promise<Order> {
    return this.#orderKeys.sign({ ...(await this.order(caller, key)), notAfter: this.#notAfter() });
  }

  /** Signs an order to cancel a task if an operator requested it. */
  async cancel(caller: Caller, key: ExecutionKey): Promise<string> {
    const order = await this.cancelled(caller, key);
    const { site, node } = caller;
    const { run, task, generation } = key;
    return this.#signControl({ verb: 'cancel', site, node, run, task, generation }, order);
  }

  /** Signs an order to drain a process of a node's agent if an operator requested it, once per request. */
  async drain({ site, node }: Caller, instance: string): Promise<string> {
    const order = await this.drained({ site, node }, instance);
    return this.#signControl({ verb: 'drain', site, node, instance }, order);
  }

  #signControl(target: ControlTarget, { reason, by }: ControlOrder): string {
    const order = {
      reason: reason.slice(0, 1000),
      ...(by === undefined || by === '' ? {} : { by: by.slice(0, 1000) }),
    };
    return this.#orderKeys.signControl({ target, order, notAfter: this.#notAfter() });
  }

  #notAfter(): Date {
    return new Date(this.#now().getTime() + ORDER_LIFE_MS);
  }
}
