import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import {
  type ControlJudge,
  folderName,
  type NodeAgentOptions,
  type OrderSource,
  type Verifier,
} from '../../src/agent/index.ts';
import { TaskLogs } from '../../src/agent/output/task-logs.ts';
import { createLogger } from '../../src/platform/telemetry/log.ts';
import { type AgentNode, type RunningAgents, startAgents } from '../../worker/parts/agent.ts';
import { nodeQueue } from '../../workflows/protocol.ts';
import { AgentRig } from './agent.ts';
import { type AgentHost, type AgentHostOrder, startAgentHost } from './agent-host-process.ts';
import { counted, countedOrders, obeysTemporal } from './agent-orders.ts';
import { supervisorProgram } from './program.ts';
import { type RunningWorker, type TemporalRig, temporalRig } from './temporal.ts';
import { bundleTestWorkflows } from './workflow-bundle.ts';
import { type CountedTasks, countedTasks } from './workflows/counted-tasks.ts';

const quiet = createLogger({ level: 'silent', format: 'json' }, 'agent');

/** A test's own site of node agents, with the smallest workflow that drives them. */
export class AgentSite {
  readonly rig = new AgentRig();
  readonly folder = this.rig.folder;
  readonly logs = new TaskLogs({ folder: join(this.folder, 'logs') });
  readonly temporal: TemporalRig;
  readonly #worker: RunningWorker;
  readonly #agents = new Set<RunningAgents>();
  readonly #hosts = new Set<AgentHost>();
  readonly #gates: number[] = [];
  /** A unique name: queues are shared by all tests. */
  readonly site: string;

  private constructor(temporal: TemporalRig, worker: RunningWorker) {
    this.temporal = temporal;
    this.#worker = worker;
    this.site = temporal.workflowId('site');
  }

  /** @param address of a server of the test's own; default: the shared one */
  static async open(address?: string): Promise<AgentSite> {
    const temporal = await temporalRig(address === undefined ? {} : { address });
    const { codePath } = await bundleTestWorkflows('test/rig/workflows/counted-tasks.ts');
    return new AgentSite(temporal, await temporal.runWorker({ workflowBundle: { codePath } }));
  }

  /** The journals of this site's agents. */
  get stateDir(): string {
    return join(this.rig.stateDir, folderName(this.site));
  }

