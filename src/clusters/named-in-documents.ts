import { checkHolds } from '../core/deployment/check-holds.ts';
import { planGroups } from '../core/deployment/plan-groups.ts';
import { targetedStrategy } from '../core/deployment/strategy.ts';
import type { RunFailure } from '../core/site-run/index.ts';
import type { ResolvedSite } from '../documents/index.ts';

interface Named {
  readonly nodes?: readonly string[] | undefined;
  readonly adopt?: readonly string[] | undefined;
  readonly hold_before?: readonly string[] | undefined;
}

/** What a request for a run on a site names, of nodes and groups, and the site's documents do not have; null when they have it all. */
export function notInDocuments(
  { nodes, adopt = [], hold_before = [] }: Named,
  site: Pick<ResolvedSite, 'nodes' | 'groups'>,
): Extract<RunFailure, { kind: 'nodes-not-found' | 'holds-not-found' }> | null {
  const known = new Set(site.nodes.map(({ name }) => name));
  const unknown = [...(nodes ?? []), ...adopt].filter((name) => !known.has(name));
  if (unknown.length > 0) return { kind: 'nodes-not-found', nodes: unknown };
  const groups = nodes === undefined ? site.groups : planGroups(targetedStrategy(nodes), site.nodes);
  const { problems } = checkHolds(hold_before, groups, [...known]);
  return problems.length === 0 ? null : { kind: 'holds-not-found', problems };
}
