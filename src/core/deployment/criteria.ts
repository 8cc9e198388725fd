import type { SuccessCriteria } from '../contracts/site-run.ts';

type CriterionName = keyof SuccessCriteria;

/** The result of one criterion, with the numbers that explain it. */
export interface CriterionVerdict {
  readonly criterion: CriterionName;
  readonly wanted: number;
  /** Percent (rounded to two decimals, for reading only), or a number of nodes. */
  readonly actual: number;
  readonly met: boolean;
}

interface NodeCounts {
  readonly total: number;
  /** Nodes in the state that the step requires. */
  readonly successful: number;
}

/**
 * Judges a group's criteria over its full set of nodes (docs/explain/design.md#spec-5, "Success Criteria"). Percentages
 * are compared exactly, never as floating point: 29 of 50 is 58 % (docs/explain/design.md#deployment-groups). A group without
 * nodes counts 0 of 0: percent met, maximum met, a minimum of 1 or more not met (docs/explain/design.md#deployment-groups).
 */
export function judgeCriteria(criteria: SuccessCriteria | undefined, counts: NodeCounts): CriterionVerdict[] {
  const { total, successful } = counts;
  const failed = total - successful;
  const verdicts: CriterionVerdict[] = [];
  const percent = criteria?.percent_successful_nodes;
  if (percent !== undefined) {
    verdicts.push({
      criterion: 'percent_successful_nodes',
      wanted: percent,
      actual: total === 0 ? 100 : Math.round((successful * 10_000) / total) / 100,
      met: total === 0 || successful * 100 >= percent * total,
    });
  }
  const minimum = criteria?.minimum_successful_nodes;
  if (minimum !== undefined) {
    verdicts.push({
      criterion: 'minimum_successful_nodes',
      wanted: minimum,
      actual: successful,
      met: successful >= minimum,
    });
  }
  const maximum = criteria?.maximum_failed_nodes;
  if (maximum !== undefined) {
    verdicts.push({ criterion: 'maximum_failed_nodes', wanted: maximum, actual: failed, met: failed <= maximum });
  }
  return verdicts;
}

/** The fewest successful nodes of `total` that satisfy all criteria, or null if no number does. */
export function successesNeeded(criteria: SuccessCriteria | undefined, total: number): number | null {
  const byPercent = Math.ceil(((criteria?.percent_successful_nodes ?? 0) * total) / 100);
  const byMaximum = criteria?.maximum_failed_nodes === undefined ? 0 : total - criteria.maximum_failed_nodes;
  const needed = Math.max(0, byPercent, criteria?.minimum_successful_nodes ?? 0, byMaximum);
  return needed > total ? null : needed;
}

export function describeVerdict(verdict: CriterionVerdict): string {
  const { wanted, actual } = verdict;
  switch (verdict.criterion) {
    case 'percent_successful_nodes':
      return `wanted ${wanted} % successful nodes, got ${actual} %`;
    case 'minimum_successful_nodes':
      return `wanted at least ${wanted} successful nodes, got ${actual}`;
    case 'maximum_failed_nodes':
      return `wanted at most ${wanted} failed nodes, got ${actual}`;
  }
}
