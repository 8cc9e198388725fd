/**
 * How runs of graphs share one worker and one server. Tasks end at once, so that nothing but bookkeeping takes time.
 * 1. A run of ten tasks alone, and again and again beside a run of NODES x TASKS on another cluster, in each of its phases.
 * 2. Ten runs at once on ten clusters against one run of as many tasks.
 * Worker as built (`npm run build`), a process of its own, with a store on a file and Temporal's dev server.
 * Usage: npx tsx bench/sharing.ts [nodes [tasks]]
 */
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Runtime, Worker } from '@temporalio/worker';
import { controlQueue, graphWorkflowId, nodeQueue } from '../workflows/protocol.js';
import { startOneWorker } from './one-worker.js';
import { processorSeconds } from './processes.js';

const [nodes = 100, tasks = 200] = process.argv.slice(2).map(Number);
/** Small runs before the large one. */
const ALONE = 15;
const CLUSTERS = 10;
/** Of all ten clusters together, and of the run that they are compared with. */
const TOGETHER = 4_000;

Runtime.install({ logger: { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error } });
const installation = await startOneWorker();
const { client, native, store } = installation;
const workers: Worker[] = [];

const release = await store.releases.create({
  name: 'bench',
  version: '1',
  operatingSystem: 'x',
  rolesMetadata: { node: { name: 'node' } },
  tagsMetadata: { node: { has_primary: false } },
});

/** A cluster whose nodes end every task at once. @param graphs number of tasks of a node by type of graph */
async function clusterOf(name: string, size: number, lengths: Readonly<Record<string, number>>): Promise<number> {
  const graphs = { first: 1, ...lengths };
  const { id } = await store.clusters.create({ name, releaseId: release.id, mode: 'multinode' });
  for (const [type, length] of Object.entries(graphs)) {
    const chain = Array.from({ length }, (_unused, at) => ({
      ...{ id: `task-${at}`, type: 'shell', version: '2.1.0', roles: ['node'], parameters: { cmd: 'true' } },
      ...(at === 0 ? {} : { requires: [`task-${at - 1}`] }),
    }));
    await store.graphs.put({ kind: 'cluster', id }, type, { tasks: chain as never });
  }
  const made = await Promise.all(
    Array.from({ length: size }, (_unused, at) => store.nodes.create({ name: `${name}-${at}`, status: 'provisioned' })),
  );
  await store.nodes.assign(
    id,
    made.map((node) => ({ id: node.id, roles: ['node'] })),
  );
  for (const node of made) {
    const queue = nodeQueue(`cluster-${id}`, String(node.id));
    const facts = {
      node: String(node.id),
      agent_version: '1',
      boot_id: 'b',
      task_types: ['shell'],
      containment: 'none',
    };
    const serve = async (taskQueue: string, activities: object): Promise<void> => {
      const one = { maxConcurrentActivityTaskExecutions: 1, maxConcurrentActivityTaskPolls: 1 };
      workers.push(await Worker.create({ connection: native, taskQueue, activities, ...one }));
    };
    await serve(queue, { run_task: async () => ({ outcome: 'ok' }) });
    await serve(controlQueue(queue), { ping: async () => facts, cancel_task: async () => undefined });
  }
  return id;
}

let runs = 0;
async function run(
  cluster: number,
  type = 'default',
): Promise<{ readonly id: string; readonly ended: Promise<number> }> {
  const id = graphWorkflowId(cluster, `bench-${(runs += 1)}`);
  const started = performance.now();
  const handle = await client.workflow.start('execute_graph', {
    taskQueue: 'sitewright',
    workflowId: id,
    args: [{ cluster, graphs: [{ type }] }],
  });
  const ended = handle.result().then(({ outcome }: { outcome: string }) => {
    if (outcome !== 'success') throw new Error(`${id} ended with ${outcome}`);
    return (performance.now() - started) / 1000;
  });
  return { id, ended };
}

interface Small {
  readonly phase: string;
  readonly seconds: number;
  readonly spent: Spent;
}

async function small(cluster: number, phase: string): Promise<Small> {
  const { id, ended } = await run(cluster);
  const seconds = await ended;
  return { phase, seconds, spent: await spent(id) };
}

/** Sums over a run, in milliseconds: waits for a worker, and work in it. */
type Spent = Readonly<Record<'workflow_waits' | 'workflow_works' | 'activity_waits' | 'activity_works', number>>;

