// Measures what busy agents cost the Temporal server: `node bench/busy-agents.ts [agents=1000] [seconds=150] [heartbeat limit=140]`. Each agent
// has a task that prints a line every ten seconds and does not end. Starts a dev server with the flags of
// src/platform/temporal/dev-server.ts and its metrics; counts its writes (requests to its persistence that change something)
// and its CPU time, first with idle agents, then with busy ones. Copy the result to bench/agents-results.md.
import './bounded.ts';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import type { FollowEvent } from '../src/agent/index.ts';
import { freePort } from '../src/platform/free-port.ts';
import { createLogger } from '../src/platform/telemetry/log.ts';
import { devServerArguments } from '../src/platform/temporal/dev-server.ts';
import { probeServer } from '../src/platform/temporal/probe.ts';
import { countedOrders, obeysTemporal } from '../test/rig/agent-orders.ts';
import { bundleTestWorkflows } from '../test/rig/workflow-bundle.ts';
import { countedTasks } from '../test/rig/workflows/counted-tasks.ts';
import { startAgents } from '../worker/parts/agent.ts';
import { installRuntime } from '../worker/parts/runtime.ts';
import { nodeQueue } from '../workflows/protocol.ts';
import { temporalBinary } from './dev-server.ts';
import { processorSeconds } from './processes.ts';
import { stubHost } from './stub-host.ts';

const [agents = 1_000, seconds = 150, limit = 140] = process.argv.slice(2).map(Number);
/** Nodes of one workflow, as in a part of a graph. */
const NODES = 50;

const binary = await temporalBinary();
const folder = mkdtempSync(join(tmpdir(), 'sitewright-busy-'));
const [port, metrics] = [await freePort(), await freePort()];
const databaseFile = join(folder, 'temporal.db');
const server = spawn(binary, [...devServerArguments({ databaseFile }, { port }), '--metrics-port', String(metrics)], {
  stdio: 'ignore',
});
const address = `127.0.0.1:${port}`;
while ((await probeServer(address, { namespace: 'default', limitMs: 5_000 })).status !== 'ready') await delay(200);

/** CPU seconds of the server, and its writes. */
async function used(): Promise<{ cpu: number; writes: number; heartbeats: number }> {
  const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  const sum = (line: RegExp) =>
    text
      .split('\n')
      .filter((one) => line.test(one))
      .reduce((total, one) => total + Number(one.slice(one.lastIndexOf(' '))), 0);
  return {
    cpu: processorSeconds(server.pid!),
    writes: sum(/^persistence_requests\{.*operation="(Update|Create|Complete|Append|Add|Delete|Upsert|Range)/),
    heartbeats: sum(/^service_requests\{.*operation="RecordActivityTaskHeartbeat".*service_name="frontend"/),
  };
}

async function rates() {
  const before = await used();
  await delay(seconds * 1000);
  const after = await used();
  const each = (name: 'cpu' | 'writes' | 'heartbeats') => (after[name] - before[name]) / seconds;
  return {
    cpu_percent_of_a_core: Math.round(each('cpu') * 1000) / 10,
    writes_per_second: Math.round(each('writes') * 10) / 10,
    heartbeats_per_second: Math.round(each('heartbeats') * 10) / 10,
  };
}

/** A task that prints and does not end. */
async function* endless(stop?: AbortSignal): AsyncGenerator<FollowEvent> {
  yield { kind: 'progress', progress: { phase: 'running', sessions: [], tries: [] } };
  for (let offset = 0; stop?.aborted !== true; offset += 5) {
    await delay(10_000, undefined, stop === undefined ? {} : { signal: stop }).catch(() => undefined);
    yield { kind: 'output', stream: 'stdout', offset, bytes: Buffer.from('line\n') };
  }
}

const nodes = Array.from({ length: agents }, (_unused, at) => ({ site: 'busy', node: `n${at}` }));
const orders = countedOrders(folder, { ship: async () => undefined });
const log = createLogger({ level: 'silent', format: 'json' }, 'agent');
installRuntime(log, false);
const client = new Client({ connection: await Connection.connect({ address }) });
const { codePath } = await bundleTestWorkflows('test/rig/workflows/counted-tasks.ts');
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({ connection, taskQueue: 'busy', workflowBundle: { codePath } });
void worker.run();
const running = await startAgents(
  { temporal: { address, namespace: 'default' } as never, agent: { state_dir: folder, keep_days: 14 } },
  nodes,
  log,
  {
    ordersOf: () => ({ orders, control: obeysTemporal }),
    version: '1',
    hostOf: ({ node }) => stubHost(node, (_key, _from, stop) => endless(stop)),
  },
);
await delay(15_000);
const idle = await rates();
for (let at = 0; at < agents; at += NODES) {
  const part = nodes.slice(at, at + NODES).map(({ site, node }) => ({ node, queue: nodeQueue(site, node) }));
  await client.workflow.start(countedTasks, {
    taskQueue: 'busy',
    workflowId: `busy-${at}`,
    args: [{ run: 'r', nodes: part, tasks: ['endless'], heartbeatMs: limit * 1000, scheduleToStartMs: 600_000 }],
  });
}
await delay(Math.max(30_000, 1_500 * limit));
const load = loadavg()[0];
console.log(JSON.stringify({ agents, seconds, limit, load, idle, busy: await rates() }));
server.kill('SIGKILL');
await Promise.race([running.stop(), delay(2_000)]);
rmSync(folder, { recursive: true, force: true });
process.exit(0);
