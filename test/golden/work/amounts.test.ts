import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { Expression, Runtime } from '@sitewright/yaql';
import { build } from 'esbuild';
import { afterEach, expect, it, vi } from 'vitest';
import { lowerBound } from '../../../bench/makespan-bound.ts';
import { drawDurations, makespan } from '../../../bench/makespan-simulation.ts';
import { clusterOf, recorded } from '../../../bench/recorded-cluster.ts';
import { recordedRun } from '../../../bench/recorded-run.ts';
import { ownPackages } from '../../../scripts/own-packages.mjs';
import { planGraph, planOrder, readPlanInput } from '../../../src/graph/index.ts';
import { openStore } from '../../../src/store/index.ts';
import { environment } from '../../api/fuel-graphs-rig.ts';
import { expectNoMoreWork } from '../../rig/amounts-of-work.ts';
import { storeGraphRun } from '../../ui/stored-runs.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Bench tables are measured by hand on a quiet machine; these counts are the same on any machine. */
it('planning the recorded library takes no more work than recorded', () => {
  const steps = vi.spyOn(Runtime.prototype, 'step');
  const evaluations = vi.spyOn(Expression.prototype, 'evaluateIn');
  const counts: Record<string, number> = {};
  for (const nodes of [6, 20]) {
    steps.mockClear();
    evaluations.mockClear();
    const read = readPlanInput({ tasks: recorded('tasks.normalized.json'), cluster: clusterOf(nodes) });
    const planned = read.ok ? planGraph(read.input) : read;
    if (!planned.ok) throw new Error(JSON.stringify(planned.problems));
    const { edges, joins } = planOrder(planned.plan);
    counts[`evaluations, ${nodes} nodes`] = evaluations.mock.calls.length;
    counts[`steps, ${nodes} nodes`] = steps.mock.calls.length;
    counts[`relations kept, ${nodes} nodes`] = joins.reduce(
      (sum, { before, after }) => sum + before.length + after.length,
      edges.length,
    );
  }
  expectNoMoreWork('plan', counts);
});

it('the order of its tasks does not make a run longer', () => {
  const run = recordedRun(20, 'apply');
  const ratios = [1, 2, 3, 4, 5].map((draw) => {
    const durations = drawDurations(run, draw);
    return makespan(run.graph, durations) / lowerBound(run.graph, durations).least;
  });
  expect(Math.min(...ratios)).toBeGreaterThanOrEqual(1);
  expect(Math.max(...ratios)).toBeLessThanOrEqual(1.05);
});

it('a run of graphs is stored and read with no more statements than recorded', async () => {
  const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
  const counts: Record<string, number> = {};
  const counted = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    prepare.mockClear();
    const value = await work();
    counts[name] = prepare.mock.calls.length;
    return value;
  };
  const store = await openStore(':memory:');
  await store.migrate();
  const env = await environment(store, 'prod');
  const names = Array.from({ length: 50 }, (_unused, at) => `task-${at}`);
  const tasks = names.map((id) => ({ id, type: 'shell', cmd: 'true', requires: [] }));
  const made = await Promise.all(
    Array.from({ length: 38 }, (_unused, at) => store.nodes.create({ name: `node-${at}`, status: 'ready' })),
  );
  const nodes = [...env.nodes, ...made.map(({ id }) => id)].map(String);
  const run = { id: 'large', tasks, nodes, startedAt: '2026-05-01T10:00:00.000Z' };
  await counted('2,000 tasks stored', () => storeGraphRun(store, env, run));
  await counted('runs listed', () => store.runs.list({ limit: 50 }));
  const { graphs } = await counted('run read', () => store.transactions.getRun(1));
  await counted('tasks listed', () => store.taskHistory.page(graphs[0]!.id, { limit: 100 }));
  await store.close();
  expectNoMoreWork('store', counts);
});

it('the command line loads no more code to start than recorded', async () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['src/cli/main.ts'],
    bundle: true,
    splitting: true,
    packages: 'external',
    plugins: [ownPackages],
    format: 'esm',
    platform: 'node',
    outdir: 'not-written',
    write: false,
    metafile: true,
  });
  const modules = new Set<string>();
  const packages = new Set<string>();
  const visit = (path: string): void => {
    if (modules.has(path)) return;
    modules.add(path);
    for (const { path: to, kind, external } of metafile.inputs[path]!.imports) {
      if (kind !== 'import-statement') continue;
      if (external === true) packages.add(to);
      else visit(to);
    }
  };
  visit('src/cli/main.ts');
  expect([...packages].filter((name) => !name.startsWith('node:')).sort()).toEqual(['commander']);
  expectNoMoreWork('command line', {
    modules: modules.size,
    bytes: [...modules].reduce((sum, path) => sum + readFileSync(`${root}/${path}`).length, 0),
  });
});
