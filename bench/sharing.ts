/**
 * How runs of graphs share one worker and one server. Tasks end immediately, so that only bookkeeping takes time.
 * 1. A run of ten tasks alone, and repeatedly during a run of NODES x TASKS on another cluster, in each of its phases.
 * 2. Ten concurrent runs on ten clusters against one run of as many tasks.
 * Worker as built (`npm run build`), a process of its own, with a store on a file and Temporal's dev server.
 * Agents are processes of their own, on the same cores. `BENCH_NICED=19`: those of all but the small run get only the
 * processor that the rest leaves, because they represent other machines; but then they hold back the large run.
 * Usage: node bench/sharing.ts [nodes [tasks [seconds]]]; after so many seconds the large run is ended, and 2. is left out:
 * enough to compare two programs.
 */
import './bounded.ts';
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { graphWorkflowId, nodeQueue } from '../workflows/protocol.ts';
import { historySizes } from './history-sizes.ts';
import { startOneWorker } from './one-worker.ts';
import { type Program, processorSeconds, startProgram } from './processes.ts';

const [nodes = 100, tasks = 200, most = Number.POSITIVE_INFINITY] = process.argv.slice(2).map(Number);
/** Small runs before the large one. */
const ALONE = 15;
const CLUSTERS = 10;
/** Of the agents of all but the small run. */
const NICED = Number(process.env.BENCH_NICED ?? 0);
const AGENTS = fileURLToPath(new URL('instant-agents.ts', import.meta.url));
/** Of all ten clusters together, and of the run that they are compared with. */
const TOGETHER = 4_000;

const installation = await startOneWorker();
const { address, client, folder, store } = installation;
const agents: Program[] = [];

/** Each in a process of its own. @param niced as in `nice -n` */
async function serve(name: string, clusters: readonly Cluster[], niced = 0): Promise<void> {
  const command = ['nice', '-n', String(niced), process.execPath, AGENTS, address];
  const queues = clusters.flatMap((cluster) => cluster.queues);
  agents.push(await startProgram(folder, name, [...command, ...queues], {}, (log) => log.includes('ready')));
}

interface Cluster {
  readonly id: number;
  readonly queues: readonly string[];
}

const release = await store.releases.create({
  name: 'bench',
  version: '1',
  operatingSystem: 'x',
  rolesMetadata: { node: { name: 'node' } },
  tagsMetadata: { node: { has_primary: false } },
});

/** A cluster whose nodes end every task immediately. @param graphs number of tasks of a node by type of graph */
async function clusterOf(name: string, size: number, lengths: Readonly<Record<string, number>>): Promise<Cluster> {
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
  return { id, queues: made.map((node) => nodeQueue(`cluster-${id}`, String(node.id))) };
}

let runs = 0;
async function run(
  { id: cluster }: Cluster,
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
  readonly steps: readonly Step[];
}

/** What a run did: a turn of its workflow, or an activity. Milliseconds until a worker had it, and until it had ended. */
interface Step {
  readonly name: string;
  readonly waits: number;
  readonly works: number;
}

async function small(cluster: Cluster, phase: string): Promise<Small> {
  const { id, ended } = await run(cluster);
  const seconds = await ended;
  return { phase, seconds, steps: await stepsOf(id) };
}

async function stepsOf(id: string): Promise<Step[]> {
  const { events } = await client.workflow.getHandle(id).fetchHistory();
  const list = events ?? [];
  const at = (eventId: unknown): number => {
    const { seconds, nanos } = list[Number(eventId) - 1]!.eventTime!;
    return Number(seconds) * 1000 + (nanos ?? 0) / 1e6;
  };
  return list.flatMap((event): Step[] => {
    const activity = event.activityTaskCompletedEventAttributes;
    const ended = event.workflowTaskCompletedEventAttributes ?? activity;
    if (ended == null) return [];
    const scheduled = Number(ended.scheduledEventId);
    const name = list[scheduled - 1]!.activityTaskScheduledEventAttributes?.activityType?.name ?? 'turn';
    const started = at(ended.startedEventId);
    return [{ name, waits: started - at(scheduled), works: at(event.eventId) - started }];
  });
}

/** By name: how often in a run, and the sums of a run in milliseconds (medians). */
function spentIn(runs: readonly Small[]) {
  const names = new Set(runs.flatMap(({ steps }) => steps.map(({ name }) => name)));
  const medianOf = (value: (steps: readonly Step[]) => number, name: string): number =>
    Math.round(summary(runs.map(({ steps }) => value(steps.filter((step) => step.name === name)))).median);
  const sumOf = (what: 'waits' | 'works') => (steps: readonly Step[]) =>
    steps.reduce((sum, step) => sum + step[what], 0);
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      {
        times: medianOf(({ length }) => length, name),
        waits: medianOf(sumOf('waits'), name),
        works: medianOf(sumOf('works'), name),
      },
    ]),
  );
}

const rounded = (value: number): number => Math.round(value * 100) / 100;

