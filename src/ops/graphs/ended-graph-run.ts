import { type GraphRunReport, type GraphRunStatus, type GraphStatus, sumCounts } from '../../core/graph-run/index.js';
import { type GraphRunOutcome, newestWarnings } from '../../core/run/index.js';
import type { RunRecord } from '../../store/index.js';

const numberIn = (text: string | undefined): number | null => (text === undefined ? null : Number(text));

/** The report of a graph run that ended before it could write one. */
export const lostGraphReport = (run: RunRecord): GraphRunReport => ({
  cluster: numberIn(run.labels.cluster) ?? 0,
  transaction: numberIn(run.labels.transaction),
  workflow_id: run.workflowId,
  run_id: run.id,
  mode: 'apply',
  outcome: 'failed',
  ...(run.reason === null ? {} : { reason: run.reason }),
  started_at: run.startedAt,
  ...(run.endedAt === null ? {} : { ended_at: run.endedAt }),
  graphs: [],
  operator: [],
  warnings: [`the run ended as ${run.outcome ?? 'unknown'} before it could write its report`],
});

/** The status of an ended graph run, from its report: Temporal may have deleted its history. */
export function graphStatusFromReport(run: RunRecord, report: GraphRunReport): GraphRunStatus {
  const graphs = report.graphs.map((graph): GraphStatus => {
    const { failed_tasks: _, failed_nodes: __, plan: ___, ...status } = graph;
    return status;
  });
  return {
    cluster: report.cluster,
    transaction: report.transaction,
    phase: 'finished',
    paused: null,
    stopping: false,
    outcome: (run.outcome ?? 'failed') as GraphRunOutcome,
    done: graphs.reduce((sum, graph) => sum + graph.done, 0),
    total: graphs.reduce((sum, graph) => sum + graph.total, 0),
    counts: sumCounts(graphs.map(({ counts }) => counts)),
    failed: report.graphs.flatMap((graph) => graph.failed_tasks).slice(0, 20),
    failing_nodes: graphs.reduce((sum, graph) => sum + graph.failing_nodes, 0),
    running: [],
    silent: [],
    graphs,
    warnings: newestWarnings(report.warnings),
  };
}
