import { keptResult } from '../core/checks/results.ts';
import type { KeptResult } from '../core/contracts/checks.ts';
import { together } from '../core/data/together.ts';
import type { StorePorts } from '../store/index.ts';

/** What came of the checks of a run last, for each node; for its report. */
export async function resultsOfRun(
  store: Pick<StorePorts, 'checkResults'>,
  site: string,
  runId: string,
): Promise<{ readonly check_results?: KeptResult[] }> {
  const all = await store.checkResults.list(site, { runId });
  if (all.length === 0) return {};
  // Newest first.
  const last = [...together(all, ({ name, node }) => JSON.stringify([name, node])).values()].map(([one]) => one!);
  return { check_results: last.map(keptResult) };
}