function summary(seconds: readonly number[]) {
  const sorted = [...seconds].sort((a, b) => a - b);
  const at = (share: number): number => rounded(sorted[Math.ceil(share * sorted.length) - 1] ?? 0);
  return { runs: sorted.length, median: at(0.5), p95: at(0.95), max: at(1) };
}

/** Of worker and server together, in seconds. */
const processorNow = (): number => processorSeconds(installation.worker) + processorSeconds(installation.server);

const say = (line: string): void => console.error(`${(performance.now() / 1000).toFixed(0)} s: ${line}`);

say('servers run');
const few = await clusterOf('small', 2, { default: 5 });
const many = await clusterOf('large', nodes, { default: tasks, short: Math.round(TOGETHER / nodes) });
const isWhole = most === Number.POSITIVE_INFINITY;
const size = nodes / CLUSTERS;
const ten = await Promise.all(
  Array.from({ length: isWhole ? CLUSTERS : 0 }, (_unused, at) =>
    clusterOf(`c${at}`, size, { default: Math.round(TOGETHER / nodes) }),
  ),
);
say('clusters exist');
try {
  await serve('few', [few]);
  await serve('many', [many, ...ten], NICED);
  // Queues are created on first use: keep that out of the measurement.
  await Promise.all([few, many, ...ten].map(async (cluster) => (await run(cluster, 'first')).ended));
  say('queues exist');

  const alone: Small[] = [];
  for (let at = 0; at < ALONE; at += 1) alone.push(await small(few, 'alone'));
  const usual = summary(alone.map(({ seconds }) => seconds));
  say(`a run of ten alone: ${JSON.stringify(usual)}`);

  const large = await run(many);
  const handle = client.workflow.getHandle(large.id);
  const statusOfLarge = () => handle.query<{ done: number; graphs: { state: string }[]; phase: string }>('status');
  let isOpen = true;
  const largeEnded = large.ended.then(
    (seconds) => {
      isOpen = false;
      return seconds;
    },
    () => 0,
  );
  const besides: Small[] = [];
  /** Since its tasks run. */
  let from: { readonly ms: number; readonly processor: number } | null = null;
  const largeMs = (): number => (from === null ? 0 : performance.now() - from.ms);
  while (isOpen && largeMs() < most * 1000) {
    const status = await statusOfLarge();
    const phase = status.graphs[0]?.state ?? status.phase;
    if (phase === 'running') from ??= { ms: performance.now(), processor: processorNow() };
    besides.push(await small(few, phase));
    await delay(50);
  }
  const done = isOpen ? (await statusOfLarge()).done : nodes * tasks;
  const spent = processorNow() - (from?.processor ?? 0);
  const largeSeconds = largeMs() / 1000;
  const turns = await turnsOf(large.id);
  if (isOpen) await handle.terminate();
  await largeEnded;
  const delaysIn = (wanted: (phase: string) => boolean) =>
    summary(besides.flatMap(({ phase, seconds }) => (wanted(phase) ? [seconds - usual.median] : [])));
  const phases = [...new Set(besides.map(({ phase }) => phase))];
  const delays = Object.fromEntries(phases.map((one) => [one, delaysIn((phase) => phase === one)]));
  say(`beside ${nodes * tasks} tasks: ${JSON.stringify(delays)}`);

  const ends = isWhole ? await compareTen() : {};
  console.log(
    JSON.stringify(
      {
        nodes,
        tasks: nodes * tasks,
        load: loadavg().map(rounded),
        small_alone_seconds: usual,
        small_alone_ms: spentIn(alone),
        small_beside_ms: spentIn(besides.filter(({ phase }) => phase === 'running')),
        large: {
          seconds: rounded(largeSeconds),
          tasks_per_second: Math.round(done / largeSeconds),
          processor_ms_per_task: rounded((1000 * spent) / done),
          turns_per_task: rounded(turns.completed / done),
          turns_timed_out: turns.timedOut,
        },
        delay_of_small_seconds: { ...delays, all: delaysIn(() => true) },
        ...ends,
      },
      null,
      1,
    ),
  );
} finally {
  await Promise.all(agents.map((program) => program.stop()));
  await installation.stop();
}

/** Workflow tasks of the run and its parts, and those that no worker completed in time. */
async function turnsOf(id: string): Promise<{ readonly completed: number; readonly timedOut: number }> {
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list()) if (workflowId.startsWith(id)) ids.push(workflowId);
  const sizes = await historySizes(client, ids);
  const sumOf = (what: 'workflowTasks' | 'timeouts') => sizes.reduce((sum, size) => sum + size[what], 0);
  return { completed: sumOf('workflowTasks'), timedOut: sumOf('timeouts') };
}

async function compareTen() {
  const before = processorNow();
  const one = await (await run(many, 'short')).ended;
  const between = processorNow();
  const started = performance.now();
  const ends = await Promise.all(ten.map(async (cluster) => (await run(cluster)).ended));
  const all = (performance.now() - started) / 1000;
  const after = processorNow();
  return {
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
  };
}
