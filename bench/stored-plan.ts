/**
 * Measures what a large run costs before anything runs, and what looking at it costs: the recorded cluster extended to this number of
 * nodes is stored, `plan_graph` plans the recorded library in the planner's thread and stores the plan, a part of the run loads its own
 * piece, half of the tasks end, and the API answers what people ask about such a run. Planning has a process of its own, and so has the
 * API: their peaks count everything in them. Temporal is away: the graph is open, its run has ended.
 * Usage: node bench/stored-plan.ts [--postgres] [nodes ...]
 */
import './bounded.ts';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type { OpenGraphRunAnswer, PlanGraphAnswer } from '../activities/graph-contract.ts';
import { openPlanner } from '../src/clusters/planning/index.ts';
import { openStore } from '../src/store/index.ts';
import { startPostgres } from '../test/rig/postgres.ts';
import { storeActivities } from '../test/rig/store-activities.ts';
import { startApiProcess } from './api-process.ts';
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
}

const peakOfProcess = (): number => residentMegabytes(process.pid, 'VmHWM');

async function store(url: string, nodes: number): Promise<null> {
  const opened = await openStore(url);
  await opened.migrate();
  await storeRecordedCluster(opened, 'bench', nodes);
  await opened.close();
  return null;
}

async function plan(url: string): Promise<Planning> {
  const opened = await openStore(url);
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
  };
}

/** Ends the first half of the tasks, as parts record it. Microseconds a row; megabytes of the database; milliseconds to load a part. */
async function advance(url: string): Promise<Readonly<Record<string, number>>> {
  const opened = await openStore(url);
  const { run, graphs } = await opened.transactions.getRun(1);
  const { id, planHash } = graphs[0]!;
  const rows = await opened.taskHistory.list(id, { statuses: ['waiting'] });
  const half = rows.slice(0, rows.length >> 1);
  const from = performance.now();
  for (const [sequence, status] of [[1, 'running'] as const, [2, 'success'] as const])
    for (let at = 0; at < half.length; at += RECORDED_AT_ONCE) {
      const batch = half.slice(at, at + RECORDED_AT_ONCE);
      const isRunning = status === 'running' || at + RECORDED_AT_ONCE >= half.length;
      await opened.taskHistory.record(
        id,
        batch.map(({ task, node }) => ({
          ...{ task, node, status: isRunning ? ('running' as const) : status, attempt: 1, sequence, timeStart: AT },
          ...(isRunning ? {} : { timeEnd: AT, summary: { outcome: 'success', exit_code: 0, changed: true } }),
        })),
      );
    }
  const microseconds = ((performance.now() - from) * 1e3) / (2 * half.length);
  const loading = performance.now();
  await opened.plans.getChunk(planHash!, 0, 0);
  const part = performance.now() - loading;
  const parameters = { cluster: 1, graphs: [{ type: LIBRARY }] };
  const ended = { sequence: 1_000_000, phase: 'finished', outcome: 'stopped', endedAt: AT } as const;
  const { workflowId, runId } = ours;
  const started = { id: runId, number: run.id, workflowId, temporalRunId: runId, kind: 'execute_graph', startedAt: AT };
  await opened.runs.put({ ...started, ...ended, labels: { cluster: '1' }, parameters });
  await opened.close();
  return { rows: half.length, microseconds, part };
}

const RECORDED_AT_ONCE = 300;
const AT = '2026-05-01T10:00:00.000Z';

/** Of each question, milliseconds (the first answer, the median of five) and kilobytes; megabytes of the API's process. */
async function ask(storeUrl: string) {
  const api = await startApiProcess({ SITEWRIGHT_STORE_URL: storeUrl });
  const megabytes = { before: residentMegabytes(api.pid, 'VmHWM') };
  const run = `runs/${ours.runId}`;
  const questions = {
    runs: 'runs?limit=50',
    status: `${run}/status`,
    counts: `${run}/counts`,
    'what a page shows first': `${run}/events`,
    tree: `${run}/tree`,
    'first tasks': `${run}/tasks`,
    'first failed tasks, without one': `${run}/tasks?statuses=failed,blocked`,
    'tasks by a part of their name': `${run}/tasks?name=e`,
    'tasks by their name': `${run}/tasks?name=netconfig`,
    'tasks of a node': `${run}/tasks?nodes=77`,
    map: `${run}/graph/map`,
    'transactions, with progress': 'transactions/',
    'history of a node': 'transactions/2/tasks?nodes=77',
    'plan with its reasons': 'transactions/2/plan',
  };
  const answers: Record<string, readonly number[]> = {};
  for (const [name, path] of Object.entries(questions)) {
    const times: number[] = [];
    let bytes = 0;
    for (let round = 0; round < 5; round++) {
      const from = performance.now();
      const answer = await fetch(`${api.url}/api/v1/${path}`);
      if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
      bytes = 0;
      for await (const piece of answer.body!) bytes += piece.length;
      times.push(performance.now() - from);
    }
    answers[name] = [times[0]!, times.toSorted((a, b) => a - b)[2]!, bytes / 1e3];
  }
  const peak = residentMegabytes(api.pid, 'VmHWM');
  await api.stop();
  return { answers, megabytes: { ...megabytes, peak } };
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
  '--advance': () => advance(rest[0]!),
};
if (first in steps) console.log(JSON.stringify(await steps[first]!()));
else {
  const isPostgres = first === '--postgres';
  for (const nodes of isPostgres ? rest : [first, ...rest]) {
    const folder = await mkdtemp(join(tmpdir(), 'sitewright-bench-'));
    const server = isPostgres ? await startPostgres(tmpdir(), {}) : undefined;
    try {
      const url = server === undefined ? `sqlite:${join(folder, 'store.db')}` : await server.createDatabase();
      inProcess('--store', url, nodes);
      const planning = inProcess<Planning>('--plan', url);
      const advanced = inProcess('--advance', url);
      const asked = await ask(url);
      const load = loadavg().map((one) => Math.round(one));
      console.log(JSON.stringify({ nodes: Number(nodes), load, planning, advanced, ...asked }, rounded, 1));
    } finally {
      await server?.stop();
      await rm(folder, { recursive: true, force: true });
    }
  }
}

function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 10) / 10 : value;
}
