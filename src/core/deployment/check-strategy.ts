import { parseLabelEntry } from './labels.ts';
import { findCycles } from './order.ts';
import type { DeploymentStrategy } from './strategy.ts';

/** Why a well-formed strategy is refused before anything runs (docs/explain/design.md#deployment-groups). */
export type StrategyProblem =
  | {
      readonly kind: 'duplicate-group';
      readonly group: string;
      readonly path: StrategyPath;
      readonly first: StrategyPath;
    }
  | {
      readonly kind: 'unknown-dependency';
      readonly group: string;
      readonly dependency: string;
      readonly known: readonly string[];
      readonly path: StrategyPath;
    }
  | { readonly kind: 'cycle'; readonly members: readonly string[]; readonly path: StrategyPath }
  | { readonly kind: 'bad-label'; readonly group: string; readonly detail: string; readonly path: StrategyPath };

/** Keys and indexes from the document's `data` down to the offending value. */
type StrategyPath = readonly (string | number)[];

/** All problems of a strategy, in document order by kind. An empty list means that it can be processed. */
export function checkStrategy(strategy: DeploymentStrategy): StrategyProblem[] {
  const problems: StrategyProblem[] = [];
  const first = new Map<string, number>();
  strategy.groups.forEach((group, index) => {
    const earlier = first.get(group.name);
    if (earlier === undefined) first.set(group.name, index);
    else {
      problems.push({
        kind: 'duplicate-group',
        group: group.name,
        path: ['groups', index, 'name'],
        first: ['groups', earlier, 'name'],
      });
    }
  });
  const known = [...first.keys()];
  strategy.groups.forEach((group, g) => {
    group.depends_on.forEach((dependency, d) => {
      if (first.has(dependency)) return;
      problems.push({
        kind: 'unknown-dependency',
        group: group.name,
        dependency,
        known,
        path: ['groups', g, 'depends_on', d],
      });
    });
    group.selectors.forEach((selector, s) => {
      selector.node_labels?.forEach((entry, l) => {
        const parsed = parseLabelEntry(entry);
        if (parsed.ok) return;
        problems.push({
          kind: 'bad-label',
          group: group.name,
          detail: parsed.problem,
          path: ['groups', g, 'selectors', s, 'node_labels', l],
        });
      });
    });
  });
  for (const members of findCycles(strategy.groups)) {
    problems.push({ kind: 'cycle', members, path: ['groups', first.get(members[0]!)!, 'depends_on'] });
  }
  return problems;
}

/** One sentence per problem, for reports and the simulator's `rejected`. */
export function describeStrategyProblem(problem: StrategyProblem): string {
  switch (problem.kind) {
    case 'duplicate-group':
      return `duplicate group name ${problem.group}`;
    case 'unknown-dependency':
      return `unknown dependency ${problem.dependency} of group ${problem.group}`;
    case 'cycle':
      return `cycle among ${problem.members.join(', ')}`;
    case 'bad-label':
      return `${problem.detail} (group ${problem.group})`;
  }
}
