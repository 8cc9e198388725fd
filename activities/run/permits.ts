import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { maintenanceKey } from '../../src/clusters/maintenance.ts';
import { newestDocuments } from '../../src/clusters/newest-documents.ts';
import { standingsOfSite } from '../../src/clusters/site-standings.ts';
import type { PermitAnswer, PermitWait } from '../../src/core/permits/answer.ts';
import type { Limits } from '../../src/core/permits/limits.ts';
import type { RunSubject } from '../../src/core/run/subject.ts';
import { type LimitedSite, takePermits } from '../../src/runs/permits.ts';
import type { Store } from '../../src/store/index.ts';
import type { SiteActivities, TakePermits } from '../contract.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import { translated } from '../failures.ts';
import type { SiteCache } from '../site/cache.ts';
import { proveClaim } from './fencing.ts';
import { held } from './holds.ts';

/** How often a run that waits asks again; others leave it its turn while it does. */
const ASK_EVERY_MS = 3_000;
const BEAT_EVERY_MS = 3_000;
/** How often a run is told that it waits for something else. */
const NEWS_EVERY_MS = 10 * 60_000;

export function permitActivities(
  deps: ActivityDependencies,
  cache: SiteCache,
): Pick<SiteActivities, 'take_permits' | 'await_permits'> {
  const take = async (request: TakePermits): Promise<PermitAnswer> => {
    await proveClaim(deps, request.subject, request.run_id);
    return request.site === undefined ? takeForNodes(deps, cache, request) : takeForSite(deps, cache, request);
  };
  return {
    take_permits: (request) => translated(() => take(request)),

    await_permits: (request) =>
      translated(async () => {
        const context = Context.current();
        const { cancellationSignal: signal } = context;
        const timer = setInterval(() => context.heartbeat(), BEAT_EVERY_MS);
        const startedAt = Date.now();
        let first: string | undefined;
        try {
          for (;;) {
            const answer = await take(request);
            const news = answer.waits.map(({ kind, limit }) => `${kind} ${limit}`).join('\n');
            first ??= news;
            const isNews = news !== first && Date.now() - startedAt >= NEWS_EVERY_MS;
            if (answer.granted.length > 0 || isNews) return answer;
            await sleep(ASK_EVERY_MS, undefined, { signal }).catch(() => undefined);
            if (!signal.aborted) continue;
            // Others need not leave it its turn.
            await deps.store.permits.waitsNoMore(request.run_id);
            await context.cancelled;
          }
        } finally {
          clearInterval(timer);
        }
      }),
  };
}

async function takeForSite(
  { store }: ActivityDependencies,
  cache: SiteCache,
  { site = '', run_id: run, work, wants, done, failed, unused, holds, overrides }: TakePermits,
): Promise<PermitAnswer> {
  const limited = (await limitedSite(cache, site)) ?? unlimited(site);
  const known = holds && { machines: holds, at: Context.current().info.scheduledTimestampMs };
  return takePermits(store, limited, { run, work, wants, done, failed, unused, known, overrides });
}

/** Nodes of a cluster are machines of sites, by their names in the documents; those of no site with limits are free. */
async function takeForNodes(deps: ActivityDependencies, cache: SiteCache, request: TakePermits): Promise<PermitAnswer> {
  const machines = await machinesOfCluster(deps.store, request.subject);
  const granted: string[] = [];
  const waits: PermitWait[] = [];
  const { wants, done = [], failed = [], unused = [] } = request;
  const siteOf = (id: string): string | undefined => machines.get(id)?.site;
  for (const site of new Set([...wants, ...done, ...failed, ...unused].map(siteOf))) {
    const limited = site === undefined ? null : await limitedSite(cache, site);
    const there = (ids: readonly string[]) => ids.filter((id) => siteOf(id) === site);
    if (limited === null) {
      granted.push(...there(wants));
      continue;
    }
    const named = (ids: readonly string[]) => there(ids).map((id) => machines.get(id)!.node);
    const { run_id: run, work, overrides } = request;
    const answer = await takePermits(deps.store, limited, {
      ...{ run, work, overrides },
      ...{ wants: named(wants), done: named(done), failed: named(failed), unused: named(unused) },
    });
    const has = new Set(answer.granted);
    granted.push(...there(wants).filter((id) => has.has(machines.get(id)!.node)));
    waits.push(...answer.waits);
  }
  return { granted, waits };
}

/** The machines of a cluster's nodes that are in sites, by the ids of the nodes. */
async function machinesOfCluster({ clusters, nodes }: Store, subject: RunSubject) {
  if ('site' in subject) return new Map<string, { readonly site: string; readonly node: string }>();
  const members = {
    cluster: await clusters.brief(subject.cluster),
    nodes: await nodes.list({ clusterId: subject.cluster }),
  };
  return new Map(
    members.nodes.flatMap((node) => {
      const machine = maintenanceKey(members, node);
      return machine.site === '' ? [] : [[String(node.id), machine] as const];
    }),
  );
}

/** Whether documents limit the changes of any node of a cluster. */
export async function isLimited(store: Store, cache: SiteCache, cluster: number): Promise<boolean> {
  const machines = await machinesOfCluster(store, { cluster });
  const sites = new Set([...machines.values()].map(({ site }) => site));
  const found = await Promise.all([...sites].map((site) => limitedSite(cache, site)));
  return found.some((limited) => limited !== null);
}

/** A site whose documents, in their newest revision without errors, limit the changes of its machines. */
export async function limitedSite(cache: SiteCache, site: string): Promise<LimitedSite | null> {
  const newest = await newestDocuments(cache.find, site);
  if (newest?.site.limits === undefined) return null;
  const { limits, nodes } = newest.site;
  const racks = new Map(nodes.map(({ name, rack }) => [name, rack]));
  return { site, limits, racks, standings: (within) => standingsOfSite(within, site) };
}

/** The limits were taken out of the documents while a run that asks for permits was under way. */
const NO_LIMITS: Limits = { out_of_service: [], at_once: [], windows: [], freezes: [] };
const unlimited = (site: string): LimitedSite => ({
  ...{ site, limits: NO_LIMITS, racks: new Map() },
  standings: async () => () => ({ standing: 'in_service' }),
});

/**
 * Asserts that a run has the permit that it believes to have; if the store was restored from an older copy, takes it again.
 * Fails, to be retried, while the limits do not leave it one.
 */
export async function provePermit(
  deps: ActivityDependencies,
  cache: SiteCache,
  request: Pick<TakePermits, 'run_id' | 'work' | 'overrides'> & { readonly site: string; readonly machine: string },
): Promise<void> {
  const { site, run_id, machine, work, overrides } = request;
  if (await deps.store.permits.holds(site, run_id, machine)) return;
  const limited = (await limitedSite(cache, site)) ?? unlimited(site);
  const { granted } = await takePermits(deps.store, limited, { run: run_id, work, wants: [machine], overrides });
  if (granted.length === 0)
    throw held(`its permit for ${machine} is lost, and the limits of ${site} leave it none now`);
}
