import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { startDevServer } from '../../src/platform/temporal/dev-server.ts';
import { lazyConnection } from '../../worker/parts/lazy-connection.ts';
import { nodeQueue } from '../../workflows/protocol.ts';
import { AgentRig } from './agent.ts';
import { type AgentHost, startAgentHost } from './agent-host-process.ts';
import { counted } from './agent-orders.ts';
import { builtProgram } from './program.ts';
import { random } from './random.ts';
import { bundleTestWorkflows } from './workflow-bundle.ts';
import { type CountedTasks, countedTasks } from './workflows/counted-tasks.ts';

export interface ChaosPlan {
  /** Temporal's CLI. */
  readonly binary: string;
  /** Each is served by one of `hosts` processes. */
  readonly nodes: number;
  readonly tasksPerNode: number;
  readonly kills: number;
  readonly seed: number;
  /** Agent processes; default 4. */
  readonly hosts?: number;
  /** Longest pause between two kills in milliseconds; default 1,200. */
  readonly pauseMs?: number;
  /** Called after each kill. */
  readonly report?: (line: string) => void;
}

export interface ChaosResult {
  readonly kills: number;
  readonly killed: Readonly<Record<'agent' | 'worker' | 'server', number>>;
  readonly runs: number;
  readonly tasks: number;
  readonly lost: readonly string[];
  readonly twice: readonly string[];
  readonly notOk: readonly string[];
  readonly seconds: number;
}

/**
 * Runs of counted tasks on many nodes, one run after the other, while agents, the workflow worker and the server (all
 * real processes) are killed at random moments and started again, until there were as many kills as planned.
 */
export async function chaos(plan: ChaosPlan): Promise<ChaosResult> {
  const began = performance.now();
  const rig = new AgentRig();
  const next = random(plan.seed);
  const hostCount = plan.hosts ?? 4;
  const nodes = Array.from({ length: plan.nodes }, (_unused, at) => `n${at + 1}`);
  const { codePath } = await bundleTestWorkflows('test/rig/workflows/counted-tasks.ts');
  const serverOptions = {
    binary: plan.binary,
    databaseFile: join(rig.folder, 'temporal.db'),
    logFile: join(rig.folder, 'temporal.log'),
    uiPort: 'none',
  } as const;
  let server = await startDevServer(serverOptions);
  const { address } = server;
  const port = Number(address.split(':')[1]);
  const connection = lazyConnection(address, 1_000);
  const client = new Client({ connection });

  const startHost = (at: number): Promise<AgentHost> =>
    startAgentHost({
      address,
      nodes: nodes.filter((_node, index) => index % hostCount === at).map((node) => ({ site: 'chaos', node })),
      stateDir: rig.stateDir,
      folder: rig.folder,
      version: '1',
    });
  const startWorker = async (): Promise<ChildProcess> => {
    const [program, path] = builtProgram('test/rig/chaos-worker.ts');
    const order = JSON.stringify({ address, taskQueue: 'chaos', codePath });
    const child = spawn(program, [path, order], { stdio: ['ignore', 'pipe', 'ignore'] });
    await once(child.stdout, 'data');
    return child;
  };
  const hosts = await Promise.all(Array.from({ length: hostCount }, (_unused, at) => startHost(at)));
  let worker = await startWorker();
  const killed = { agent: 0, worker: 0, server: 0 };
  const kill = async (): Promise<void> => {
    const draw = next();
    if (draw < 0.6) {
      const at = Math.floor(next() * hostCount);
      await hosts[at]!.kill();
      hosts[at] = await startHost(at);
      killed.agent += 1;
    } else if (draw < 0.85) {
      worker.kill('SIGKILL');
      await once(worker, 'exit');
      worker = await startWorker();
      killed.worker += 1;
    } else {
      process.kill(server.pid, 'SIGKILL');
      await server.stop();
      server = await startDevServer({ ...serverOptions, port });
      killed.server += 1;
    }
  };

  const [lost, twice, notOk]: [string[], string[], string[]] = [[], [], []];
  let [kills, runs] = [0, 0];
  try {
    while (kills < plan.kills) {
      runs += 1;
      const run = `r${runs}`;
      const tasks = Array.from({ length: plan.tasksPerNode }, (_unused, at) => `${run}-t${at + 1}`);
      const input: CountedTasks = {
        run,
        nodes: nodes.map((node) => ({ node, queue: nodeQueue('chaos', node) })),
        tasks,
        heartbeatMs: 3_000,
        scheduleToStartMs: 120_000,
      };
      const handle = await client.workflow.start(countedTasks, { taskQueue: 'chaos', workflowId: run, args: [input] });
      let isOver = false;
      const result = handle.result().finally(() => {
        isOver = true;
      });
      while (kills < plan.kills && !isOver) {
        await Promise.race([delay(next() * (plan.pauseMs ?? 1_200)), result]);
        if (isOver) break;
        await kill();
        kills += 1;
        plan.report?.(`${kills} kills (${JSON.stringify(killed)}), run ${runs}`);
      }
      const ends = await result;
      for (const node of nodes) {
        const done = counted(rig.folder, node);
        for (const task of tasks) {
          const times = done.filter((name) => name === task).length;
          if (times === 0) lost.push(`${task}@${node}`);
          if (times > 1) twice.push(`${task}@${node}`);
          const end = ends[`${task}@${node}`];
          if (end?.outcome !== 'success') notOk.push(`${task}@${node}: ${JSON.stringify(end)}`);
        }
      }
    }
  } finally {
    for (const host of hosts) await host.kill();
    worker.kill('SIGKILL');
    await connection.close();
    await server.stop();
    rig.tidy();
  }
  const seconds = Math.round((performance.now() - began) / 1000);
  return { kills, killed, runs, tasks: runs * plan.nodes * plan.tasksPerNode, lost, twice, notOk, seconds };
}
