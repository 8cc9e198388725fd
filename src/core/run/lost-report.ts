import type { GraphRunReport } from '../contracts/graph-run.ts';
import type { RunReport } from '../contracts/site-run-report.ts';
import { given } from '../data/given.ts';
import { isMapping } from '../data/plain-value.ts';
import type { GraphRunInput } from '../graph-run/input.ts';
import { overriddenBy } from '../graph-run/report.ts';
import { assembleReport, type NodeRecord } from '../site-run/report.ts';
import {
  GRAPH_RUN_KIND,
  GRAPH_RUN_MODES,
  GRAPH_RUN_OUTCOMES,
  type GraphRunMode,
  type GraphState,
  hasClosedItself,
  LOST_OUTCOMES,
  SITE_RUN_OUTCOMES,
  type SiteRunKind,
} from '../words.ts';
import type { AnyRunReport } from './status.ts';
import { graphRunOf } from './subject.ts';
import { cutShort, cutShortWarning, underWay } from './under-way.ts';

/** Known facts of a run whose report is missing: it ended before it could write it, or the store has forgotten it. */
interface LostRun {
  readonly id: string;
  readonly number: number | null;
  readonly workflowId: string;
  readonly kind: string;
  readonly site: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly parameters: unknown;
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
  const warning = hasClosedItself(run.outcome)
    ? `the store has lost the report of this run, which ended as ${run.outcome}: it was restored from an older copy. Ask Temporal for it: temporal workflow query --workflow-id ${run.workflowId} --run-id ${run.id} --type report`
    : `the run ended as ${run.outcome ?? 'unknown'} before it could write its report`;
  const { report } = seen;
  const told = hasClosedItself(run.outcome) ? [warning] : [warning, ...cutShortWarning(underWay(report))];
  const warnings = [...(report?.warnings ?? []).filter((one) => !told.includes(one)), ...told];
  const ended = {
    workflow_id: run.workflowId,
    run_id: run.id,
    ...given({ reason }),
    started_at: run.startedAt,
    ...(run.endedAt === null ? {} : { ended_at: run.endedAt }),
    warnings,
  };
  // Only runs of sites and of graphs have rows.
  if (run.kind === GRAPH_RUN_KIND) {
    const outcome = endOf([...GRAPH_RUN_OUTCOMES, ...LOST_OUTCOMES], run);
    const { cluster, transaction } = graphRunOf(run);
    const known: GraphRunReport =
      report !== undefined && 'cluster' in report
        ? report
        : {
            ...{ ...ended, cluster: cluster ?? 0, transaction, mode: modeOf(run), operator: [], graphs: [] },
            ...overriddenBy(parametersOf(run)),
          };
    return { ...known, ...ended, outcome, graphs: known.graphs.map(endedGraph) };
  }
  const outcome = endOf([...SITE_RUN_OUTCOMES, ...LOST_OUTCOMES], run);
  const known: RunReport =
    report !== undefined && 'site' in report
      ? stopped(assembleReport(report, seen.nodes), outcome)
      : {
          ...{ ...ended, kind: run.kind as SiteRunKind, site: run.site ?? '', operator: [], phases: [] },
          ...given({ limits: beyondLimits(parametersOf(run)) }),
        };
  return { ...known, ...ended, outcome };
}

/** The input that it was opened with. */
const parametersOf = ({ parameters }: LostRun): Partial<GraphRunInput> => (isMapping(parameters) ? parameters : {});

const modeOf = (run: LostRun): GraphRunMode =>
  GRAPH_RUN_MODES.find((mode) => mode === parametersOf(run).mode) ?? 'apply';

const beyondLimits = ({ override_limits: overridden }: Partial<GraphRunInput>): RunReport['limits'] =>
  overridden === undefined ? undefined : { overridden };

const endOf = <Outcome extends string>(outcomes: readonly Outcome[], { outcome }: LostRun): Outcome | 'failed' =>
  outcomes.find((one) => one === outcome) ?? 'failed';

/** Nothing of it runs any more. */
function stopped(report: RunReport, outcome: string): RunReport {
  const { baremetal, phases } = report;
  const ended = (node: NonNullable<typeof baremetal>['nodes'][number]) => {
    const { running, ...rest } = node;
    return running === undefined || hasClosedItself(outcome) ? rest : { ...rest, reason: cutShort(node, outcome) };
  };
  return {
    ...report,
    phases: phases.map((phase) => (phase.state === 'running' ? { ...phase, state: 'stopped' } : phase)),
    ...(baremetal && { baremetal: { ...baremetal, nodes: baremetal.nodes.map(ended) } }),
  };
}

const OPEN: readonly GraphState[] = ['waiting', 'planning', 'asking_nodes', 'running', 'held'];

const endedGraph = (graph: GraphRunReport['graphs'][number]): GraphRunReport['graphs'][number] => ({
  ...graph,
  state: !OPEN.includes(graph.state) ? graph.state : graph.started_at === undefined ? 'not_reached' : 'stopped',
});
