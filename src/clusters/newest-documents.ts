import { plannedCheck } from '../core/checks/check.ts';
import type { OwnRollouts, PlanReference } from '../core/graph-run/index.ts';
import type { ResolvedSite } from '../documents/index.ts';
import type { ResolvedRevision, RevisionReference } from '../store/index.ts';
import { namesChecks } from './role-rollouts.ts';
import type { ClusterSources } from './sources.ts';
import { catalogueOfCluster } from './tags/index.ts';

/** Undefined: there is no such revision. */
type Load = (site: string, reference: RevisionReference) => Promise<ResolvedRevision | undefined>;

/** The documents of a site in their newest revision without errors, whoever deploys an older one; null if there is none. */
export async function newestDocuments(
  load: Load,
  site: string,
): Promise<{ readonly revision: number; readonly site: ResolvedSite } | null> {
  const newest = await load(site, 'latest');
  if (newest === undefined) return null;
  let { site: resolved } = newest;
  let revision = newest.record.number;
  while (resolved === null && revision > 1) {
    revision -= 1;
    // A copy for a rehearsal does not have all of them.
    resolved = (await load(site, { number: revision }))?.site ?? null;
  }
  return resolved === null ? null : { revision, site: resolved };
}

/** The checks that rollouts of a cluster's roles can use: those of its site; undefined if no role has any, or there are no documents. */
export async function checksOfCluster(
  load: Load,
  sources: ClusterSources,
  own?: OwnRollouts,
): Promise<PlanReference['checks']> {
  const { site } = sources.cluster;
  if (site === null || !namesChecks(catalogueOfCluster(sources), own)) return undefined;
  const found = await newestDocuments(load, site);
  if (found === null) return undefined;
  return { site, revision: found.revision, checks: (found.site.checks ?? []).map(plannedCheck) };
}
