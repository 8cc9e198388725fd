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
export { agentAddress } from './agent-address.ts';
export { applyRoleTags, nodesBehindRoles } from './apply-role-tags.ts';
export { clusterStatusAfter } from './cluster-status.ts';
export { mergeGraph } from './graph-layers.ts';
export { graphsLeft, readGraphsLeft, type SinceThen } from './graphs-left.ts';
export { mergeOver } from './merge-over.ts';
export { type NodeLeftOut, standingIn } from './node-choice.ts';
export { type NodeDefaults, nodeDefaults, partsOfNode, withInterfaceDefaults } from './node-defaults.ts';
export { type NodeChange as NodeTransition, nodeTransitions } from './node-transitions.ts';
export { type ClusterPlan, type ClusterPlanRequest, planCluster } from './plan-cluster.ts';
export { extendedReleases, pluginFits } from './plugin-fit.ts';
export { readClusterSources, readGraphLayers } from './read-sources.ts';
export { flattenSettings, settingSwitch } from './settings.ts';
export type { ClusterNode, ClusterSources, StoredLayer } from './sources.ts';
export { uidOf } from './sources.ts';
export { clusterState, clusterStates, type Surroundings } from './state/cluster-state.ts';
export { COMMON_DATA, COMMON_FACTS } from './state/common-data.ts';
export { NODE_DATA, NODE_FACTS } from './state/node-data.ts';
export { oldStatesOf } from './state/old-states.ts';
export { tagCluster } from './tagged-cluster.ts';
export { readTaskOrder, type TaskOrder } from './task-order.ts';
export { type VirtualAddress, virtualAddresses } from './virtual-addresses.ts';
