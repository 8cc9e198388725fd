import { controlQueue, nodeQueue, prefixed } from '../../workflows/protocol.ts';
import { agentAddress } from '../clusters/agent-address.ts';
import type { ClusterFinding } from '../clusters/checks/check-cluster.ts';
import { given } from '../core/data/given.ts';
import { counted } from '../core/text/text.ts';
import type { OpsDependencies } from './dependencies.ts';
import { temporalAddress } from './temporal-address.ts';
import { callTemporal } from './temporal-calls.ts';

/** A node of a cluster, the names by which its agent is started, and whether one is there. */
interface NodeAgentState {
  readonly id: number;
  readonly name: string | null;
  readonly cluster: number;
  readonly site: string;
  readonly node: string;
  readonly online: boolean;
  readonly temporal_url: string | null;
}

interface AgentCounts {
  readonly online: number;
  readonly offline: number;
  /** Time of the check. */
  readonly at: Date;
}

type Watched = Pick<OpsDependencies, 'store' | 'temporal' | 'temporalUiUrl'>;

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
  readonly #deps: Watched;
  readonly #everyMs: number;
  readonly #now: () => number;
  #latest: AgentCounts | undefined;
  #check: Promise<void> | undefined;
  #startedAt = Number.NEGATIVE_INFINITY;

  constructor(
    deps: Watched,
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
    if (this.#now() - this.#startedAt < this.#everyMs) return Promise.resolve();
    this.#startedAt = this.#now();
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
    const agents = await agentStates(this.#deps, {}, this.#now);
    const online = agents.filter((agent) => agent.online).length;
    return { online, offline: agents.length - online, at };
  }
}

/**
 * The agents of the nodes of clusters, as Temporal knows them now. @throws Temporal's failure, if it is unreachable
 */
export async function agentStates(
  deps: Watched,
  { cluster, nodes: wanted }: { readonly cluster?: number; readonly nodes?: readonly number[] } = {},
  now: () => number = Date.now,
): Promise<readonly NodeAgentState[]> {
  const { store, temporal } = deps;
  const queueOf = ({ site, node }: Pick<NodeAgentState, 'site' | 'node'>): string =>
    prefixed(temporal.prefix, nodeQueue(site, node));
  const [all, inventory] = await Promise.all([store.clusters.list(), store.nodes.list(given({ clusterId: cluster }))]);
  const agents = all.flatMap((one) => {
    const own = inventory.filter((node) => node.clusterId === one.id);
    return own
      .filter(({ id }) => wanted?.includes(id) ?? true)
      .map((node) => {
        const address = agentAddress({ cluster: one, nodes: own }, node);
        const temporal_url = temporalAddress(deps, 'task-queues', queueOf(address));
        return { id: node.id, name: node.name, cluster: one.id, ...address, online: false, temporal_url };
      });
  });
  let next = 0;
  const lookAtNext = async (): Promise<void> => {
    for (let agent = agents[next++]; agent !== undefined; agent = agents[next++])
      agent.online = await isPolled(temporal, controlQueue(queueOf(agent)), now);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lookAtNext));
  return agents;
}

async function isPolled(
  { connection, namespace }: OpsDependencies['temporal'],
  name: string,
  now: () => number,
): Promise<boolean> {
  const { pollers } = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name },
    taskQueueType: ACTIVITIES,
  });
  const oldest = now() - POLLED_WITHIN_MS;
  return (pollers ?? []).some(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 >= oldest);
}

/** More nodes than this are not looked at before a run: each costs a call of Temporal. */
const MAX_LOOKED_AT = 200;
const LOOK_LIMIT_MS = 1_500;
const isBare = ({ status, errorType }: { readonly status: string; readonly errorType: string | null }): boolean =>
  status === 'discover' || status === 'provisioning' || errorType === 'provision';

/**
 * A warning for a run on these nodes (default: all of the cluster) where no agent would run its tasks, with the
 * command that starts them. None while Temporal is unreachable, which other answers report.
 */
export async function missingAgents(
  deps: Watched,
  cluster: number,
  nodes?: readonly number[],
): Promise<readonly ClusterFinding[]> {
  const all = await deps.store.nodes.list({ clusterId: cluster });
  // Before it has an operating system, a machine has no agent, and takes no tasks.
  const ready = all.filter((node) => (nodes?.includes(node.id) ?? true) && !isBare(node));
  const looked = ready.slice(0, MAX_LOOKED_AT).map(({ id }) => id);
  if (looked.length === 0) return [];
  const states = await callTemporal(
    deps.temporal,
    () => agentStates(deps, { cluster, nodes: looked }),
    LOOK_LIMIT_MS,
  ).catch(() => []);
  const missing = states.filter(({ online }) => !online);
  if (missing.length === 0) return [];
  const names = missing.slice(0, 3).map(({ id, name }) => name ?? String(id));
  const more = missing.length > names.length ? ` and ${missing.length - names.length} more` : '';
  return [
    {
      severity: 'warning',
      code: 'check.no-agent',
      message: `No agent is running for ${missing.length} of ${counted(states.length, 'node')}: ${names.join(', ')}${more}. Their tasks would wait.`,
      hint: `'sitewright agent run --cluster ${cluster}' starts them on this machine; docs/how-to/agents.md describes how to install them on the nodes.`,
      nodes: missing.map(({ id }) => id),
    },
  ];
}
