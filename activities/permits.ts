import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { standingsOfSite } from '../src/clusters/site-standings.ts';
import type { PermitAnswer } from '../src/core/permits/answer.ts';
import type { Limits } from '../src/core/permits/limits.ts';
import { type LimitedSite, takePermits } from '../src/runs/permits.ts';
import type { SiteActivities, TakePermits } from './contract.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { translated } from './failures.ts';
import { proveClaim } from './fencing.ts';
import { held } from './run-holds.ts';
import type { SiteCache } from './site-cache.ts';

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
    const { run_id, work, wants, done, failed, unused, overrides } = request;
    const site = (await limitedSite(cache, request.site)) ?? unlimited(request.site);
    return takePermits(deps.store, site, { run: run_id, work, wants, done, failed, unused, overrides });
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
            await deps.store.permits.waitsNoMore(request.site, request.run_id);
            await context.cancelled;
          }
        } finally {
          clearInterval(timer);
        }
      }),
  };
}

/** A site whose documents, in their newest revision without errors, limit the changes of its machines. */
export async function limitedSite(cache: SiteCache, site: string): Promise<LimitedSite | null> {
  const newest = await cache.load(site, 'latest');
  let { site: resolved } = newest;
  for (let { number } = newest.record; resolved === null && number > 1; number -= 1)
    resolved = (await cache.load(site, { number: number - 1 })).site;
  if (resolved?.limits === undefined) return null;
  const racks = new Map(resolved.nodes.map(({ name, rack }) => [name, rack]));
  return { site, limits: resolved.limits, racks, standings: (within) => standingsOfSite(within, site) };
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
  request: Pick<TakePermits, 'site' | 'run_id' | 'work' | 'overrides'> & { readonly machine: string },
): Promise<void> {
  const { site, run_id, machine, work, overrides } = request;
  if (await deps.store.permits.holds(site, run_id, machine)) return;
  const limited = (await limitedSite(cache, site)) ?? unlimited(site);
  const { granted } = await takePermits(deps.store, limited, { run: run_id, work, wants: [machine], overrides });
  if (granted.length === 0)
    throw held(`its permit for ${machine} is lost, and the limits of ${site} leave it none now`);
}
