/**
 * Measures time and memory to plan a graph: the recorded library of 204 tasks on clusters extended from the recorded
 * six nodes with more computes, each size in a separate process. Fits time and memory to nodes^e.
 * Usage: node bench/plan.ts [nodes ...]
 */
import './bounded.ts';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { digestOf, linksOf, planGraph, readPlanInput, schedulerGraph } from '../src/graph/index.ts';
import { clusterOf, type Json, recorded } from './recorded-cluster.ts';

const SIZES = [1, 6, 50, 200, 500, 1000];

interface Measured {
  readonly nodes: number;
  readonly instances: number;
  readonly pairs: number;
  readonly kept: number;
  readonly plan: number;
  readonly scheduler: number;
  readonly again: number;
  readonly digest: number;
  readonly memory: number;
}

function measure(nodes: number): Measured {
  const tasks = recorded('tasks.normalized.json') as unknown as Json[];
  const cluster = clusterOf(nodes);
  const timed = <T>(work: () => T): [T, number] => {
    const from = performance.now();
    const result = work();
    return [result, performance.now() - from];
  };
  const old_state = {
    states: { s: cluster.deployment_info },
    tasks: Object.fromEntries(tasks.map(({ id }) => [id, 's'])),
  };
  const planned = (value: Json) => {
    const read = readPlanInput(value);
    const result = read.ok ? planGraph(read.input) : read;
    if (!result.ok) throw new Error(JSON.stringify(result.problems[0]));
    return result.plan;
  };
  const [plan, planTime] = timed(() => planned({ tasks, cluster }));
  const [{ successors }, schedulerTime] = timed(() => {
    const found = linksOf(plan);
    if (!schedulerGraph(plan, {}, found).ok) throw new Error('the plan is circular');
    return found;
  });
  const memory = process.resourceUsage().maxRSS / 1024;
  const [, again] = timed(() => planned({ tasks, cluster, old_state }));
  const [, digest] = timed(() => digestOf(plan));
  const tasksOnNodes = plan.instances.length;
  return {
    nodes,
    instances: tasksOnNodes,
    // A join counts for each task before it as the tasks after it.
    pairs: successors
      .slice(0, tasksOnNodes)
      .flat()
      .reduce((sum, to) => sum + (to < tasksOnNodes ? 1 : successors[to]!.length), 0),
    kept: successors.reduce((sum, after) => sum + after.length, 0),
    plan: planTime,
    scheduler: schedulerTime,
    again,
    digest,
    memory,
  };
}

/** The slope of a line through the logarithms: the exponent by which a figure grows with the number of nodes. */
function exponent(points: readonly (readonly [number, number])[]): number {
  const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)] as const);
  const mean = (at: 0 | 1): number => logs.reduce((sum, point) => sum + point[at], 0) / logs.length;
  const [mx, my] = [mean(0), mean(1)];
  return logs.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0) / logs.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--one') process.stdout.write(JSON.stringify(measure(Number(rest[0]))));
else {
  const sizes = first === undefined ? SIZES : [first, ...rest].map(Number);
  const rows = sizes.map((size): Measured => {
    const script = fileURLToPath(import.meta.url);
    return JSON.parse(
      execFileSync(process.execPath, [...process.execArgv, script, '--one', String(size)], { encoding: 'utf8' }),
    );
  });
  console.log(
    '| nodes | tasks on nodes | ordered pairs | kept as | plan, first run | plan, nothing changed | order, circles, scheduler | digest of the result | peak memory |',
  );
  console.log('| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |');
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
  for (const row of rows) {
    const times = [row.plan, row.again, row.scheduler, row.digest].map(seconds).join(' | ');
    console.log(
      `| ${row.nodes} | ${row.instances} | ${row.pairs} | ${row.kept} | ${times} | ${Math.round(row.memory)} MB |`,
    );
  }
  const large = rows.filter(({ nodes }) => nodes >= 50);
  if (large.length > 1) {
    const grows = (figure: (row: Measured) => number): string =>
      exponent(large.map((row) => [row.nodes, figure(row)] as const)).toFixed(2);
    console.log(
      `\nFrom 50 nodes on, with the number of nodes: plan ^${grows((row) => row.plan)}, nothing changed ^${grows((row) => row.again)}, order ^${grows((row) => row.scheduler)}, pairs ^${grows((row) => row.pairs)}, kept ^${grows((row) => row.kept)}, memory ^${grows((row) => row.memory)}.`,
    );
  }
}
