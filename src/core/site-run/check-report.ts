import { type CheckFinding, resultOf } from '../checks/wave-checks.ts';
import type { CheckReport } from '../contracts/site-run-report.ts';

/** So many nodes are named in a report. */
const MOST_NAMED = 100;

/** What came of a check, for a report. @param names of the nodes of the plan */
export function reportCheck(finding: CheckFinding, names: readonly string[]): CheckReport {
  const { holds: _holds, ...result } = resultOf(finding);
  if (finding.each === 'wave') return result;
  const unwell = finding.unwell.flatMap(({ nodes, verdict, text }) =>
    nodes.map((index) => ({ node: names[index]!, verdict, text })),
  );
  return { ...result, unwell: unwell.slice(0, MOST_NAMED) };
}
