/**
 * Lives through a whole run of the recorded library on a very large cluster, on the simulated Temporal and in virtual time, and prints the sizes of its
 * largest histories. The plan is that of 200 nodes, grown by copies of a compute; tasks take one to five seconds.
 * Usage: node bench/graph-simulated.ts [nodes]
 */
import './bounded.ts';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Execution,
  loadWorkflows,
  Random,
  SimulatedTemporal,
  takeOverGlobals,
  VirtualTime,
  Worker,
} from '@sitewright/temporal-simulator';
import { bundleWorkflows } from '../worker/parts/workflow-bundle.ts';
import { ACTIVITIES, sideQueue } from '../workflows/protocol.ts';
import { executionOf } from './recorded-execution.ts';
import { grownRun } from './recorded-run.ts';

const QUEUE = 'sitewright';
const nodes = Number(process.argv[2] ?? 3000);
const root = fileURLToPath(new URL('..', import.meta.url));
const began = process.hrtime.bigint();
const seconds = (): number => Math.round(Number(process.hrtime.bigint() - began) / 1e8) / 10;

const run = grownRun(nodes, 'noop_run');
const tasks = run.graph.nameOf.length;
const { reference, activities } = executionOf(run, () => QUEUE);
const prepared = seconds();
const { codePath } = await bundleWorkflows({
  entry: join(root, 'workflows/index.ts'),
  sources: ['workflows', 'src/core'].map((path) => join(root, path)),
  root,
  target: join(root, 'node_modules/.cache/sitewright/bench-graph-simulated.js'),
});
const code = await loadWorkflows(codePath, Object.keys(ACTIVITIES));

/** By run: bytes of what came to it and of what it ordered, as JSON, and as many again for each event as a server adds. */
const bytes = new Map<string, number>();
/** So many of its workflow tasks are counted. */
const counted = new Map<string, number>();

/** Counts its last workflow tasks, and drops what nobody needs again. */
function forget({ runId, turns, events }: Execution): void {
  // Bytes are of another realm, or a buffer, which is asked for its JSON before the replacer sees it.
  const text = (value: unknown): number =>
    JSON.stringify(value, (_key, one: unknown) => {
      if (ArrayBuffer.isView(one)) return ' '.repeat(one.byteLength);
      const { type, data } = (one ?? {}) as { readonly type?: unknown; readonly data?: unknown };
      return type === 'Buffer' && Array.isArray(data) ? ' '.repeat(data.length) : one;
    }).length;
  const from = counted.get(runId) ?? 0;
  for (const turn of turns.slice(from)) {
    const own = turn.activations.flatMap(({ jobs, commands }) => [...jobs, ...commands]);
    bytes.set(runId, (bytes.get(runId) ?? 0) + own.reduce((sum, one) => sum + text(one), 0));
  }
  counted.set(runId, turns.length);
  const last = events.at(-1);
  if (last?.data) events[events.length - 1] = { at: last.at, type: last.type, detail: last.detail };
}

const BYTES_AN_EVENT = 120;

const random = new Random(`graph/${nodes}`);
const time = new VirtualTime(Date.parse('2026-01-02'));
const giveBack = takeOverGlobals(time, random.fork('globals'));
/** All executions, and those of them that have continued as new. */
const executions = new Map<string, Execution>();
const temporal = new SimulatedTemporal({
  time,
  random: random.fork('temporal'),
  recorded: (execution) => {
    executions.set(execution.runId, execution);
    forget(execution);
  },
  violated: (what) => {
    throw new Error(what);
  },
});
const chance = random.fork('tasks');
const agents = {
  async run_task() {
    await time.sleep(chance.int(1_000, 5_000));
    return { outcome: 'success' };
  },
};
const queues = [QUEUE, sideQueue(QUEUE, 'parts')];
temporal.join(
  new Worker({
    host: { name: 'worker', alive: true, stalledUntil: 0 },
    time,
    code,
    workflowQueues: queues,
    activities: Object.fromEntries(queues.map((queue) => [queue, { ...activities, ...agents } as never])),
    sinks: { runs: { show: { fn: () => undefined } }, trace: { ended: { fn: () => undefined } } } as never,
    latency: () => random.int(1, 20),
  }),
);
const whole = temporal.start({
  type: 'execute_graph',
  workflowId: 'run',
  taskQueue: QUEUE,
  args: [{ cluster: 1, mode: 'noop_run' }],
});
for (let steps = 0; whole.status === 'RUNNING' && (await time.step()); steps++)
  if (steps % 200_000 === 0)
    console.error(`${seconds()} s: ${Math.round((time.now - time.start) / 1000)} virtual s, ${steps} steps`);
giveBack();

const types = [...new Set([...executions.values()].map(({ type }) => type))];
const largest = types.map((type) => {
  const all = [...executions.values()].filter((one) => one.type === type);
  const longest = all.reduce((most, one) => (one.events.length > most.events.length ? one : most));
  return {
    type,
    executions: all.length,
    events: longest.events.length,
    megabytes: Math.round((bytes.get(longest.runId)! + BYTES_AN_EVENT * longest.events.length) / 1e4) / 100,
    all_events: all.reduce((sum, one) => sum + one.events.length, 0),
  };
});
console.log(
  JSON.stringify(
    {
      nodes,
      tasks,
      parts: reference.parts.length,
      result: whole.status,
      virtual_seconds: Math.round((time.now - time.start) / 1000),
      prepared_seconds: prepared,
      seconds: seconds(),
      processor_seconds: Math.round(process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6),
      rss_mb: Math.round(process.resourceUsage().maxRSS / 1024),
      load: Math.round(loadavg()[0]!),
      largest,
    },
    null,
    1,
  ),
);
process.exit(0);
