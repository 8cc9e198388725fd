import type { GraphRunReport } from '../core/contracts/graph-run.ts';
import { assembleGraphReport } from '../core/graph-run/assemble-report.ts';
import { type StorePorts, unlessNotFound } from '../store/index.ts';

/** The report of a run of graphs with all failures that the store knows. */
export async function wholeGraphReport(
  { taskHistory }: Pick<StorePorts, 'taskHistory'>,
  report: GraphRunReport,
): Promise<GraphRunReport> {
  const records = await Promise.all(
    report.graphs.map(async ({ transaction }) => {
      const failures = await taskHistory.list(transaction, { statuses: ['failed', 'blocked'] }).catch(unlessNotFound);
      return [transaction, failures ?? []] as const;
    }),
  );
  return assembleGraphReport(report, new Map(records));
}
