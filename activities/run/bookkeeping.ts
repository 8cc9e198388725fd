import { maintenanceOfSite } from '../../src/clusters/maintenance.ts';
import { notInDocuments } from '../../src/clusters/named-in-documents.ts';
import type { RunReport } from '../../src/core/contracts/site-run-report.ts';
import { given } from '../../src/core/data/given.ts';
import type { RunDescription } from '../../src/core/run/description.ts';
import { numberOf } from '../../src/core/run/subject.ts';
import { describeRunFailure, type RunFailure, redeployCommand } from '../../src/core/site-run/failure.ts';
import type { SiteRunInput } from '../../src/core/site-run/input.ts';
import { NOT_REDEPLOYED } from '../../src/core/site-run/redeployed.ts';
import { assembleReport, digestOfRecords, type NodeRecord } from '../../src/core/site-run/report.ts';
import type { SiteRunOutcome } from '../../src/core/words.ts';
import { resultsOfRun } from '../../src/runs/check-results.ts';
import { closeClaim, knownRun } from '../../src/runs/claims.ts';
import { closeRecord, forgetOlderNodes, openRecord, recordNodes } from '../../src/runs/life.ts';
import { openRun, starterOf } from '../../src/runs/open-run.ts';
import { parseRevisionReference, type RunRecord, type Store, StoreError } from '../../src/store/index.ts';
import type { OpenedAlone, OpenRun, OpenRunAnswer, SiteActivities } from '../contract.ts';
import { type ActivityDependencies, isAwaited, openedWithin } from '../dependencies.ts';
import { translated } from '../failures.ts';
import type { SiteCache } from '../site/cache.ts';
import { noteBare, noteFailed } from '../site/cluster.ts';
import { targetsInMaintenance } from '../site/maintenance.ts';
import { endingText, withCanceller } from './ending.ts';
import { ownExecution, proveClaim } from './fencing.ts';
import { believedReport } from './recorded-names.ts';

/** Claim a site, record the run's progress and close the run. All are safe to repeat. */
export function bookkeepingActivities(
  deps: ActivityDependencies,
  cache: SiteCache,
): Pick<SiteActivities, 'open_run' | 'record_nodes' | 'close_run'> {
  const { store } = deps;
  return {
    open_run: (request) =>
      translated(async () => ({ ...(await openSiteRun(deps, cache, request)), ...openedWithin(deps) })),

    record_nodes: (record) =>
      translated(async () => {
        const { run_id, site } = record;
        const me = ownExecution();
        const found = store.runs.get(run_id);
        const holder = { workflowId: me.workflowId, runId: run_id };
        const run = await (site === undefined ? found : knownRun(deps, { site }, holder, me, found));
        const generation = await proveClaim(deps, { site: run.site! }, run.id);
        await recordNodes(store, run.id, generation, record);
      }),

    close_run: (request) =>
      translated(async () => {
        const { run_id, site, report } = request;
        const holder = { workflowId: request.workflow_id, runId: run_id };
        const generation = await closeClaim(deps, { site }, holder, ownExecution(), request.ended_at);
        if (generation === null) return undefined;
        const run = await store.runs.get(run_id);
        // It has just recorded all that it has: what is older is of before a reset, and of other documents.
        if (request.records === undefined) await forgetOlderNodes(store, run_id, generation);
        const records = await store.runs.listNodes(run_id);
        if (request.records !== undefined && request.records !== digestOfRecords(records)) return 'records-differ';
        const named = await believedReport(store, run_id, report, true);
        const operator = await withCanceller(store, run_id, named.operator);
        const full = { ...assembleReport(named, records), operator, ...(await resultsOfRun(store, site, run_id)) };
        const bare = bareNodes(run, request.outcome, records, endingText(request.outcome, operator));
        await noteBare(store, site, bare);
        await noteFailed(store, site, failedNodes(run, records, bare));
        const { outcome, failed_nodes } = request;
        const ended = {
          site,
          run: run_id,
          outcome,
          ...progressOf(full),
          failed_nodes,
          ...given({ reason: named.reason }),
        };
        deps.log?.(ended, `${run.kind} of site ${site} has ended`);
        if (request.deployed_revision !== undefined)
          await store.sites.markLastGood(site, request.deployed_revision, run_id);
        const { id, workflowId, kind, startedAt } = run;
        await closeRecord(store, {
          subject: { site },
          generation,
          run: {
            ...{ id, workflowId, kind, startedAt },
            outcome: request.outcome,
            endedAt: request.ended_at,
            failedNodes: request.failed_nodes,
            ...progressOf(full),
            failure: named.reason ?? null,
            ...given({ revision: report.revision }),
          },
          report: full,
        });
      }),
  };
}

