/** Graphs of clusters, releases and plugins: storing, planning, running, and their results. */
import type { OpsDependencies } from '../dependencies.ts';
import type { RunOperations } from '../runs.ts';
import { stateOperations } from './cluster-states.ts';
import { deploymentOperations } from './deployment-operations.ts';
import { graphOperations } from './graph-operations.ts';
import { planOperations } from './plan-operations.ts';
import { runTaskOperations } from './run-tasks.ts';
import { sequenceOperations } from './sequence-operations.ts';
import { transactionOperations } from './transaction-operations.ts';

export type { ClusterLayer } from './cluster-tasks.ts';
export type { DeploymentOptions } from './deployment-operations.ts';
export type { UploadedGraph } from './graph-operations.ts';
export type { GraphSource } from './graph-source.ts';
export type { StartedDeployment } from './start-graph-run.ts';
export type { HistoryRecord } from './task-history.ts';
export type { ShownTransaction } from './transaction-progress.ts';

/** All use cases of graphs, as part of `Operations`. */
export const graphUseCases = (deps: OpsDependencies, runs: Pick<RunOperations, 'stop' | 'list'>) => ({
  graphs: graphOperations(deps),
  plans: planOperations(deps),
  states: stateOperations(deps),
  deployments: deploymentOperations(deps, runs),
  sequences: sequenceOperations(deps),
  transactions: transactionOperations(deps),
  /** Tasks of a run, for people watching it. */
  runTasks: runTaskOperations(deps),
});
