import type { GraphRunReport, GraphRunStatus, GraphStatus } from '../core/contracts/graph-run.ts';
import type { RunStatus } from '../core/contracts/site-run.ts';
import type { RunReport } from '../core/contracts/site-run-report.ts';
import { given } from '../core/data/given.ts';
import { countStates } from '../core/deployment/report.ts';
import { sumCounts } from '../core/graph-run/task-counts.ts';
import { newestWarnings } from '../core/run/progress.ts';
import type { GraphRunOutcome } from '../core/words.ts';
import type { RunRecord } from '../store/index.ts';

/** The status of an ended run, from its report: Temporal may have deleted its history. */
export function siteStatusFromReport(run: RunRecord, report: RunReport): RunStatus {
  const nodes = report.baremetal?.nodes ?? [];
  const counts = countStates(nodes);
  return {
    site: report.site,
    phase: 'finished',
    paused: null,
    stopping: false,
    outcome: (run.outcome ?? 'failed') as NonNullable<RunStatus['outcome']>,
    done: counts.success + counts.failed,
    total: nodes.length,
    counts,
    failed: nodes
      .filter((node) => node.state === 'failed')
      .slice(0, 20)
      .map((node) => ({
        node: node.name,
        reason: node.reason ?? '',
        ...given({ group: node.group }),
      })),
    current: null,
    software: null,
    groups: (report.baremetal?.groups ?? []).map(({ name, critical, state, reason, rollout }) => ({
      ...{ name, critical, state },
      ...given({ reason, rollout: rollout && standingOf(rollout) }),
    })),
    warnings: newestWarnings(report.warnings),
  };
}

type ReportedRollout = NonNullable<NonNullable<RunReport['baremetal']>['groups'][number]['rollout']>;

const standingOf = ({ policy: _, ...rollout }: ReportedRollout) => rollout;

/** The status of an ended graph run, from its report: Temporal may have deleted its history. */
export function graphStatusFromReport(run: RunRecord, report: GraphRunReport): GraphRunStatus {
  const graphs = report.graphs.map((graph): GraphStatus => {
    const { failed_tasks: _, failed_nodes: __, plan: ___, nothing_to_do: ____, ...status } = graph;
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
