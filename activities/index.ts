import { checkActivities } from './check/run-check.ts';
import type { AuditActivities, SiteActivities } from './contract.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { translated } from './failures.ts';
import { graphCloseActivities } from './graph/close.ts';
import { graphRunActivities } from './graph/open.ts';
import { planGraphActivities } from './graph/plan.ts';
import { taskRecordActivities } from './graph/task-records.ts';
import type { GraphActivities } from './graph-contract.ts';
import type { NoticeActivities } from './notice-contract.ts';
import { askMaasActivity } from './run/ask-maas.ts';
import { bookkeepingActivities } from './run/bookkeeping.ts';
import { lastErrorsActivity } from './run/last-errors.ts';
import { noticeActivities } from './run/notices.ts';
import { permitActivities } from './run/permits.ts';
import { isApprovalRecorded } from './run/recorded-names.ts';
import { SiteCache } from './site/cache.ts';
import { siteCheckActivities } from './site/checks.ts';
import { sourceActivities } from './site/fetch-source.ts';
import { planActivities } from './site/load-plan.ts';
import { nodeActivities } from './site/node-calls.ts';

export { hostAsker } from './check/ask-host.ts';
export type { ActivityDependencies, ActivitySettings } from './dependencies.ts';
export { pulseOf } from './run/heartbeats.ts';
export { SilenceReports } from './run/maas-silence.ts';
export { RunStatuses, statusSinks } from './run/status.ts';

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
