import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ActivityNotFoundError, AsyncCompletionClient, type AsyncCompletionClientOptions } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { Worker, WorkerOptions } from '@temporalio/worker';
import type { RunTask } from '../../activities/graph-contract.ts';
import {
  agentGone,
  type Followed,
  nodeControlActivities,
  nodeTaskActivities,
  type WorkHere,
} from '../../activities/node/task.ts';
import { plainFailures } from '../../activities/plain-failures.ts';
import {
  type ControlJudge,
  type ExecutionHost,
  folderName,
  NodeAgent,
  type NodeAgentOptions,
  type NodeFacts,
  type OrderSource,
  type RaiseAlarm,
  type Verifier,
} from '../../src/agent/index.ts';
import { given } from '../../src/core/data/given.ts';
import { keepMemoryOutOfCoreDumps } from '../../src/platform/secrets/core-dumps.ts';
import type { Settings } from '../../src/platform/settings/settings.ts';
import type { Logger } from '../../src/platform/telemetry/log.ts';
import type { Traces } from '../../src/platform/telemetry/traces.ts';
import { connectionOptions, type ServerSettings } from '../../src/platform/temporal/connection-options.ts';
import { followCredentials } from '../../src/platform/temporal/follow-credentials.ts';
import { controlQueue, nodeQueue, prefixed } from '../../workflows/protocol.ts';
import { encryptionOf } from './encryption.ts';
import { NativeLink } from './native-link.ts';
import { traceActivities } from './traces.ts';
import { connectWhenAvailable } from './when-available.ts';

/** A node whose tasks this process runs. */
export interface AgentNode {
  readonly site: string;
  readonly node: string;
}

/** The executor of the tasks of one node. */
export interface NodeHost extends ExecutionHost {
  facts(): NodeFacts | Promise<NodeFacts>;
  /** Ends executions that lost their supervisor. Returns lines for the log. */
  recover(): Promise<readonly string[]>;
  /** Deletes executions that ended before a moment. */
  forgetBefore(moment: Date): void | Promise<void>;
}

export interface StartAgentsOptions {
  /** Where each node's agent gets its orders, and how it verifies them and requests from Temporal. */
  readonly ordersOf: (node: AgentNode) => {
    readonly orders: OrderSource;
    readonly verify?: Verifier;
    readonly control: ControlJudge;
    /** Reports refused orders to the orchestrator. Default: the log of this process only. */
    readonly alarm?: RaiseAlarm;
  };
  readonly version: string;
  /** Default: an agent on this machine. Benches count without one. */
  readonly hostOf?: (node: AgentNode, orders: OrderSource) => NodeHost;
  /**
   * Task types that this process has in addition to the agents' own. With them it runs many tasks of a queue concurrently.
   */
  readonly further?: {
    readonly types: readonly string[];
    readonly run: (request: RunTask) => WorkHere | undefined;
  };
  /** Records tasks as spans of the traces of their runs. */
  readonly traces?: Traces;
  /** Encrypts payloads. */
  readonly dataConverter?: DataConverter;
  /** Overrides the settings and the defaults of `NodeAgent`, for tests and small sites. */
  readonly agent?: Partial<NodeAgentOptions>;
  /** Milliseconds for which the log store may be unavailable at a task's end. */
  readonly logPatienceMs?: number;
}

/** The settings that agents use. */
interface AgentSettings {
  readonly temporal: ServerSettings & Pick<Settings['temporal'], 'namespace' | 'prefix' | 'encryption_key_file'>;
  readonly agent: Pick<Settings['agent'], 'state_dir' | 'keep_days'>;
}

/** The agents of one process. */
export interface RunningAgents {
  /** Resolves when all have stopped or been drained. Rejects if one fails. */
  readonly done: Promise<void>;
  /** Serves another node. Do not call it after `stop`. */
  add(node: AgentNode): Promise<void>;
  /** Accepts no new tasks and leaves running ones to their supervisors. May be called more than once. */
  stop(): Promise<void>;
}

/** Many, because such tasks only wait for MAAS. */
const FURTHER_SLOTS = 100;