async function spent(id: string): Promise<Spent> {
  const { events } = await client.workflow.getHandle(id).fetchHistory();
  const list = events ?? [];
  const at = (eventId: unknown): number => {
    const { seconds, nanos } = list[Number(eventId) - 1]!.eventTime!;
    return Number(seconds) * 1000 + (nanos ?? 0) / 1e6;
  };
  const sums = { workflow_waits: 0, workflow_works: 0, activity_waits: 0, activity_works: 0 };
  for (const event of list) {
    const turn = event.workflowTaskCompletedEventAttributes;
    const activity = event.activityTaskCompletedEventAttributes;
    const ended = turn ?? activity;
    if (ended == null) continue;
    const of = turn == null ? 'activity' : 'workflow';
    sums[`${of}_waits`] += at(ended.startedEventId) - at(ended.scheduledEventId);
    sums[`${of}_works`] += at(event.eventId) - at(ended.startedEventId);
  }
  return sums;
}

const KINDS = ['workflow_waits', 'workflow_works', 'activity_waits', 'activity_works'] as const;
const medians = (of: readonly Small[]) =>
  Object.fromEntries(KINDS.map((kind) => [kind, Math.round(summary(of.map(({ spent }) => spent[kind])).median)]));

const rounded = (value: number): number => Math.round(value * 100) / 100;

function summary(seconds: readonly number[]) {
  const sorted = [...seconds].sort((a, b) => a - b);
  const at = (share: number): number => rounded(sorted[Math.ceil(share * sorted.length) - 1] ?? 0);
  return { runs: sorted.length, median: at(0.5), p95: at(0.95), max: at(1) };
}

const say = (line: string): void => console.error(`${(performance.now() / 1000).toFixed(0)} s: ${line}`);

say('servers run');
const few = await clusterOf('small', 2, { default: 5 });
const many = await clusterOf('large', nodes, { default: tasks, short: Math.round(TOGETHER / nodes) });
const size = nodes / CLUSTERS;
const ten = await Promise.all(
  Array.from({ length: CLUSTERS }, (_unused, at) =>
    clusterOf(`c${at}`, size, { default: Math.round(TOGETHER / nodes) }),
  ),
);
say('clusters exist');
const running = workers.map((worker) => worker.run());
try {
  // Queues are created on first use: keep that out of the measurement.
  await Promise.all([few, many, ...ten].map(async (cluster) => (await run(cluster, 'first')).ended));
  say('queues exist');

  const alone: Small[] = [];
  for (let at = 0; at < ALONE; at += 1) alone.push(await small(few, 'alone'));
  const usual = summary(alone.map(({ seconds }) => seconds));
  say(`a run of ten alone: ${JSON.stringify(usual)}`);

  const large = await run(many);
  let isOpen = true;
  const largeEnded = large.ended.finally(() => (isOpen = false));
  const besides: Small[] = [];
  while (isOpen) {
    const status = await client.workflow
      .getHandle(large.id)
      .query<{ graphs: { state: string }[]; phase: string }>('status');
    const phase = status.graphs[0]?.state ?? status.phase;
    besides.push(await small(few, phase));
    await delay(50);
  }
  const largeSeconds = await largeEnded;
  const delaysIn = (wanted: (phase: string) => boolean) =>
    summary(besides.flatMap(({ phase, seconds }) => (wanted(phase) ? [seconds - usual.median] : [])));
  const phases = [...new Set(besides.map(({ phase }) => phase))];
  const delays = Object.fromEntries(phases.map((one) => [one, delaysIn((phase) => phase === one)]));
  say(`beside ${nodes * tasks} tasks: ${JSON.stringify(delays)}`);

  const before = processorSeconds(installation.worker) + processorSeconds(installation.server);
  const one = await (await run(many, 'short')).ended;
  const between = processorSeconds(installation.worker) + processorSeconds(installation.server);
  const started = performance.now();
  const ends = await Promise.all(ten.map(async (cluster) => (await run(cluster)).ended));
  const all = (performance.now() - started) / 1000;
  const after = processorSeconds(installation.worker) + processorSeconds(installation.server);
  console.log(
    JSON.stringify(
      {
        nodes,
        tasks: nodes * tasks,
        load: rounded(loadavg()[0]!),
        small_alone_seconds: usual,
        small_alone_ms: medians(alone),
        small_beside_ms: medians(besides),
        large_seconds: rounded(largeSeconds),
        large_tasks_per_second: Math.round((nodes * tasks) / largeSeconds),
        delay_of_small_seconds: { ...delays, all: delaysIn(() => true) },
        ten_at_once: {
          tasks: TOGETHER,
          one_run_seconds: rounded(one),
          ten_runs_seconds: rounded(all),
          ratio_of_rates: rounded(one / all),
          processor_ratio: rounded((after - between) / (between - before)),
          first_end: rounded(Math.min(...ends)),
          last_end: rounded(Math.max(...ends)),
          first_to_last: rounded(Math.min(...ends) / Math.max(...ends)),
        },
      },
      null,
      1,
    ),
  );
} finally {
  for (const worker of workers) worker.shutdown();
  await Promise.all(running);
  await installation.stop();
}
