/**
 * Measures what a large run costs before anything runs, and what reading it costs: the recorded cluster extended to this number of
 * nodes is stored in a file, `plan_graph` plans the recorded library in the planner's thread and stores the plan, a part of the run
 * loads its own piece, and the run is read as its pages read it. Planning has a process of its own, and so has reading: their peaks count
 * everything in them.
 * Usage: node bench/stored-plan.ts [nodes ...]
 */
import './bounded.ts';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { OpenGraphRunAnswer, PlanGraphAnswer } from '../activities/graph-contract.ts';
import { openPlanner } from '../src/clusters/planning/index.ts';
import { openStore, type Store } from '../src/store/index.ts';
import { storeActivities } from '../test/rig/store-activities.ts';
import { residentMegabytes } from './processes.ts';
import { LIBRARY, storeRecordedCluster } from './recorded-installation.ts';

const ours = { workflowId: 'execute_graph:1:large', runId: 'large' };

interface Planning {
  readonly seconds: number;
  readonly processor: number;
  /** Megabytes of the process when it had opened the run, and at its peak. */
  readonly before: number;
  readonly peak: number;
  readonly tasks: number;
  readonly parts: number;
  /** Kilobytes, as the workflow gets it. */
  readonly reference: number;
  readonly database: number;
}

type Reading = Readonly<Record<string, number>>;

const peakOfProcess = (): number => residentMegabytes(process.pid, 'VmHWM');

const fileIn = (folder: string): string => join(folder, 'store.db');

async function store(folder: string, nodes: number): Promise<null> {
  const opened = await openStore(fileIn(folder));
  await opened.migrate();
  await storeRecordedCluster(opened, 'bench', nodes);
  await opened.close();
  return null;
}

async function plan(folder: string): Promise<Planning> {
  const opened = await openStore(fileIn(folder));
  const planner = await openPlanner();
  const activities = storeActivities(opened, 64, planner);
  const environment = () =>
    new MockActivityEnvironment({ workflowExecution: ours }, { logger: new DefaultLogger('ERROR') });
  const run: OpenGraphRunAnswer = await environment().run(activities.open_graph_run, {
    ...{ workflow_id: ours.workflowId, run_id: ours.runId, started_at: new Date().toISOString(), answered: false },
    input: { cluster: 1, graphs: [{ type: LIBRARY }] },
  });
  if (!run.ok) throw new Error(JSON.stringify(run.failure));
  const before = peakOfProcess();
  const [from, cpu] = [performance.now(), process.cpuUsage()];
  const request = { transaction: run.transaction, graph: run.graphs[0]!.transaction, room: 1_000 };
  const planned: PlanGraphAnswer = await environment().run(activities.plan_graph, request);
  const seconds = (performance.now() - from) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  if (!planned.ok) throw new Error(JSON.stringify(planned.failure).slice(0, 2_000));
  await planner.close();
  await opened.close();
  return {
    ...{ seconds, processor: (user + system) / 1e6, before, peak: peakOfProcess() },
    ...{ tasks: planned.plan.tasks, parts: planned.plan.parts.length },
    reference: JSON.stringify(planned.plan).length / 1e3,
    database: (await stat(fileIn(folder))).size / 1e6,
  };
}

/** Milliseconds of each query, the median of five, and the memory of the process after all of them. */
async function read(folder: string): Promise<Reading> {
  const opened = await openStore(fileIn(folder));
  const { graphs } = await opened.transactions.getRun(1);
  const { id, planHash } = graphs[0]!;
  const queries: Readonly<Record<string, (from: Store) => Promise<unknown>>> = {
    'one part': ({ plans }) => plans.getChunk(planHash!, 0, 0),
    reference: ({ plans }) => plans.getReference(planHash!),
    counts: ({ taskHistory }) => taskHistory.count(id),
    'counts by node': ({ taskHistory }) => taskHistory.countByNode(id),
    'counts by task': ({ taskHistory }) => taskHistory.countByTask(id),
    'first failed': ({ taskHistory }) => taskHistory.page(id, { statuses: ['failed'], limit: 50 }),
    'first waiting': ({ taskHistory }) => taskHistory.page(id, { statuses: ['waiting'], limit: 50 }),
    'one node': ({ taskHistory }) => taskHistory.page(id, { nodes: ['77'], limit: 50 }),
  };
  const took: Record<string, number> = {};
  for (const [name, query] of Object.entries(queries)) {
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const from = performance.now();
      await query(opened);
      times.push(performance.now() - from);
    }
    took[name] = times.sort((a, b) => a - b)[2]!;
  }
  await opened.close();
  return { ...took, megabytes: peakOfProcess() };
}

/** Does one of these in a process of its own. */
function inProcess<T>(step: string, ...args: readonly string[]): T {
  const script = fileURLToPath(import.meta.url);
  const out = execFileSync(process.execPath, [...process.execArgv, script, step, ...args], { encoding: 'utf8' });
  return JSON.parse(out) as T;
}

const [first = '1000', ...rest] = process.argv.slice(2);
const steps: Readonly<Record<string, () => Promise<unknown>>> = {
  '--store': () => store(rest[0]!, Number(rest[1])),
  '--plan': () => plan(rest[0]!),
  '--read': () => read(rest[0]!),
};
if (first in steps) console.log(JSON.stringify(await steps[first]!()));
else {
  for (const nodes of [first, ...rest]) {
    const folder = await mkdtemp(join(tmpdir(), 'sitewright-bench-'));
    try {
      inProcess('--store', folder, nodes);
      const planning = inProcess<Planning>('--plan', folder);
      const reading = inProcess<Reading>('--read', folder);
      const load = loadavg().map((one) => Math.round(one));
      console.log(JSON.stringify({ nodes: Number(nodes), load, planning, reading }, rounded, 1));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 10) / 10 : value;
}
