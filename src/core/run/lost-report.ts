import type { GraphRunReport } from '../contracts/graph-run.ts';
import type { RunReport } from '../contracts/site-run-report.ts';
import { given } from '../data/given.ts';
import { LOST_OUTCOMES, type SiteRunKind } from '../words.ts';
import { graphRunOf } from './subject.ts';

/** Known facts of a run that ended before it could write its report. */
interface LostRun {
  readonly id: string;
  readonly workflowId: string;
  readonly kind: string;
  readonly site: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly outcome: string | null;
}

/** @param reason why it ended, if known */
export const lostReport = (run: LostRun, reason?: string): RunReport | GraphRunReport =>
  run.kind === 'execute_graph' ? lostGraphReport(run, reason) : lostSiteReport(run, reason);

export const lostSiteReport = (run: LostRun, reason?: string): RunReport => ({
  // Only runs of sites and of graphs have rows.
  kind: run.kind as SiteRunKind,
  site: run.site ?? '',
  ...common(run, reason),
  phases: [],
});

export function lostGraphReport(run: LostRun, reason?: string): GraphRunReport {
  const { cluster, transaction } = graphRunOf(run);
  return { cluster: cluster ?? 0, transaction, mode: 'apply', ...common(run, reason), graphs: [] };
}

const ENDS = ['cancelled', ...LOST_OUTCOMES] as const;

const common = (run: LostRun, reason: string | undefined) => ({
  workflow_id: run.workflowId,
  run_id: run.id,
  outcome: ENDS.find((end) => end === run.outcome) ?? ('failed' as const),
  ...given({ reason }),
  started_at: run.startedAt,
  ...(run.endedAt === null ? {} : { ended_at: run.endedAt }),
  operator: [],
  warnings: [`the run ended as ${run.outcome ?? 'unknown'} before it could write its report`],
});
