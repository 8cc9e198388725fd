/** Graphs of clusters, releases and plugins: storing, planning, running, and their results. */
import type { OpsDependencies } from '../dependencies.js';
import type { RunOperations } from '../runs.js';
import { type StateOperations, stateOperations } from './cluster-states.js';
import { type DeploymentOperations, deploymentOperations } from './deployment-operations.js';
import { type GraphOperations, graphOperations } from './graph-operations.js';
import { type OpenstackConfigOperations, openstackConfigOperations } from './openstack-configs.js';
import { type PlanOperations, planOperations } from './plan-operations.js';
import { type RunTaskOperations, runTaskOperations } from './run-tasks.js';
import { type SequenceOperations, sequenceOperations } from './sequence-operations.js';
import { type TransactionOperations, transactionOperations } from './transaction-operations.js';

export type { ClusterLayer } from './cluster-tasks.js';
export type { DeploymentOptions, StartedDeployment } from './deployment-operations.js';
export type { GraphSource, UploadedGraph } from './graph-operations.js';
export type { ConfigTarget } from './openstack-configs.js';
export type { HistoryRecord } from './task-history.js';
export { fuelStatus } from './transaction-operations.js';

/** All use cases of graphs, as part of `Operations`. */
export interface GraphUseCases {
  readonly graphs: GraphOperations;
  readonly plans: PlanOperations;
  readonly states: StateOperations;
  readonly deployments: DeploymentOperations;
  readonly sequences: SequenceOperations;
  readonly openstackConfigs: OpenstackConfigOperations;
  readonly transactions: TransactionOperations;
  /** Tasks of a run, for people watching it. */
  readonly runTasks: RunTaskOperations;
}

export function graphUseCases(deps: OpsDependencies, runs: Pick<RunOperations, 'stop'>): GraphUseCases {
  return {
    graphs: graphOperations(deps),
    plans: planOperations(deps),
    states: stateOperations(deps),
    deployments: deploymentOperations(deps, runs),
    sequences: sequenceOperations(deps),
    openstackConfigs: openstackConfigOperations(deps),
    transactions: transactionOperations(deps),
    runTasks: runTaskOperations(deps.store),
  };
}
