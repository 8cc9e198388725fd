import type { GraphRunReport } from '../contracts/graph-run.ts';
import type { RunReport } from '../contracts/site-run-report.ts';
import { given } from '../data/given.ts';
import { assembleReport, type NodeRecord } from '../site-run/report.ts';
import { GRAPH_RUN_KIND, type GraphState, LOST_OUTCOMES, type SiteRunKind } from '../words.ts';
import type { AnyRunReport } from './status.ts';
import { graphRunOf } from './subject.ts';

/** Known facts of a run that ended before it could write its report. */
interface LostRun {
  readonly id: string;
  readonly number: number | null;
  readonly workflowId: string;
  readonly kind: string;
  readonly site: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly outcome: string | null;
}

/** What is known of how it stood when it was lost. */
interface LastSeen {
  /** The report that it showed last. */
  readonly report?: AnyRunReport | undefined;
  readonly nodes: readonly NodeRecord[];
}

const NOTHING_SEEN: LastSeen = { nodes: [] };

/**
 * The report of a run that wrote none: as it showed itself last, with how it ended.
 *
 * @param reason why it ended, if known
 */
export function lostReport(run: LostRun, seen: LastSeen = NOTHING_SEEN, reason?: string): AnyRunReport {
  const ended = endOf(run, reason);
  const warning = `the run ended as ${run.outcome ?? 'unknown'} before it could write its report`;
  const { report } = seen;
  if (report === undefined) {
    const empty = { ...ended, operator: [], warnings: [warning] };
    if (run.kind !== GRAPH_RUN_KIND) {
      // Only runs of sites and of graphs have rows.
      return { kind: run.kind as SiteRunKind, site: run.site ?? '', ...empty, phases: [] };
    }
    const { cluster, transaction } = graphRunOf(run);
    return { cluster: cluster ?? 0, transaction, mode: 'apply', ...empty, graphs: [] };
  }
  const warnings = [...report.warnings.filter((one) => one !== warning), warning];
  if ('site' in report) return { ...stopped(assembleReport(report, seen.nodes)), ...ended, warnings };
  return { ...report, ...ended, warnings, graphs: report.graphs.map(endedGraph) };
}

const ENDS = ['cancelled', ...LOST_OUTCOMES] as const;

const endOf = (run: LostRun, reason: string | undefined) => ({
  workflow_id: run.workflowId,
  run_id: run.id,
  outcome: ENDS.find((end) => end === run.outcome) ?? ('failed' as const),
  ...given({ reason }),
  started_at: run.startedAt,
  ...(run.endedAt === null ? {} : { ended_at: run.endedAt }),
});

/** Nothing of it runs any more. */
function stopped(report: RunReport): RunReport {
  const { baremetal, phases } = report;
  return {
    ...report,
    phases: phases.map((phase) => (phase.state === 'running' ? { ...phase, state: 'stopped' } : phase)),
    ...(baremetal && { baremetal: { ...baremetal, nodes: baremetal.nodes.map(({ running: _, ...node }) => node) } }),
  };
}

const OPEN: readonly GraphState[] = ['waiting', 'planning', 'asking_nodes', 'running', 'held'];

const endedGraph = (graph: GraphRunReport['graphs'][number]): GraphRunReport['graphs'][number] => ({
  ...graph,
  state: !OPEN.includes(graph.state) ? graph.state : graph.started_at === undefined ? 'not_reached' : 'stopped',
});
