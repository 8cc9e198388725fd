import { bookkeepingActivities } from './bookkeeping.js';
import type { SiteActivities } from './contract.js';
import type { ActivityDependencies } from './dependencies.js';
import { sourceActivities } from './fetch-source.js';
import { graphCloseActivities } from './graph-close.js';
import type { GraphActivities } from './graph-contract.js';
import { graphRunActivities } from './graph-run.js';
import { planActivities } from './load-plan.js';
import { nodeActivities } from './node-calls.js';
import type { NoticeActivities } from './notice-contract.js';
import { noticeActivities } from './notices.js';
import { planGraphActivities } from './plan-graph.js';
import { SiteCache } from './site-cache.js';
import { siteCheckActivities } from './site-checks.js';
import { taskRecordActivities } from './task-records.js';

export type { ActivityDependencies, ActivitySettings } from './dependencies.js';
export { pulseOf } from './heartbeats.js';
export { SilenceReports } from './maas-silence.js';

/** All activities of the orchestrator worker. */
export function createActivities(deps: ActivityDependencies): SiteActivities & GraphActivities & NoticeActivities {
  const cache = new SiteCache(deps.store);
  return {
    ...bookkeepingActivities(deps),
    ...sourceActivities(deps),
    ...planActivities(deps, cache),
    ...siteCheckActivities(deps, cache),
    ...nodeActivities(deps, cache),
    ...graphRunActivities(deps),
    ...planGraphActivities(deps),
    ...taskRecordActivities(deps),
    ...graphCloseActivities(deps),
    ...noticeActivities(deps),
  };
}
