// Counts of work that are the same on any machine, compared with the recorded ones of bench/amounts.json: a regression in speed
// that no clock of a busy machine shows. Warns above a tenth, and fails for nothing.
//   node bench/amounts.ts [--record]
import './bounded.ts';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { Expression, Runtime } from '@sitewright/yaql';
import { linksOf, planGraph, readPlanInput } from '../src/graph/index.ts';
import { openStore } from '../src/store/index.ts';
import { environment } from '../test/api/fuel-graphs-rig.ts';
import { storeGraphRun } from '../test/ui/stored-runs.ts';
import { loadedAtStart, root } from './loaded-at-start.ts';
import { clusterOf, recorded } from './recorded-cluster.ts';

type Counts = Record<string, number>;

const ALLOWED = 1.1;
const file = new URL('./amounts.json', import.meta.url);

/** Counts the calls of a method from now on. */
function callsOf<Name extends string>(of: { [N in Name]: (...given: never[]) => unknown }, name: Name) {
  const original = of[name];
  let calls = 0;
  Object.defineProperty(of, name, {
    configurable: true,
    writable: true,
    value(this: unknown, ...given: never[]) {
      calls += 1;
      return original.apply(this, given);
    },
  });
  return {
    taken(): number {
      const taken = calls;
      calls = 0;
      return taken;
    },
  };
}

function planning(): Counts {
  const steps = callsOf(Runtime.prototype, 'step');
  const evaluations = callsOf(Expression.prototype, 'evaluateIn');
  const counts: Counts = {};
  for (const nodes of [6, 20]) {
    const read = readPlanInput({ tasks: recorded('tasks.normalized.json'), cluster: clusterOf(nodes) });
    const planned = read.ok ? planGraph(read.input) : read;
    if (!planned.ok) throw new Error(JSON.stringify(planned.problems));
    const { successors } = linksOf(planned.plan);
    counts[`evaluations, ${nodes} nodes`] = evaluations.taken();
    counts[`steps, ${nodes} nodes`] = steps.taken();
    counts[`relations kept, ${nodes} nodes`] = successors.reduce((sum, after) => sum + after.length, 0);
  }
  return counts;
}

async function statements(): Promise<Counts> {
  const prepared = callsOf(DatabaseSync.prototype, 'prepare');
  const counts: Counts = {};
  const counted = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    prepared.taken();
    const value = await work();
    counts[name] = prepared.taken();
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
  return counts;
}

async function commandLine(): Promise<Counts> {
  const { modules } = await loadedAtStart();
  const bytes = modules.reduce((sum, path) => sum + readFileSync(`${root}/${path}`).length, 0);
  return { modules: modules.length, bytes };
}

const found: Record<string, Counts> = {
  plan: planning(),
  store: await statements(),
  'command line': await commandLine(),
};
if (process.argv.includes('--record')) writeFileSync(file, `${JSON.stringify(found, null, 2)}\n`);
const before: Record<string, Counts> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
console.log('| work | recorded | now | |\n| --- | ---: | ---: | --- |');
for (const [work, counts] of Object.entries(found))
  for (const [name, count] of Object.entries(counts)) {
    const was = before[work]?.[name];
    const isMore = was !== undefined && count > was * ALLOWED;
    console.log(`| ${work}: ${name} | ${was ?? ''} | ${count} | ${isMore ? '**more work**' : ''} |`);
  }
