/**
 * Plans of clusters: from a cluster's state, its nodes and their tags, and its graphs' layers. Pure;
 * `readClusterSources` and `readGraphLayers` only call the given ports.
 *
 * ```ts
 * const sources = await readClusterSources(store, clusterId);
 * const layers = await readGraphLayers(store, sources, 'default');
 * const old = oldStatesOf(sources, await store.taskStates.read(clusterId));   // omit for `force`
 * const planned = planCluster(sources, layers, { type: 'default' }, { old, surroundings: { masterIp } });
 * if (!planned.ok) refuse(planned.problems);
 * serializeGraph(planned.plan);                       // GET serialized_tasks, the result of a dry run
 * explainPlan(planned.plan, planned.input);           // what is skipped and why, what is new
 * ```
 */
export { agentAddress } from './agent-address.js';
export { applyRoleTags, nodesBehindRoles } from './apply-role-tags.js';
export { clusterStatusAfter } from './cluster-status.js';
export { mergeGraph } from './graph-layers.js';
export { graphsLeft, readGraphsLeft, type SinceThen } from './graphs-left.js';
export { mergeOver } from './merge-over.js';
export { type NodeLeftOut, standingIn } from './node-choice.js';
export { type NodeDefaults, nodeDefaults, partsOfNode, withInterfaceDefaults } from './node-defaults.js';
export { type NodeChange as NodeTransition, nodeTransitions } from './node-transitions.js';
export { type ClusterPlan, type ClusterPlanRequest, planCluster } from './plan-cluster.js';
export { extendedReleases, pluginFits } from './plugin-fit.js';
export { readClusterSources, readGraphLayers } from './read-sources.js';
export { flattenSettings, settingSwitch } from './settings.js';
export type { ClusterNode, ClusterSources, StoredLayer } from './sources.js';
export { uidOf } from './sources.js';
export { clusterState, clusterStates, type Surroundings } from './state/cluster-state.js';
export { COMMON_DATA, COMMON_FACTS } from './state/common-data.js';
export { NODE_DATA, NODE_FACTS } from './state/node-data.js';
export { oldStatesOf } from './state/old-states.js';
export { tagCluster } from './tagged-cluster.js';
export { readTaskOrder, type TaskOrder } from './task-order.js';
export { type VirtualAddress, virtualAddresses } from './virtual-addresses.js';
