/** Graphs of clusters, releases and plugins: storing, planning, running, and their results. */
import type { OpsDependencies } from '../dependencies.js';
import type { RunOperations } from '../runs.js';
import { stateOperations } from './cluster-states.js';
import { deploymentOperations } from './deployment-operations.js';
import { graphOperations } from './graph-operations.js';
import { openstackConfigOperations } from './openstack-configs.js';
import { planOperations } from './plan-operations.js';
import { runTaskOperations } from './run-tasks.js';
import { sequenceOperations } from './sequence-operations.js';
import { transactionOperations } from './transaction-operations.js';

export type { ClusterLayer } from './cluster-tasks.js';
export type { DeploymentOptions, StartedDeployment } from './deployment-operations.js';
export type { UploadedGraph } from './graph-operations.js';
export type { GraphSource } from './graph-source.js';
export type { ConfigTarget } from './openstack-configs.js';
export type { HistoryRecord } from './task-history.js';
export { fuelStatus } from './transaction-operations.js';

/** All use cases of graphs, as part of `Operations`. */
export const graphUseCases = (deps: OpsDependencies, runs: Pick<RunOperations, 'stop'>) => ({
  graphs: graphOperations(deps),
  plans: planOperations(deps),
  states: stateOperations(deps),
  deployments: deploymentOperations(deps, runs),
  sequences: sequenceOperations(deps),
  openstackConfigs: openstackConfigOperations(deps),
  transactions: transactionOperations(deps),
  /** Tasks of a run, for people watching it. */
  runTasks: runTaskOperations(deps.store),
});
