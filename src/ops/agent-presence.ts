import { controlQueue, nodeQueue } from '../../workflows/protocol.js';
import { agentAddress } from '../clusters/index.js';
import type { OpsDependencies } from './dependencies.js';

interface AgentCounts {
  readonly online: number;
  readonly offline: number;
  /** Time of the check. */
  readonly at: Date;
}

/** An agent's poll lasts a minute. Temporal lists a poller for five minutes, even after its last poll. */
const POLLED_WITHIN_MS = 90_000;
/** Temporal's number for activity task queues. */
const ACTIVITIES = 2;
const AT_ONCE = 8;

/**
 * Counts the cluster nodes whose agents poll Temporal, using the queue that agents poll even while a task runs. A check
 * is one short call to Temporal per node, a few at a time. It runs on request, in the background, at most once a
 * minute.
 */
export class AgentPresence {
  readonly #deps: Pick<OpsDependencies, 'store' | 'temporal'>;
  readonly #everyMs: number;
  readonly #now: () => number;
  #latest: AgentCounts | undefined;
  #check: Promise<void> | undefined;
  #begunAt = Number.NEGATIVE_INFINITY;

  constructor(
    deps: Pick<OpsDependencies, 'store' | 'temporal'>,
    { everyMs = 60_000, now = Date.now }: { readonly everyMs?: number; readonly now?: () => number } = {},
  ) {
    this.#deps = deps;
    this.#everyMs = everyMs;
    this.#now = now;
  }

  /**
   * The result of the last check; starts a new one if it is old. Undefined if Temporal or the store is unreachable, or
   * before the first check.
   */
  latest(): AgentCounts | undefined {
    void this.check();
    return this.#latest;
  }

  /** Resolves when the current check, if any, has ended. Never fails. */
  check(): Promise<void> {
    if (this.#check !== undefined) return this.#check;
    if (this.#now() - this.#begunAt < this.#everyMs) return Promise.resolve();
    this.#begunAt = this.#now();
    this.#check = this.#count()
      .then(
        (counts) => {
          this.#latest = counts;
        },
        () => {
          this.#latest = undefined;
        },
      )
      .finally(() => {
        this.#check = undefined;
      });
    return this.#check;
  }

  async #count(): Promise<AgentCounts> {
    const at = new Date(this.#now());
    const queues = await this.#queues();
    let online = 0;
    let next = 0;
    const checkNext = async (): Promise<void> => {
      for (let queue = queues[next++]; queue !== undefined; queue = queues[next++])
        if (await this.#isPolled(queue)) online += 1;
    };
    await Promise.all(Array.from({ length: AT_ONCE }, checkNext));
    return { online, offline: queues.length - online, at };
  }

  async #queues(): Promise<string[]> {
    const { clusters, nodes } = this.#deps.store;
    const inventory = await nodes.list();
    const all = await clusters.list();
    return all.flatMap((cluster) => {
      const own = inventory.filter((node) => node.clusterId === cluster.id);
      const sources = { cluster, nodes: own };
      return own.map((node) => {
        const address = agentAddress(sources, node);
        return controlQueue(nodeQueue(address.site, address.node));
      });
    });
  }

  async #isPolled(name: string): Promise<boolean> {
    const { connection, namespace } = this.#deps.temporal;
    const { pollers } = await connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name },
      taskQueueType: ACTIVITIES,
    });
    const oldest = this.#now() - POLLED_WITHIN_MS;
    return (pollers ?? []).some(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 >= oldest);
  }
}