/** The nodes that the run took out of service and did not deploy again, each with what to do about it. */
function bareNodes(
  run: RunRecord,
  outcome: SiteRunOutcome,
  records: readonly NodeRecord[],
  ending: string,
): ReadonlyMap<string, string> {
  if (run.kind !== 'redeploy_nodes' || run.site === null) return new Map();
  const { site } = run;
  const isBare = ({ report, released }: NodeRecord): boolean =>
    report.state !== 'success' && (released?.state === 'success' || released?.failure_kind === NOT_REDEPLOYED);
  return new Map(
    records
      .filter(isBare)
      .map(({ report: { name } }) => [
        name,
        `Run ${numberOf(run)} released its machine and ${ending}${outcome === 'failed' ? '' : ','} before it was deployed again. Deploy it: ${redeployCommand(site, [name])}`,
      ]),
  );
}

/** The nodes that the run failed to deploy, each with the reason. */
function failedNodes(
  run: RunRecord,
  records: readonly NodeRecord[],
  bare: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  if (run.kind === 'test_site') return new Map();
  return new Map(
    records
      .filter(({ position, report }) => position !== null && report.state === 'failed' && !bare.has(report.name))
      .map(({ report: { name, reason } }) => [
        name,
        `Run ${numberOf(run)} did not deploy it: ${reason ?? 'it failed'}`,
      ]),
  );
}

async function openSiteRun(
  deps: ActivityDependencies,
  cache: SiteCache,
  request: OpenRun,
): Promise<OpenedAlone<OpenRunAnswer>> {
  const { store, searchAttributes } = deps;
  const { site, workflow_id: _workflow, answered: _answered, start, parameters, ...run } = request;
  const { adopt, override_limits } = parameters as Omit<SiteRunInput, 'site'>;
  const opened = await openRun<RunFailure, RunRecord>(deps, ownExecution(), {
    subject: { site },
    // The workflow has checked them with its input.
    run: { ...run, workflow_id: request.workflow_id, site, parameters: parameters as RunDescription },
    start,
    isAwaited: isAwaited(request),
    absent: { kind: 'site-not-found', site },
    busy: async ({ workflowId, runId }) => ({ kind: 'site-busy', site, workflow_id: workflowId, run_id: runId }),
    async check() {
      if (override_limits !== undefined) {
        const holder = { workflowId: request.workflow_id, runId: request.run_id };
        const { entry } = await starterOf(deps, holder, request.started_by, start);
        if (entry === undefined) return { ok: false, failure: { kind: 'override-refused' } };
      }
      const failure = await objection(store, cache, request);
      return failure === null ? { ok: true, record: (run) => openRecord(store, run) } : { ok: false, failure };
    },
    details: () => ((adopt ?? override_limits) === undefined ? undefined : given({ adopt, override_limits })),
    explain: describeRunFailure,
  });
  if (!opened.ok) return opened;
  const { made, ...answer } = opened;
  // A run gets its number when it is first written.
  return { ...answer, number: made.number!, search_attributes: await searchAttributes() };
}

/** What the input names and the site does not have. Documents that are yet to be fetched are checked when they are loaded. */
async function objection(
  store: Store,
  cache: SiteCache,
  { kind, site, parameters }: OpenRun,
): Promise<RunFailure | null> {
  const { revision = 'latest', fetch, hold_before, nodes, adopt } = parameters as Omit<SiteRunInput, 'site'>;
  if (fetch) return null;
  const text = String(revision);
  const notFound: RunFailure = { kind: 'revision-not-found', site, revision: text };
  const reference = parseRevisionReference(text);
  if (reference === undefined) return notFound;
  try {
    if (kind === 'redeploy_nodes') {
      const refused = targetsInMaintenance(nodes ?? [], await maintenanceOfSite(store, site));
      if (refused !== null) return refused;
    }
    if ((nodes ?? hold_before ?? adopt) === undefined) {
      await store.sites.findRevision(site, reference);
      return null;
    }
    const { site: resolved } = await cache.load(site, reference);
    // The errors of documents are reported with the plan.
    return resolved && notInDocuments({ nodes, hold_before, adopt }, resolved);
  } catch (error) {
    const isUnknown =
      error instanceof StoreError && (error.failure.kind === 'not-found' || error.failure.kind === 'conflict');
    if (!isUnknown) throw error;
    return notFound;
  }
}

/** Progress of the run; empty if it reached no nodes. */
function progressOf({ baremetal }: RunReport): { readonly done: number; readonly total: number } | undefined {
  if (!baremetal) return undefined;
  const { success, failed } = baremetal.nodes_by_state;
  return { done: success.length + failed.length, total: Object.values(baremetal.nodes_by_state).flat().length };
}
