/**
 * Executes the real plan (recorded library, cluster extended to NODES) with agents that end every task immediately. In
 * turn, on the same server, agents and workers, it runs two minimal workflow sets with the same number of empty
 * activities, children and nodes: one with a chain per node, one with all activities concurrent. Rates depend on other
 * load on the machine, so it also reports processor seconds of this process and of the server, and workflow tasks.
 * Usage: node bench/graph.ts [nodes [rounds [tasks of a child at most]]]
 */
import './bounded.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { statusSinks } from '../activities/index.ts';
import { ensureSearchAttributes } from '../src/platform/temporal/search-attributes.ts';
import { bundleWorkflows } from '../worker/parts/workflow-bundle.ts';
import { sideQueue } from '../workflows/protocol.ts';
import { startBenchServer } from './dev-server.ts';
import { type HistorySize, historySizes } from './history-sizes.ts';
import { processorSeconds } from './processes.ts';
import { executionOf } from './recorded-execution.ts';
import { recordedRun } from './recorded-run.ts';

const nodes = Number(process.argv[2] ?? 200);
const rounds = Number(process.argv[3] ?? 3);
const root = fileURLToPath(new URL('..', import.meta.url));

const run = recordedRun(nodes, 'noop_run');
const { graph } = run;
const work = graph.noWork.filter((none) => none === 0).length;
const queueOf = (id: string): string => `node.bench.${id}`;
const { split, reference, activities, recorded } = executionOf(
  run,
  queueOf,
  process.argv[4] === undefined ? undefined : Number(process.argv[4]),
);
/** Number of activities in the chain of each node, by child of the minimal set. */
const bare = split.parts.map((part) =>
  part.nodes.flatMap((id, n) => {
    const tasks = part.nodeOf.filter((node, task) => node === n && part.noWork[task] === 0).length;
    return part.sync[n] === 1 || tasks === 0 ? [] : [{ queue: queueOf(id), tasks }];
  }),
);

const folder = await mkdtemp(join(tmpdir(), 'sitewright-bench-'));
Runtime.install({ logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error } });
const server = await startBenchServer(folder);
const connection = await Connection.connect({ address: server.address });
const native = await NativeConnection.connect({ address: server.address });
const client = new Client({ connection });
await ensureSearchAttributes(connection, 'default');
const bundle = await bundleWorkflows({
  entry: join(root, 'bench/graph-workflows.ts'),
  sources: ['bench/graph-workflows.ts', 'workflows', 'src/core'].map((path) => join(root, path)),
  root,
  target: join(root, 'node_modules/.cache/sitewright/bench-graph.js'),
});
const sinks = statusSinks({ show: async () => undefined });
const workers: Worker[] = [];
for (const id of graph.nodes.filter((_id, n) => graph.sync[n] === 0)) {
  workers.push(
    await Worker.create({
      connection: native,
      taskQueue: queueOf(id),
      maxConcurrentActivityTaskExecutions: 1,
      maxConcurrentActivityTaskPolls: 1,
      activities: { run_task: async () => ({ outcome: 'success' }), empty: async () => {} },
    }),
  );
}
for (const taskQueue of ['sitewright', sideQueue('sitewright', 'parts')]) {
  const workflowBundle = { codePath: bundle.codePath };
  workers.push(
    await Worker.create({ connection: native, taskQueue, workflowBundle, activities, sinks, maxCachedWorkflows: 100 }),
  );
}
const running = workers.map((worker) => worker.run());

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

interface Timed {
  readonly id: string;
  readonly seconds: number;
  readonly rate: number;
  readonly load: number;
  /** Processor seconds of this process, which runs workers, workflows and agents, and of the server. */
  readonly worker: number;
  readonly server: number;
}

