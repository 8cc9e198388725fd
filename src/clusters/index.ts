/**
 * What a cluster is for a plan: its state, its nodes and their tags, its graphs' layers, and the plan they make. Pure;
 * `readClusterSources` and `readGraphLayers` only call the ports they are given.
 *
 * ```ts
 * const sources = await readClusterSources(store, clusterId);
 * const layers = await readGraphLayers(store, sources, 'default');
 * const old = oldStatesOf(sources, await store.taskStates.read(clusterId));   // leave it out for `force`
 * const planned = planCluster(sources, layers, { type: 'default' }, { old, surroundings: { masterIp } });
 * if (!planned.ok) refuse(planned.problems);
 * serializeGraph(planned.plan);                       // GET serialized_tasks, the answer of a dry run
 * explainPlan(planned.plan, planned.input);           // what is skipped and why, what is new
 * ```
 */
export { type AgentAddress, agentAddress } from './agent-address.js';
export { clusterState, type Surroundings } from './cluster-state.js';
export { clusterStates } from './cluster-states.js';
export { clusterStatusAfter } from './cluster-status.js';
export { type GraphMetadata, type MergedGraph, mergeGraph } from './graph-layers.js';
export { type GraphsLeft, graphsLeft, readGraphsLeft, type SinceThen } from './graphs-left.js';
export type { ChosenNodes, NodeLeftOut } from './node-choice.js';
export { type NodeChange as NodeTransition, nodeTransitions } from './node-transitions.js';
export { oldStatesOf } from './old-states.js';
export {
  type ClusterPlan,
  type ClusterPlanning,
  type ClusterPlanRequest,
  type PlanningContext,
  planCluster,
} from './plan-cluster.js';
export { type ClusterPorts, readClusterSources, readGraphLayers } from './read-sources.js';
export { flattenSettings, settingSwitch } from './settings.js';
export type {
  ClusterFacts,
  ClusterNode,
  ClusterSources,
  PluginFacts,
  ReleaseFacts,
  StoredLayer,
} from './sources.js';
export { uidOf } from './sources.js';
export { type TaggedCluster, tagCluster } from './tagged-cluster.js';
export type { TaskOrder } from './task-order.js';
