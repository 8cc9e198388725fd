import type { SchedulerGraph } from '../src/core/scheduler/index.ts';
import type { GraphRunMode } from '../src/core/words.ts';
import { planGraph, readPlanInput, schedulerGraph } from '../src/graph/index.ts';
import { clusterOf, recorded } from './recorded-cluster.ts';

/** A run of the recorded library. */
export interface RecordedRun {
  readonly graph: SchedulerGraph;
  /** Type of a task of the graph. */
  readonly typeOf: (task: number) => string;
}

/** Plans and compiles a run of the recorded library on the recorded cluster with this number of nodes. */
export function recordedRun(nodes: number, mode: GraphRunMode): RecordedRun {
  const read = readPlanInput({ tasks: recorded('tasks.normalized.json'), cluster: clusterOf(nodes) });
  const planned = read.ok ? planGraph(read.input) : read;
  if (!planned.ok) throw new Error(JSON.stringify(planned.problems[0]));
  const { plan } = planned;
  const compiled = schedulerGraph(plan, { mode });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.refusal));
  const { graph } = compiled;
  return { graph, typeOf: (task) => plan.instances[task]!.type };
}
