/**
 * Task graphs as data: merges layers, places tasks on nodes by tags or roles, evaluates fields, links, checks
 * and shows them. Pure: storing, sending and running are up to the caller.
 *
 * ```ts
 * const read = readPlanInput(JSON.parse(text));          // or build a PlanInput from stored data
 * if (!read.ok) refuse(read.problems);
 * const planned = planGraph(read.input);
 * if (!planned.ok) refuse(planned.problems);
 * refuse(cycleProblems(planned.plan, findCycles(planned.plan)));
 * serializedText(planned.plan);                           // for executors of the Fuel line
 * schedulerGraph(planned.plan);                           // for the scheduler
 * ```
 */
export { checkGraph } from './check-graph.ts';
export { digestOf } from './digest.ts';
export type { ClusterState, OldStates } from './fields/state.ts';
export { prepareFacts, StateData } from './fields/state-data.ts';
export {
  checkGraphUpload,
  checkTaskList,
  type GraphSurroundings,
  type GraphUpload,
} from './graph-upload.ts';
export { plainNumbers } from './input/plain-numbers.ts';
export { type GraphSource, placeInSource, readPlanText, readSource } from './input/read-file.ts';
export { readPlanInput, readTasks } from './input/read-input.ts';
export { cycleProblems, cycleText, findCycles } from './linking/find-cycles.ts';
export { linksOf } from './linking/order.ts';
export { checkPackageGraphs, type PackageGraphs } from './package-graphs.ts';
export { filterNodes, type NodeRow } from './placing/filter-nodes.ts';
export { masterDenied, tasksSurelyForMaster } from './placing/master-agent.ts';
export { MASTER, NodeResolver, SYNC, type TaggedNode } from './placing/node-resolver.ts';
export {
  type AnyChoice,
  type DroppedDependency,
  nodeIdOf,
  type Plan,
  related,
  type SkipReason,
  type TaskInstance,
} from './plan.ts';
export { type PlanInput, planGraph } from './plan-graph.ts';
export { type GraphProblem, GraphProblemError, Problems } from './problem.ts';
export { type SerializedGraph, serializedMetadata, serializedText } from './result.ts';
export { schedulerGraph } from './scheduler-graph.ts';
export { adaptLegacyTasks } from './tasks/adapt-legacy.ts';
export { checkTask, isNamed } from './tasks/check-task.ts';
export {
  type Layer,
  type LayerName,
  type MergedTask,
  mergeLayers,
  type Preparation,
} from './tasks/merge-layers.ts';
export { isInstanceTag, namePattern } from './tasks/name-pattern.ts';
export { type Fields, type GraphTask, normaliseTask, presentTask } from './tasks/task.ts';
export { type DefinitionGraph, reachable, taskGraph } from './tasks/task-graph.ts';
export { diffGraphs, diffText } from './view/diff-graphs.ts';
export { DRAWN_FIELDS, type DrawOptions, drawGraph } from './view/draw-graph.ts';
export { explaining, explainPlan } from './view/explain-plan.ts';
export { type GraphMap, type MapOptions, mapDot, mapGraph } from './view/graph-map.ts';
export { type ListedGraph, listGraph } from './view/list-graph.ts';
export { planDot, planText } from './view/plan-text.ts';
