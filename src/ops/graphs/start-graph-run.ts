import { WorkflowIdConflictPolicy } from '@temporalio/client';
import { graphWorkflowId, prefixed, WORKFLOWS } from '../../../workflows/protocol.ts';
import type { ClusterFinding } from '../../clusters/checks/check-cluster.ts';
import { type GraphRequest, type GraphRunInput, parseGraphRunInput } from '../../core/graph-run/index.ts';
import { describedRun } from '../../core/run/description.ts';
import { isRunOpen } from '../../platform/temporal/is-run-open.ts';
import { endIfGone, type Json, type RunTransactions, StoreError, type TransactionRecord } from '../../store/index.ts';
import { missingAgents } from '../agent-presence.ts';
import type { OpsDependencies } from '../dependencies.ts';
import { asProblem, invalidInput, problem } from '../problem.ts';
import { metadataOf } from '../run-metadata.ts';
import { refuseUnfitCluster } from '../tags/cluster-checks.ts';
import { callTemporal, requestOfTemporal } from '../temporal-calls.ts';
import { startWorkflow } from '../workflow-calls.ts';
import { requestedGraphs } from './graph-request.ts';

export interface StartedGraphRun {
  readonly run: TransactionRecord;
  readonly graphs: readonly TransactionRecord[];
  /** Findings of the cluster checks; with `force`, errors too. */
  readonly warnings: readonly ClusterFinding[];
}

/**
 * Starts a graph run: first writes its transactions, which also excludes a second run of the cluster, then starts the
 * workflow with the id of the run's transaction.
 * @throws `invalid`, `not-found`; `conflict` naming the cluster's open run; Temporal's failure, after recording it in
 * the transaction
 */
export async function startGraphRun(
  deps: OpsDependencies,
  input: GraphRunInput,
  options: { readonly tasksNeeded?: boolean } = {},
): Promise<StartedGraphRun> {
  const parsed = parseGraphRunInput([input]);
  if (!parsed.ok) throw invalidInput(parsed.problems);
  if (input.from !== undefined) await endEarlierIfGone(deps, input.from);
  const graphs = await requestedGraphs(deps.store, input, options);
  const found = await refuseUnfitCluster(deps, input.cluster, graphs, input.force ?? false);
  // A dry run asks no agent.
  const missing = input.mode === 'dry_run' ? [] : await missingAgents(deps, input.cluster, input.graphs?.[0]?.nodes);
  const created = await createTransactions(deps, input, graphs);
  try {
    const started = await startRun(deps, input, created);
    return { ...started, warnings: [...found, ...missing] };
  } catch (error) {
    const { message } = asProblem(error);
    await deps.store.transactions.endRun(created.run.id, {
      status: 'error',
      message: `starting it failed: ${message}`,
    });
    throw error;
  }
}

async function createTransactions(
  deps: OpsDependencies,
  input: GraphRunInput,
  graphs: readonly GraphRequest[],
): Promise<RunTransactions> {
  const { mode = 'apply', force = false, debug = false, started_by } = input;
  const create = () =>
    deps.store.transactions.createRun({
      clusterId: input.cluster,
      graphs: graphs.map((graph) => ({ graphType: graph.type, input: graph })),
      mode,
      force,
      debug,
      input,
      ...(started_by === undefined ? {} : { startedBy: started_by }),
    });
  try {
    return await create();
  } catch (error) {
    const holder = conflictingTransaction(error);
    if (holder === undefined) throw error;
    if (!(await endIfWorkflowGone(deps, holder))) throw await alreadyStarted(deps, holder);
    // Another caller may have been faster: that is an ordinary conflict.
    return create().catch(async (again: unknown) => {
      const other = conflictingTransaction(again);
      throw other === undefined ? again : await alreadyStarted(deps, other);
    });
  }
}

const conflictingTransaction = (error: unknown): number | undefined =>
  error instanceof StoreError && error.failure.kind === 'conflict' ? error.failure.transaction : undefined;

/** Ends a run whose workflow ended without recording it. False while the run is open. */
const endIfWorkflowGone = ({ store, temporal }: OpsDependencies, id: number): Promise<boolean> =>
  endIfGone(
    store,
    (workflowId, runId) => callTemporal(temporal, () => isRunOpen(temporal.client, workflowId, runId)),
    id,
  );

/** Ends an earlier run whose workflow was terminated; otherwise it could never be continued. */
async function endEarlierIfGone(deps: OpsDependencies, id: number): Promise<void> {
  try {
    await endIfWorkflowGone(deps, id);
  } catch (error) {
    // A later check reports that it does not exist.
    if (!(error instanceof StoreError) || error.failure.kind !== 'not-found') throw error;
  }
}

async function alreadyStarted({ store }: OpsDependencies, id: number) {
  const { run } = await store.transactions.getRun(id);
  const by = run.startedBy === null ? '' : ` by ${run.startedBy}`;
  return problem('conflict', 'Deployment already started', {
    hint: `Transaction ${run.id}${by} has been running on the cluster since ${run.timeStart ?? 'a moment ago'}: wait for it, or stop it.`,
    ...(run.workflowId === null || run.temporalRunId === null
      ? {}
      : { run: { id: run.temporalRunId, workflow_id: run.workflowId } }),
  });
}

async function startRun(
  deps: OpsDependencies,
  input: GraphRunInput,
  created: RunTransactions,
): Promise<Omit<StartedGraphRun, 'warnings'>> {
  const { store, temporal } = deps;
  const { run, graphs } = created;
  const { cluster, started_by, reason } = input;
  const { name, site } = await store.clusters.brief(cluster);
  const workflowId = prefixed(temporal.prefix, graphWorkflowId(cluster, run.id));
  await store.transactions.update(run.id, { workflowId });
  const types = graphs.map(({ graphType }) => graphType).join(', ');
  const whole: GraphRunInput = { ...input, transaction: run.id };
  const started = await requestOfTemporal(temporal, () =>
    startWorkflow(temporal.client.workflow, 'execute_graph', {
      taskQueue: temporal.taskQueue,
      workflowId,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
      input: whole,
      ...metadataOf(deps, input, `${types} on cluster ${name}${started_by === undefined ? '' : ` by ${started_by}`}`),
    }),
  );
  const runId = started.firstExecutionRunId;
  const record = await store.transactions.update(run.id, { temporalRunId: runId });
  await store.runs.put({
    id: runId,
    sequence: 0,
    workflowId,
    temporalRunId: runId,
    kind: WORKFLOWS.execute_graph,
    phase: 'starting',
    startedAt: run.timeStart ?? new Date().toISOString(),
    ...describedRun(input, {
      title: `${types} on cluster ${name}`,
      labels: { cluster: String(cluster), transaction: String(run.id) },
    }),
    parameters: whole as unknown as Json,
    ...(site === null ? {} : { site }),
    ...(started_by === undefined ? {} : { startedBy: started_by }),
    ...(reason === undefined ? {} : { reason }),
  });
  await store.audit.append({
    actor: started_by ?? 'unknown',
    action: 'graph.execute',
    target: `cluster/${cluster}`,
    details: { transaction: run.id, graphs: graphs.map(({ graphType }) => graphType), mode: run.mode },
    ...(reason === undefined ? {} : { reason }),
  });
  return { run: record, graphs };
}
