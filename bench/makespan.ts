/**
 * How long a run takes by the order of its tasks alone: the recorded library on the recorded cluster extended to NODES, with
 * tasks that take as long as such tasks do, and nothing else that takes time. Three figures for each draw of durations: the
 * lower bound, this scheduler, and the reference's loop over nodes. It simulates; load does not change the result.
 * Usage: npx tsx bench/makespan.ts [nodes [draws]]
 */

import { keyOf } from '../src/core/scheduler/graph.js';
import type { SchedulerGraph } from '../src/core/scheduler/index.js';
import { compilePlan } from '../src/core/scheduler/index.js';
import { planGraph, readPlanInput, schedulerPlan } from '../src/graph/index.js';
import { lowerBound } from './makespan-bound.js';
import { drawDurations, makespan, makespanOfLoop } from './makespan-simulation.js';
import { clusterOf, recorded } from './recorded-cluster.js';

const nodes = Number(process.argv[2] ?? 200);
const draws = Number(process.argv[3] ?? 3);

const read = readPlanInput({ tasks: recorded('tasks.normalized.json'), cluster: clusterOf(nodes) });
const planned = read.ok ? planGraph(read.input) : read;
if (!planned.ok) throw new Error(JSON.stringify(planned.problems[0]));
const { plan } = planned;
const compiled = compilePlan(schedulerPlan(plan, { mode: 'apply' }));
if (!compiled.ok) throw new Error(JSON.stringify(compiled.refusal));
const { graph } = compiled;
const typeByKey = new Map(plan.instances.map(({ id, node, type }) => [`${id}@${plan.nodes[node]}`, type]));
const typeOf = (task: number): string | undefined => typeByKey.get(keyOf(graph, task));

console.log(`${graph.nameOf.length} tasks on ${graph.nodes.length} nodes, ${count(graph.noWork, 0)} of them with work`);
for (let draw = 1; draw <= draws; draw++) {
  const durations = drawDurations(graph, typeOf, draw);
  const bound = lowerBound(graph, durations);
  const least = Math.max(bound.path, bound.node, bound.limit);
  const ours = makespan(graph, durations);
  const columns = [
    `draw ${draw}`,
    `longest path ${minutes(bound.path)}`,
    `busiest node ${minutes(bound.node)}`,
    `limits ${minutes(bound.limit)}`,
    `this scheduler ${minutes(ours)} (${(ours / least).toFixed(3)})`,
    ...[0, 0.02, 0.1].map((visit) => {
      const loop = makespanOfLoop(graph, durations, visit);
      return `loop, ${visit * 1000} ms a node ${minutes(loop)} (${(loop / least).toFixed(3)})`;
    }),
  ];
  console.log(columns.join(' | '));
}

function minutes(seconds: number): string {
  return `${(seconds / 60).toFixed(1)} min`;
}

function count(values: SchedulerGraph['noWork'], wanted: number): number {
  return values.filter((value) => value === wanted).length;
}
