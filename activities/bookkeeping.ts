import { maintenanceOfSite } from '../src/clusters/maintenance.ts';
import { given } from '../src/core/data/given.ts';
import { checkHolds } from '../src/core/deployment/index.ts';
import type { RunDescription } from '../src/core/run/description.ts';
import { numberOf } from '../src/core/run/subject.ts';
import {
  assembleReport,
  describeRunFailure,
  digestOfRecords,
  NOT_REDEPLOYED,
  type NodeRecord,
  type RunFailure,
  type RunReport,
  redeployCommand,
  type SiteRunInput,
} from '../src/core/site-run/index.ts';
import type { SiteRunOutcome } from '../src/core/words.ts';
import { closeGoneRuns, MAX_OPEN } from '../src/runs/gone-holders.ts';
import { parseRevisionReference, type RunRecord, type Store, StoreError, sequenceIn } from '../src/store/index.ts';
import type { OpenedWithin, OpenRun, OpenRunAnswer, SiteActivities } from './contract.ts';
import { type ActivityDependencies, isAwaited, openedWithin } from './dependencies.ts';
import { translated } from './failures.ts';
import { assertOwn, closeClaim, endRun, openClaim, proveClaim } from './fencing.ts';
import { believedReport } from './recorded-names.ts';
import { endingText, withCanceller } from './run-ending.ts';
import { auditStart, listOpened, listRefused, type OpenedRunRow, starterOf } from './run-rows.ts';
import type { SiteCache } from './site-cache.ts';
import { noteBare, noteFailed } from './site-cluster.ts';
import { targetsInMaintenance } from './site-maintenance.ts';

/** Claim a site, record the run's progress and close the run. All are safe to repeat. */
export function bookkeepingActivities(
  deps: ActivityDependencies,
  cache: SiteCache,
): Pick<SiteActivities, 'open_run' | 'record_nodes' | 'close_run'> {
  const { store } = deps;
  return {
    open_run: (request) =>
      translated(async () => ({ ...(await openRun(deps, cache, request)), ...openedWithin(deps) })),

    record_nodes: (record) =>
      translated(async () => {
        const run = await store.runs.get(record.run_id);
        const sequence = sequenceIn(await proveClaim(deps, { site: run.site! }, run.id), record.sequence);
        const nodes = record.nodes.map((node) => ({ ...node, node: node.report.name, sequence }));
        await store.runs.putNodes(record.run_id, nodes);
      }),

    close_run: (request) =>
      translated(async () => {
        const { run_id, site, report } = request;
        const holder = { workflowId: request.workflow_id, runId: run_id };
        const generation = await closeClaim(deps, { site }, holder, request.ended_at);
        if (generation === null) return undefined;
        const run = await store.runs.get(run_id);
        // It has just recorded all that it has: what is older is of before a reset, and of other documents.
        if (request.records === undefined) await store.runs.dropNodes(run_id, sequenceIn(generation, 0));
        const records = await store.runs.listNodes(run_id);
        if (request.records !== undefined && request.records !== digestOfRecords(records)) return 'records-differ';
        const named = await believedReport(store, run_id, report, true);
        const operator = await withCanceller(store, run_id, named.operator);
        const full = { ...assembleReport(named, records), operator };
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
        await endRun(
          store,
          { site },
          generation,
          {
            ...identityOf(run),
            phase: 'finished',
            outcome: request.outcome,
            endedAt: request.ended_at,
            failedNodes: request.failed_nodes,
            ...progressOf(full),
            failure: named.reason ?? null,
            ...given({ revision: report.revision }),
          },
          full,
        );
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

type OpenedAlone<Answer = OpenRunAnswer> = Answer extends unknown ? Omit<Answer, keyof OpenedWithin> : never;

async function openRun(deps: ActivityDependencies, cache: SiteCache, request: OpenRun): Promise<OpenedAlone> {
  const { store, searchAttributes } = deps;
  const { site, workflow_id, run_id } = request;
  const holder = { workflowId: workflow_id, runId: run_id };
  await assertOwn(deps, { site }, holder);
  const starter = await starterOf(deps, holder, request.started_by, request.start);
  const { started_by } = starter;
  const row = { ...rowOf(request), ...starter };
  const failure = (await claimSite(deps, request)) ?? (await objection(store, cache, request));
  if (failure !== null) {
    if (failure.kind !== 'site-busy' && failure.kind !== 'site-not-found') await store.claims.release({ site }, holder);
    if (!isAwaited(request)) await listRefused(store, row, describeRunFailure(failure));
    return { ok: false, failure, ...given({ started_by }) };
  }
  const { number } = await listOpened(store, row);
  await closeGoneRuns(store, deps, (await store.runs.list({ site, open: true, limit: MAX_OPEN })).items);
  const { adopt } = request.parameters as Omit<SiteRunInput, 'site'>;
  await auditStart(store, row, `site/${site}`, adopt && { adopt });
  // A run gets its number when it is first written.
  return { ok: true, number: number!, search_attributes: await searchAttributes(), ...given({ started_by }) };
}

const rowOf = ({ parameters, ...request }: OpenRun): OpenedRunRow => ({
  ...request,
  // The workflow has checked them with its input.
  parameters: parameters as RunDescription,
});

/** Why the run cannot have its site; null when it has it. */
async function claimSite(
  deps: ActivityDependencies,
  { site, workflow_id, run_id }: OpenRun,
): Promise<RunFailure | null> {
  try {
    const busy = await openClaim(deps, { site }, { workflowId: workflow_id, runId: run_id });
    return busy && { kind: 'site-busy', site, workflow_id: busy.workflowId, run_id: busy.runId };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const { failure } = error;
    // A name that no site can have is invalid.
    const isUnknown = failure.kind === 'invalid' || (failure.kind === 'not-found' && failure.what === 'site');
    if (!isUnknown) throw error;
    return { kind: 'site-not-found', site };
  }
}

function identityOf(run: { id: string; workflowId: string; kind: string; startedAt: string }) {
  return { id: run.id, workflowId: run.workflowId, kind: run.kind, startedAt: run.startedAt };
}

/** What the input names and the site does not have. Documents that are yet to be fetched are checked when they are loaded. */
async function objection(
  store: Store,
  cache: SiteCache,
  { kind, site, parameters }: OpenRun,
): Promise<RunFailure | null> {
  const { revision = 'latest', fetch, hold_before, nodes = [] } = parameters as Omit<SiteRunInput, 'site'>;
  if (fetch) return null;
  const text = String(revision);
  const notFound: RunFailure = { kind: 'revision-not-found', site, revision: text };
  const reference = parseRevisionReference(text);
  if (reference === undefined) return notFound;
  try {
    if (kind === 'redeploy_nodes') {
      const refused = targetsInMaintenance(nodes, await maintenanceOfSite(store, site));
      if (refused !== null) return refused;
    }
    if (hold_before === undefined || kind === 'redeploy_nodes') {
      await store.sites.findRevision(site, reference);
      return null;
    }
    const { site: resolved } = await cache.load(site, reference);
    // The errors of documents are reported with the plan.
    if (resolved === null) return null;
    const { problems } = checkHolds(hold_before, resolved.groups, []);
    return problems.length === 0 ? null : { kind: 'holds-not-found', problems };
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