/** A stuck server must not keep systemd waiting. */
const FORCE_AFTER = '10 seconds';

/**
 * Serves the queues of nodes from one process, over one connection. Each node has a queue with one task at a time, and
 * a control queue that answers meanwhile. Waits for the server if it is unavailable.
 *
 * @param stop stops waiting for the server
 */
export async function startAgents(
  settings: AgentSettings,
  nodes: readonly AgentNode[],
  log: Logger,
  options: StartAgentsOptions,
  stop?: AbortSignal,
): Promise<RunningAgents> {
  // Secrets of tasks pass through this process.
  keepMemoryOutOfCoreDumps();
  const server = connectionOptions(settings.temporal);
  const link = await connectWhenAvailable(() => NativeLink.connect(server), server.address, log, stop);
  const endFollowing = followCredentials(settings.temporal, [link], log);
  const served: ServedNode[] = [];
  const shutDown = () => {
    for (const node of served) node.shutDown();
  };
  let resolveEnd: () => void = () => undefined;
  let rejectEnd: (error: unknown) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    resolveEnd = resolve;
    rejectEnd = reject;
  });
  let open = 0;
  const add = async (wanted: AgentNode): Promise<void> => {
    const node = await serveNode(link, settings, wanted, log, options);
    served.push(node);
    open += 1;
    node.done.then(
      () => {
        open -= 1;
        if (open === 0) resolveEnd();
      },
      (error: unknown) => {
        rejectEnd(error);
        shutDown();
      },
    );
  };
  const finish = async () => {
    endFollowing();
    await Promise.allSettled(served.map(({ done }) => done));
    await link.close();
  };
  try {
    await Promise.all(nodes.map(add));
  } catch (error) {
    shutDown();
    await finish();
    throw error;
  }
  log.info({ nodes: nodes.length, address: settings.temporal.address }, 'agents are polling');
  const done = ended.finally(finish);
  done.catch(() => undefined);
  return {
    done,
    add,
    async stop() {
      shutDown();
      resolveEnd();
      await done;
    },
  };
}

interface ServedNode {
  readonly done: Promise<void>;
  shutDown(): void;
}

const hostOf = (
  { site, node }: AgentNode,
  orders: OrderSource,
  settings: AgentSettings,
  options: StartAgentsOptions,
): NodeHost =>
  new NodeAgent({
    node,
    // Nodes of two sites may have the same name.
    stateDir: join(settings.agent.state_dir, folderName(site)),
    resolveSecret: (ref, key) => orders.secret(ref, key),
    readSource: (path, key) => orders.source(path, key),
    ...options.agent,
  });

/** What both workers of a node have. */
const workerOptionsOf = (settings: AgentSettings, { dataConverter, traces }: StartAgentsOptions) =>
  ({
    namespace: settings.temporal.namespace,
    ...encryptionOf(settings),
    ...given({ dataConverter }),
    interceptors: { activity: [plainFailures, ...traceActivities(traces)] },
    maxConcurrentActivityTaskPolls: 1,
    // A heartbeat that the run asks for does not wait.
    maxHeartbeatThrottleInterval: '2 seconds',
    // Tasks have supervisors, so a stopping agent does not wait for them.
    shutdownGraceTime: 0,
    shutdownForceTime: FORCE_AFTER,
  }) satisfies Partial<WorkerOptions>;

function shutDown(worker: Pick<Worker, 'getState' | 'shutdown'>): void {
  if (worker.getState() === 'RUNNING') worker.shutdown();
}

