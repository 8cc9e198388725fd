import type { GraphRunReport, GraphRunStatus } from '../contracts/graph-run.ts';
import type { RunStatus } from '../contracts/site-run.ts';
import type { RunReport } from '../contracts/site-run-report.ts';

/** Of a run on a site, or of a graph run. */
export type AnyRunStatus = RunStatus | GraphRunStatus;
export type AnyRunReport = RunReport | GraphRunReport;

/** Whether a graph or a rollout of the run is held: an operator decides. */
export const isHeld = (status: AnyRunStatus): boolean =>
  'cluster' in status
    ? status.graphs.some(({ state }) => state === 'held')
    : status.groups.some(({ rollout }) => rollout?.state === 'held');

/** The first failure so far, in one line; null: none. */
export function firstFailure({ failed }: Pick<AnyRunStatus, 'failed'>): string | null {
  const [first] = failed;
  if (first === undefined) return null;
  return `${'task' in first ? `${first.task} on ` : ''}${first.node}: ${first.reason}`;
}