async function timed(type: string, input: object, tasks = work): Promise<Timed> {
  const id = `${type}:${Date.now()}`;
  const from = performance.now();
  const before = { worker: processorSeconds(process.pid), server: processorSeconds(server.pid) };
  const handle = await client.workflow.start(type, { taskQueue: 'sitewright', workflowId: id, args: [input] });
  await handle.result();
  const seconds = (performance.now() - from) / 1000;
  const worker = processorSeconds(process.pid) - before.worker;
  const ofServer = processorSeconds(server.pid) - before.server;
  const load = loadavg()[0]!;
  console.error(
    `${type}${'shape' in input ? ` ${input.shape}` : ''}: ${seconds.toFixed(1)} s, ${Math.round(tasks / seconds)} a second, processor ${worker.toFixed(1)} + ${ofServer.toFixed(1)} s, load ${load.toFixed(1)}`,
  );
  return { id, seconds, rate: tasks / seconds, load, worker, server: ofServer };
}

try {
  // Queues are created on first use: keep that out of the measurement.
  const once = bare.map((part) => part.map(({ queue }) => ({ queue, tasks: 1 })));
  await timed('bare_set', { parts: once, shape: 'chains' }, once.flat().length);
  const ours: Timed[] = [];
  const theirs: Timed[] = [];
  const atOnce: Timed[] = [];
  for (let round = 0; round < rounds; round++) {
    theirs.push(await timed('bare_set', { parts: bare, shape: 'chains' }));
    ours.push(await timed('execute_graph', { cluster: 1, mode: 'noop_run' }));
    atOnce.push(await timed('bare_set', { parts: bare, shape: 'at_once' }));
  }
  const children = reference.parts.map((_part, at) => at);
  const histories = (
    await Promise.all(ours.map(({ id }) => historySizes(client, [id, ...children.map((at) => `${id}/2.${at + 1}`)])))
  ).flat();
  const bareHistories = (
    await Promise.all(theirs.map(({ id }) => historySizes(client, [id, ...children.map((at) => `${id}/${at}`)])))
  ).flat();
  const sum = (all: readonly HistorySize[], what: 'workflowTasks' | 'signals' | 'records' | 'bytes'): number =>
    Math.round(all.reduce((total, one) => total + one[what], 0) / rounds);
  const own = median(ours.map(({ rate }) => rate));
  const limit = median(theirs.map(({ rate }) => rate));
  const inOneGo = median(atOnce.map(({ rate }) => rate));
  const describe = (all: readonly Timed[], sizesOfAll: readonly HistorySize[]) => ({
    tasks_per_second: all.map(({ rate }) => Math.round(rate)),
    worker_processor_seconds: median(all.map(({ worker }) => worker)),
    server_processor_seconds: median(all.map((one) => one.server)),
    load: all.map(({ load }) => Math.round(load)),
    workflow_tasks: sum(sizesOfAll, 'workflowTasks'),
    signals: sum(sizesOfAll, 'signals'),
    history_kb: Math.round(sum(sizesOfAll, 'bytes') / 1000),
    longest_history: Math.max(...sizesOfAll.map(({ events }) => events)),
    parent_events: Math.max(...sizesOfAll.filter(({ id }) => !id.includes('/')).map(({ events }) => events)),
    largest_event_bytes: Math.max(...sizesOfAll.map(({ largest }) => largest)),
    workflow_task_timeouts: sizesOfAll.reduce((total, { timeouts }) => total + timeouts, 0),
  });
  console.log(
    JSON.stringify(
      {
        nodes,
        tasks: graph.nameOf.length,
        with_work: work,
        children: reference.parts.length,
        rounds,
        tasks_per_second: Math.round(own),
        bare_per_second: Math.round(limit),
        bare_at_once_per_second: Math.round(inOneGo),
        ratio: Math.round((own / limit) * 100) / 100,
        ratio_at_once: Math.round((own / inOneGo) * 100) / 100,
        ours: { ...describe(ours, histories), records: sum(histories, 'records') },
        bare: describe(theirs, bareHistories),
        recorded_rows: recorded.rows,
        rss_mb: Math.round(process.memoryUsage.rss() / 1e6),
      },
      null,
      1,
    ),
  );
} finally {
  for (const worker of workers) worker.shutdown();
  await Promise.all(running);
  await native.close();
  await connection.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
