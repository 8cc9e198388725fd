/**
 * Task graphs as data: merges layers, places tasks on nodes by tags or roles, evaluates fields, links, checks
 * and shows them. Pure: storing, sending and running are up to the caller.
 *
 * ```ts
 * const read = readPlanInput(JSON.parse(text));          // or build a PlanInput from what is stored
 * if (!read.ok) refuse(read.problems);
 * const planned = planGraph(read.input);
 * if (!planned.ok) refuse(planned.problems);
 * refuse(cycleProblems(planned.plan, findCycles(planned.plan)));
 * serializeGraph(planned.plan);                           // for executors of the Fuel line
 * schedulerPlan(planned.plan);                            // for the scheduler
 * ```
 */
export { checkGraph, placeOfDependency, warnOfRoles } from './check-graph.js';
export { digestOf } from './digest.js';
export type { ClusterState, OldStates } from './fields/state.js';
export { prepareFacts, StateData } from './fields/state-data.js';
export { plainNumbers } from './input/plain-numbers.js';
export { type GraphSource, placeInSource, readPlanText, readSource } from './input/read-file.js';
export { readPlanInput, readTasks } from './input/read-input.js';
export { cycleProblems, findCycles } from './linking/find-cycles.js';
export { type PlanOrder, planOrder } from './linking/order.js';
export { filterNodes, type NodeRow } from './placing/filter-nodes.js';
export { MASTER, NodeResolver, SYNC, type TaggedNode } from './placing/node-resolver.js';
export {
  type AnyChoice,
  type DroppedDependency,
  type FaultTolerance,
  nodeIdOf,
  type Plan,
  type PlannedTask,
  related,
  type SkipReason,
  type TaskInstance,
} from './plan.js';
export { type PlanInput, planGraph } from './plan-graph.js';
export { type GraphProblem, GraphProblemError, Problems } from './problem.js';
export { type SerializedGraph, serializedMetadata, serializedText, serializeGraph } from './result.js';
export { schedulerPlan } from './scheduler-plan.js';
export { adaptLegacyTasks } from './tasks/adapt-legacy.js';
export { checkTask, isNamed } from './tasks/check-task.js';
export {
  type LayerName,
  type LayerTasks,
  type MergedTask,
  mergeLayers,
  type Preparation,
} from './tasks/merge-layers.js';
export { isInstanceTag, namePattern } from './tasks/name-pattern.js';
export { type Fields, type GraphTask, normaliseTask, presentTask } from './tasks/task.js';
export { diffGraphs, diffText } from './view/diff-graphs.js';
export { type DrawOptions, drawGraph } from './view/draw-graph.js';
export { explainPlan } from './view/explain-plan.js';
export { type ListedGraph, listGraph } from './view/list-graph.js';
export { planDot, planText } from './view/plan-text.js';
export { type TaskGraph, taskGraph } from './view/task-graph.js';