  async close(): Promise<void> {
    for (const host of this.#hosts)
      if (host.child.exitCode === null && host.child.signalCode === null) await host.kill();
    for (const agents of this.#agents) await agents.stop();
    await this.#worker.stop();
    await this.temporal.close();
    for (const gate of this.#gates) closeSync(gate);
    this.rig.tidy();
  }

  names(count: number): string[] {
    return Array.from({ length: count }, (_unused, at) => `n${at + 1}`);
  }

  node(node: string): AgentNode {
    return { site: this.site, node };
  }

  settings(address = this.temporal.address) {
    return {
      temporal: { address, namespace: 'default', task_queue: 'unused' },
      agent: { state_dir: this.rig.stateDir, keep_days: 14 },
    };
  }

  orders(more: Partial<OrderSource> = {}): OrderSource {
    return countedOrders(this.folder, more);
  }

  /** Agents in this process. */
  async agents(
    nodes: readonly string[],
    options: {
      readonly orders?: OrderSource;
      readonly verify?: Verifier;
      /** Default: everything that Temporal requests was ordered. */
      readonly control?: ControlJudge;
      readonly version?: string;
      readonly logPatienceMs?: number;
      readonly agent?: Partial<NodeAgentOptions>;
    } = {},
  ): Promise<RunningAgents> {
    const { orders = this.orders(), verify, control = obeysTemporal, version = '1', logPatienceMs } = options;
    const agents = await startAgents(
      this.settings(),
      nodes.map((node) => this.node(node)),
      quiet,
      {
        ordersOf: () => ({ orders, control, ...(verify === undefined ? {} : { verify }) }),
        version,
        agent: { supervisorCommand: supervisorProgram(), ...options.agent },
        ...(logPatienceMs === undefined ? {} : { logPatienceMs }),
      },
    );
    this.#agents.add(agents);
    return agents;
  }

  /** Agents in a separate process, which a test may kill. Their remains end with the site. */
  async host(
    nodes: readonly string[],
    more: Partial<AgentHostOrder> = {},
    options: { readonly env?: Readonly<Record<string, string>>; readonly inside?: readonly string[] } = {},
  ): Promise<AgentHost> {
    const started = await startAgentHost(
      {
        address: this.temporal.address,
        nodes: nodes.map((node) => this.node(node)),
        stateDir: this.rig.stateDir,
        folder: this.folder,
        version: '1',
        ...more,
      },
      options.env,
      options.inside,
    );
    this.#hosts.add(started);
    return started;
  }

  /** The script of a task after it was counted; default: it prints a line. */
  script(task: string, text: string): void {
    mkdirSync(join(this.folder, 'scripts'), { recursive: true });
    writeFileSync(join(this.folder, 'scripts', `${task}.sh`), text);
  }

  /** A script that has started (`started`) and waits until `open` is called, on as many nodes as run it. */
  gate(task: string, after = ''): { readonly started: () => Promise<void>; readonly open: () => void } {
    const [started, fifo] = [join(this.folder, `${task}.started`), join(this.folder, `${task}.fifo`)];
    spawnSync('mkfifo', [fifo]);
    // Open for both, so that neither side waits for the other to open it.
    const gate = openSync(fifo, 'r+');
    this.#gates.push(gate);
    this.script(task, `echo before\ntouch ${started}\nread line < ${fifo}\necho after\n${after}`);
    // A line for each that waits or comes later.
    return { started: () => eventually(() => existsSync(started)), open: () => writeSync(gate, '\n'.repeat(10_000)) };
  }

  counted(node: string): string[] {
    return counted(this.folder, node);
  }

  async start(
    input: Partial<CountedTasks> & { readonly nodes: CountedTasks['nodes']; readonly tasks: readonly string[] },
  ) {
    return await this.temporal.client.workflow.start(countedTasks, {
      taskQueue: this.temporal.taskQueue,
      workflowId: this.temporal.workflowId('counted'),
      args: [{ run: 'r1', heartbeatMs: 3_000, scheduleToStartMs: 60_000, ...input }],
    });
  }

  /** The answer of a node's control queue. */
  async control(verb: 'ping' | 'drain', queue: string, node: string): Promise<unknown> {
    return await this.temporal.client.workflow.execute('askControl', {
      taskQueue: this.temporal.taskQueue,
      workflowId: this.temporal.workflowId(verb),
      args: [verb, queue, node],
    });
  }

  queues(nodes: readonly string[]): CountedTasks['nodes'] {
    return nodes.map((node) => ({ node, queue: nodeQueue(this.site, node) }));
  }

  /** All of a stream that is in the log store. */
  async logged(task: string, node: string, stream: 'stdout' | 'stderr' = 'stdout'): Promise<string> {
    const parts: Buffer[] = [];
    for await (const part of this.logs.read({ run: 'r1', task, node, generation: 1 }, stream))
      if (part.kind === 'output') parts.push(Buffer.from(part.bytes));
    return Buffer.concat(parts).toString();
  }
}

/** Until the server has noticed that a follower has died and asks for another. */
export const askedAgain = async (run: WorkflowHandle): Promise<void> =>
  eventually(async () => {
    const { raw } = await run.describe();
    return raw.pendingActivities?.some(({ attempt }) => (attempt ?? 0) > 1) === true;
  });

/** Polls until an external condition holds: files and processes send no events. */
export async function eventually(fits: () => boolean | Promise<boolean>, limitMs = 120_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await fits())) {
    if (performance.now() > end) throw new Error(`never came true: ${fits.toString()}`);
    await delay(25);
  }
}
