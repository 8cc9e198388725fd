import { askMaasActivity } from './ask-maas.ts';
import { bookkeepingActivities } from './bookkeeping.ts';
import { checkActivities } from './check/run-check.ts';
import type { AuditActivities, SiteActivities } from './contract.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { translated } from './failures.ts';
import { sourceActivities } from './fetch-source.ts';
import { graphCloseActivities } from './graph-close.ts';
import type { GraphActivities } from './graph-contract.ts';
import { graphRunActivities } from './graph-run.ts';
import { lastErrorsActivity } from './last-errors.ts';
import { planActivities } from './load-plan.ts';
import { nodeActivities } from './node-calls.ts';
import type { NoticeActivities } from './notice-contract.ts';
import { noticeActivities } from './notices.ts';
import { permitActivities } from './permits.ts';
import { planGraphActivities } from './plan-graph.ts';
import { isApprovalRecorded } from './recorded-names.ts';
import { SiteCache } from './site-cache.ts';
import { siteCheckActivities } from './site-checks.ts';
import { taskRecordActivities } from './task-records.ts';

export { hostAsker } from './check/ask-host.ts';
export type { ActivityDependencies, ActivitySettings } from './dependencies.ts';
export { pulseOf } from './heartbeats.ts';
export { SilenceReports } from './maas-silence.ts';
export { RunStatuses, statusSinks } from './run-status.ts';

/** All activities of the orchestrator worker. */
export function createActivities(
  deps: ActivityDependencies,
): SiteActivities & AuditActivities & GraphActivities & NoticeActivities {
  const cache = new SiteCache(deps.store);
  return {
    ...bookkeepingActivities(deps, cache),
    ...sourceActivities(deps),
    ...planActivities(deps, cache),
    ...siteCheckActivities(deps, cache),
    ...checkActivities(deps, cache),
    ...nodeActivities(deps, cache),
    ...permitActivities(deps, cache),
    ...lastErrorsActivity(deps),
    ...askMaasActivity(deps),
    ...graphRunActivities(deps, cache),
    ...planGraphActivities(deps, cache),
    ...taskRecordActivities(deps),
    ...graphCloseActivities(deps),
    ...noticeActivities(deps),
    find_approval: (request) => translated(async () => ({ found: await isApprovalRecorded(deps.store, request) })),
  };
}
