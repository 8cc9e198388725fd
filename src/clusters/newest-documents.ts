import { plannedCheck } from '../core/checks/check.ts';
import type { OwnRollouts } from '../core/graph-run/input.ts';
import type { PlanReference } from '../core/graph-run/plan-reference.ts';
import type { ResolvedSite } from '../documents/index.ts';
import type { ResolvedRevision, RevisionReference } from '../store/index.ts';
import { checksOfPackages, withChecks } from './package-checks.ts';
import { neededByRollouts } from './role-rollouts.ts';
import type { ClusterSources } from './sources.ts';
import { catalogueOfCluster } from './tags/of-sources.ts';

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

/** What rollouts of a cluster's roles use of the documents of its site: nothing where they need none, or there are none. */
export interface DocumentsForRollouts {
  /** Undefined also where no role has checks. */
  readonly checks?: PlanReference['checks'];
  /** The racks of machines, by the names of these. */
  readonly racks?: Readonly<Record<string, string>>;
}

export async function documentsForRollouts(
  load: Load,
  sources: ClusterSources,
  own?: OwnRollouts,
): Promise<DocumentsForRollouts> {
  const { site } = sources.cluster;
  const needed = neededByRollouts(catalogueOfCluster(sources), own);
  if (site === null || !(needed.checks || needed.racks)) return {};
  const found = await newestDocuments(load, site);
  if (found === null) return {};
  const { revision, site: documents } = found;
  return {
    ...(needed.checks && {
      checks: {
        site,
        revision,
        checks: withChecks([checksOfPackages(sources), documents.checks ?? []]).map(plannedCheck),
      },
    }),
    racks: Object.fromEntries(documents.nodes.flatMap(({ name, rack }) => (rack ? [[name, rack]] : []))),
  };
}
