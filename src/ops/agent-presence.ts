import { controlQueue, nodeQueue } from '../../workflows/protocol.js';
import { agentAddress } from '../clusters/index.js';
import type { OpsDependencies } from './dependencies.js';

export interface AgentCounts {
  readonly online: number;
  readonly offline: number;
  /** When it was looked. */
  readonly at: Date;
}

/** An agent's poll lasts a minute; Temporal knows of one for five, also when nobody polls any more. */
const POLLED_WITHIN_MS = 90_000;
/** Temporal's word for queues of activities. */
const ACTIVITIES = 2;
const AT_ONCE = 8;

/**
 * How many nodes of clusters have an agent that asks Temporal for work, by the queue on which agents answer also while
 * a task runs. A look is a short call to Temporal for each node, a few at once; it is taken when somebody asks, in the
 * background, and once a minute at most.
 */
export class AgentPresence {
  readonly #deps: Pick<OpsDependencies, 'store' | 'temporal'>;
  readonly #everyMs: number;
  readonly #now: () => number;
  #latest: AgentCounts | undefined;
  #look: Promise<void> | undefined;
  #begunAt = Number.NEGATIVE_INFINITY;

  constructor(
    deps: Pick<OpsDependencies, 'store' | 'temporal'>,
    { everyMs = 60_000, now = Date.now }: { readonly everyMs?: number; readonly now?: () => number } = {},
  ) {
    this.#deps = deps;
    this.#everyMs = everyMs;
    this.#now = now;
  }

  /** What the last look found, and the begin of a new one when that is long ago. Undefined: Temporal or the store is away, or nobody has looked yet. */
  latest(): AgentCounts | undefined {
    void this.look();
    return this.#latest;
  }

  /** Resolves when the look under way, if any, has ended. Never fails. */
  look(): Promise<void> {
    if (this.#look !== undefined) return this.#look;
    if (this.#now() - this.#begunAt < this.#everyMs) return Promise.resolve();
    this.#begunAt = this.#now();
    this.#look = this.#count()
      .then(
        (counts) => {
          this.#latest = counts;
        },
        () => {
          this.#latest = undefined;
        },
      )
      .finally(() => {
        this.#look = undefined;
      });
    return this.#look;
  }

  async #count(): Promise<AgentCounts> {
    const at = new Date(this.#now());
    const queues = await this.#queues();
    let online = 0;
    let next = 0;
    const lookOn = async (): Promise<void> => {
      for (let queue = queues[next++]; queue !== undefined; queue = queues[next++])
        if (await this.#isPolled(queue)) online += 1;
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lookOn));
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