async function serveNode(
  link: NativeLink,
  settings: AgentSettings,
  { site, node }: AgentNode,
  log: Logger,
  options: StartAgentsOptions,
): Promise<ServedNode> {
  const { orders, verify, control: judge, alarm } = options.ordersOf({ site, node });
  const agent = options.hostOf?.({ site, node }, orders) ?? hostOf({ site, node }, orders, settings, options);
  for (const line of await agent.recover()) log.warn({ site, node }, line);
  const forgetting = startForgetting(agent, settings.agent.keep_days, log);
  const shared = workerOptionsOf(settings, options);
  const queue = prefixed(settings.temporal.prefix, nodeQueue(site, node));
  const leaving = new AbortController();
  const attempt = join(settings.agent.state_dir, folderName(site), `${folderName(node)}.attempt`);
  const { namespace, dataConverter } = shared;
  const server = { connection: link.connection, namespace, ...(dataConverter && { dataConverter }) };
  void returnAttempt(attempt, server, leaving.signal);
  const followed: Followed = new Map();
  const tasks = await link.createWorker({
    ...shared,
    taskQueue: queue,
    maxConcurrentActivityTaskExecutions: options.further === undefined ? 1 : FURTHER_SLOTS,
    activities: nodeTaskActivities({
      node,
      agent,
      orders,
      control: judge,
      leaving: leaving.signal,
      followed,
      // Of the many of a worker, the server notices missing heartbeats soon.
      ...(options.further === undefined ? { taken: (token) => noteAttempt(attempt, token) } : {}),
      alarm: async (kind, message, key) => {
        log.warn({ site, ...key, kind }, `an order is refused: ${message}`);
        await alarm?.(kind, message, key);
      },
      ...given({ verify, further: options.further?.run, logPatienceMs: options.logPatienceMs }),
    }),
  });
  const endTasks = () => {
    // A task with a refused cancellation from Temporal would not notice the shutdown.
    leaving.abort();
    shutDown(tasks);
  };
  const endControl = () => shutDown(control);
  const control = await link.createWorker({
    ...shared,
    // Leaves time to send the answer to a drain.
    shutdownGraceTime: '2 seconds',
    taskQueue: controlQueue(queue),
    maxConcurrentActivityTaskExecutions: 2,
    activities: nodeControlActivities({
      node,
      agent,
      version: options.version,
      control: judge,
      followed,
      instance: randomUUID(),
      ...(options.further === undefined ? {} : { taskTypes: options.further.types }),
      drain: async () => {
        log.info({ site, node }, 'agent is drained');
        endTasks();
        await tasksDone;
        setImmediate(endControl);
      },
    }),
  });
  const tasksDone = tasks.run();
  const done = Promise.all([tasksDone, control.run()])
    .then(() => undefined)
    .finally(() => clearInterval(forgetting));
  return {
    done,
    shutDown: () => {
      endTasks();
      endControl();
    },
  };
}

const DAY_MS = 24 * 60 * 60 * 1000;

function startForgetting(agent: NodeHost, keepDays: number, log: Logger): NodeJS.Timeout {
  const forget = async () => {
    try {
      await agent.forgetBefore(new Date(Date.now() - keepDays * DAY_MS));
    } catch (error) {
      log.warn({ error: String(error) }, 'old journals could not be deleted');
    }
  };
  void forget();
  return setInterval(() => void forget(), DAY_MS / 4).unref();
}

/** A server that is unreachable for longer has noticed by itself that the attempt has no heartbeats. */
const MAX_TRIES = 60;

/** Takes note of the attempt that a node has, for the agent that comes next. A disk without space must not end a task. */
function noteAttempt(file: string, token: Uint8Array): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, token, { mode: 0o600 });
  } catch {
    // The server notices missing heartbeats.
  }
}

/**
 * Gives the attempt that an earlier agent of the node had back to the server, which then reschedules it immediately, to be followed:
 * without this it waits until the limit of heartbeats is over. One that has ended, or was sent again, is not known any more.
 */
async function returnAttempt(file: string, options: AsyncCompletionClientOptions, stop: AbortSignal): Promise<void> {
  if (!existsSync(file)) return;
  const token = readFileSync(file);
  const client = new AsyncCompletionClient(options);
  for (let tries = 1; tries <= MAX_TRIES && !stop.aborted; tries += 1) {
    try {
      return await client.fail(token, agentGone());
    } catch (error) {
      if (error instanceof ActivityNotFoundError) return;
      await delay(1_000, undefined, { signal: stop }).catch(() => undefined);
    }
  }
}
