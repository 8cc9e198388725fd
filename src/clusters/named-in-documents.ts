import { checkHolds } from '../core/deployment/check-holds.ts';
import { planGroups } from '../core/deployment/plan-groups.ts';
import { targetedStrategy } from '../core/deployment/strategy.ts';
import type { RunFailure } from '../core/site-run/failure.ts';
import { unknownName } from '../core/text/did-you-mean.ts';
import type { ResolvedSite } from '../documents/index.ts';

interface Named {
  readonly nodes?: readonly string[] | undefined;
  readonly adopt?: readonly string[] | undefined;
  readonly hold_before?: readonly string[] | undefined;
  readonly checks?: readonly string[] | undefined;
}

/** What a request for a run on a site names, of nodes, groups and checks, and the site's documents do not have; null when they have it all. */
export function notInDocuments(
  { nodes, adopt = [], hold_before = [], checks = [] }: Named,
  site: Pick<ResolvedSite, 'nodes' | 'groups' | 'checks'>,
): Extract<RunFailure, { kind: 'nodes-not-found' | 'holds-not-found' | 'checks-not-found' }> | null {
  const known = new Set(site.nodes.map(({ name }) => name));
  const unknown = [...(nodes ?? []), ...adopt].filter((name) => !known.has(name));
  if (unknown.length > 0) return { kind: 'nodes-not-found', nodes: unknown };
  const ofSite = site.checks?.map(({ name }) => name) ?? [];
  const absent = checks.filter((name) => !ofSite.includes(name));
  if (absent.length > 0)
    return { kind: 'checks-not-found', problems: absent.map((name) => unknownName('check', name, ofSite)) };
  const groups = nodes === undefined ? site.groups : planGroups(targetedStrategy(nodes), site.nodes);
  const { problems } = checkHolds(hold_before, groups, [...known]);
  return problems.length === 0 ? null : { kind: 'holds-not-found', problems };
}
