/**
 * How long a run takes by the order of its tasks alone: the recorded library on the recorded cluster extended to NODES, with
 * tasks that take as long as such tasks do, and nothing else that takes time. Three figures for each draw of durations: the
 * lower bound, this scheduler, and the reference's loop over nodes. It simulates; load does not change the result.
 * Usage: node bench/makespan.ts [nodes [draws [places]]], with `places`: so many machines may be out of service at a time
 */

import './bounded.ts';
import { lowerBound } from './makespan-bound.ts';
import { drawDurations, makespan, makespanOfLoop } from './makespan-simulation.ts';
import { recordedRun } from './recorded-run.ts';

const nodes = Number(process.argv[2] ?? 200);
const draws = Number(process.argv[3] ?? 3);
const places = process.argv[4] === undefined ? undefined : Number(process.argv[4]);

const { graph, typeOf } = recordedRun(nodes, 'apply');

const work = graph.noWork.filter((none) => none === 0).length;
console.log(`${graph.nameOf.length} tasks on ${graph.nodes.length} nodes, ${work} of them with work`);
for (let draw = 1; draw <= draws; draw++) {
  const durations = drawDurations({ graph, typeOf }, draw);
  const bound = lowerBound(graph, durations);
  const ours = makespan(graph, durations);
  const columns = [
    `draw ${draw}`,
    `longest path ${minutes(bound.path)}`,
    `busiest node ${minutes(bound.node)}`,
    `limits ${minutes(bound.limit)}`,
    `this scheduler ${minutes(ours)} (${(ours / bound.least).toFixed(3)})`,
    ...(places === undefined ? [] : [limited(durations, places)]),
    ...[0, 0.02, 0.1].map((visit) => {
      const loop = makespanOfLoop(graph, durations, visit);
      return `loop, ${visit * 1000} ms a node ${minutes(loop)} (${(loop / bound.least).toFixed(3)})`;
    }),
  ];
  console.log(columns.join(' | '));
}

function limited(durations: readonly number[], most: number): string {
  const bound = lowerBound(graph, durations, most);
  const ours = makespan(graph, durations, most);
  return `${most} machines at a time: bound ${minutes(bound.least)}, this scheduler ${minutes(ours)} (${(ours / bound.least).toFixed(3)})`;
}

function minutes(seconds: number): string {
  return `${(seconds / 60).toFixed(1)} min`;
}
