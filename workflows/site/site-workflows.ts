import { TemporalFailure } from '@temporalio/workflow';
import type { SiteCheck } from '../../activities/contract.ts';
import type { PlannedCheck } from '../../src/core/checks/check.ts';
import type { SitePlan } from '../../src/core/contracts/site-run.ts';
import type { NodeReport } from '../../src/core/contracts/site-run-report.ts';
import { given } from '../../src/core/data/given.ts';
import type { CallEnd } from '../../src/core/deployment/baremetal.ts';
import { lastAttempt } from '../../src/core/deployment/failures.ts';
import { DEFAULT_GRAPHS, type GraphRunInput } from '../../src/core/graph-run/input.ts';
import { NO_TASKS } from '../../src/core/graph-run/task-counts.ts';
import { BEFORE_CHANGES } from '../../src/core/run/approval.ts';
import { isoTime } from '../../src/core/run/progress.ts';
import { reportCheck } from '../../src/core/site-run/check-report.ts';
import { releasedRecords } from '../../src/core/site-run/redeployed.ts';
import { counted } from '../../src/core/text/text.ts';
import type { SiteRunKind } from '../../src/core/words.ts';
import type { CallRequest, GraphRunResult, SiteRunResult } from '../contract.ts';
import { graphWorkflowId } from '../protocol.ts';
import { inquiry, siteCheck } from '../run/activity-options.ts';
import { type Child, callActivity, startChildOf } from '../run/border.ts';
import { stepError } from '../run/failures.ts';
import { givePermitsBack, permitOf, permitsToRelease } from '../run/permits.ts';
import { deployGroups } from './baremetal.ts';
import type { CallListener } from './call.ts';
import { type Phase, PhaseEnded, SiteRun, type Skipped } from './site-run.ts';
import { askChecks, askingOfSite } from './wave-checks.ts';

/** Deploys a site: verifies and prepares it, deploys group after group, then runs the software phase (docs/explain/design.md#data-flow). */
export const deploy_site = siteWorkflow('deploy_site', async (run) => {
  const plan = await run.phase('load', loadPlan(await fetchedRevision(run)));
  await run.phase('verify_site', verifySite(plan));
  await run.approval(BEFORE_CHANGES);
  await run.phase('prepare_site', prepareSite(plan));
  await run.phase('baremetal', deployGroups(plan));
  await run.phase('software', runSoftware(plan));
});

/**
 * Updates a site from its last good revision to the requested one. Unchanged deployed nodes are not touched and count
 * as success. Nodes removed from the documents are reported, and released only on request (`release_removed`) after
 * everything else succeeded.
 */
export const update_site = siteWorkflow('update_site', async (run) => {
  const plan = await run.phase('load', loadPlan(await fetchedRevision(run)));
  await run.phase('verify_site', verifySite(plan));
  await run.approval(BEFORE_CHANGES);
  await run.phase('prepare_site', prepareSite(plan));
  await run.phase('baremetal', deployGroups(plan));
  if (plan.removed.length > 0) await run.phase('release_removed', releaseRemoved(run, plan));
  await run.phase('software', runSoftware(plan));
});

/**
 * Releases the named nodes, then deploys them as one critical group at 100 %. Deploys nothing unless all were released; on a site with limits,
 * releases and deploys as many at a time as it has permits for.
 */
export const redeploy_nodes = siteWorkflow('redeploy_nodes', async (run) => {
  const { nodes = [], erase = false } = run.input;
  const plan = await run.phase('load', loadPlan(await fetchedRevision(run)));
  await run.phase('verify_site', verifySite(plan, nodes));
  await run.approval(BEFORE_CHANGES);
  if (plan.limits !== undefined) {
    await run.phase('release', { skipped: 'a node is released when the run has a permit for it' });
    await run.phase('prepare_site', prepareSite(plan, nodes));
    await run.phase(
      'baremetal',
      deployGroups(plan, (names) => release(run, plan, 'release', names, erase)),
    );
    return;
  }
  const { unreleased } = await run.phase('release', releaseNodes(plan, nodes, erase));
  await run.goOn();
  if (unreleased.length > 0) run.fail({ kind: 'release-failed', nodes: unreleased });
  await run.phase('prepare_site', prepareSite(plan, nodes));
  await run.phase('baremetal', deployGroups(plan));
});

/** Verifies a site, reads the real state of every node, and asks the checks of the site. Changes nothing. */
export const test_site = siteWorkflow('test_site', async (run) => {
  const plan = await run.phase('load', loadPlan(await fetchedRevision(run)));
  await run.phase('verify_site', verifySite(plan, run.input.nodes));
  await run.phase('inspect_nodes', inspectNodes(plan));
  if (plan.checks !== undefined) await run.phase('checks', checkSiteNow(plan, plan.checks));
});

/** Its body throws `RunEnded` where the run must not go on: stopped, failed, or nothing left to do. */
function siteWorkflow(kind: SiteRunKind, body: (run: SiteRun) => Promise<void>) {
  return async (...args: unknown[]): Promise<SiteRunResult> => new SiteRun(kind, args, body).run();
}

/** Used until the plan provides the configured value. */
const HEARTBEAT_SECONDS = 30;

/** The revision to work on: the one that the site's source has now, if the run was started to fetch it. */
export async function fetchedRevision(run: SiteRun): Promise<string | number | undefined> {
  return run.input.fetch ? run.phase('fetch', fetchDocuments) : run.input.revision;
}

const fetchDocuments: Phase<number> = async (run) => {
  const { site } = run.input;
  const options = inquiry(`fetch documents of ${site}`, HEARTBEAT_SECONDS);
  const answer = await run.control.readOnly(() => callActivity('fetch_source', { site }, options));
  if (!answer.ok) return run.failPhase(answer.failure);
  const { revision, commit, deployed } = answer;
  const detail = `revision ${revision}, commit ${commit}`;
  if (run.kind === 'update_site' && deployed) throw new PhaseEnded({ detail: `${detail}: already deployed` });
  return { value: revision, detail };
};

/** Loads the documents of a revision: nodes, groups and time limits of the run. */
export const loadPlan =
  (revision: string | number | undefined): Phase<SitePlan> =>
  async (run) => {
    const { kind, input, progress } = run;
    const { site, hold_before, adopt, nodes, checks } = input;
    const options = inquiry(`load documents of ${site}`, HEARTBEAT_SECONDS);
    const request = { kind, site, revision, nodes, ...given({ hold_before, adopt, checks }) };
    const answer = await run.control.readOnly(() => callActivity('load_plan', request, options));
    if (!answer.ok) return run.failPhase(answer.failure);
    const { plan } = answer;
    progress.plan = plan;
    const kept = plan.maintenance === undefined ? '' : `, ${plan.maintenance.length} more in maintenance`;
    const detail = `revision ${plan.revision}, ${counted(plan.nodes.length, 'node')} in ${counted(plan.groups.length, 'group')}${kept}`;
    return { value: plan, detail };
  };

/** @param nodes only these; default: all of the site */
export const verifySite =
  (plan: SitePlan, nodes?: readonly string[]): Phase =>
  (run) =>
    checkSite(run, plan, 'verify_site', {
      ...given({ nodes }),
      ...(run.kind === 'redeploy_nodes' && { release: true }),
    });

/** @param nodes only these; default: all of the site */
export const prepareSite =
  (plan: SitePlan, nodes?: readonly string[]): Phase =>
  (run) =>
    checkSite(run, plan, 'prepare_site', given({ nodes, adopt: run.input.adopt }));

async function checkSite(
  run: SiteRun,
  plan: SitePlan,
  phase: 'verify_site' | 'prepare_site',
  of: Pick<SiteCheck, 'nodes' | 'release' | 'adopt'>,
) {
  const pace = plan.pace[phase];
  const request: SiteCheck = { site: plan.site, revision: plan.revision, pace, ...own(plan), ...of };
  const verb = phase === 'verify_site' ? 'verify' : 'prepare';
  const options = siteCheck(`${verb} site ${plan.site}`, pace, plan.pace.heartbeat_seconds);
  const answer = await run.control.readOnly(() => callActivity(phase, request, options));
  run.progress.warnings.push(...answer.warnings);
  if (answer.ok) return { value: undefined, ...(answer.changes?.length && { detail: answer.changes.join('; ') }) };
  const { problems } = answer;
  return run.failPhase({ kind: `${verb}-site-failed`, problems }, problems.join('; '));
}

/** A site whose nodes in maintenance must not be touched is not all of the plan's site. */
const own = ({ maintenance, nodes }: SitePlan) => (maintenance === undefined ? {} : { nodes });

/** Reads the real state of every node. */
export const inspectNodes =
  (plan: SitePlan): Phase =>
  async (run) => {
    const request = { site: plan.site, revision: plan.revision, ...own(plan), ...given({ nodes: run.input.nodes }) };
    const options = inquiry(`inspect every node of ${plan.site}`, plan.pace.heartbeat_seconds);
    const found = await run.control.readOnly(() => callActivity('inspect_nodes', request, options));
    run.progress.warnings.push(...found.problems.map(({ node, problem }) => `${node}: ${problem}`));
    const counts = Object.entries(found.counts).map(([state, count]) => `${count} ${state}`);
    return { value: undefined, detail: counts.join(', ') };
  };

/** Asks checks about all nodes of the plan. What is not well ends nothing. */
const checkSiteNow =
  (plan: SitePlan, checks: readonly PlannedCheck[]): Phase =>
  async (run) => {
    const nodes = [...plan.nodes.keys()];
    const names = checks.map(({ name }) => name);
    const findings = await run.control.readOnly(() => askChecks(askingOfSite(run, plan), names, nodes, 1));
    const reports = findings.map((finding) => reportCheck(finding, plan.nodes));
    run.progress.checks = reports;
    const well = reports.filter(({ verdict }) => verdict === 'well').length;
    const state = well < reports.length ? 'failed' : 'success';
    return { value: undefined, state, detail: `${well} of ${counted(reports.length, 'check')} well` };
  };

/** Releases machines in one call. Gives the nodes that could not be released. */
export const releaseNodes =
  (plan: SitePlan, names: readonly string[], erase: boolean): Phase<{ readonly unreleased: readonly string[] }> =>
  async (run) => {
    const unreleased = await release(run, plan, 'release', names, erase);
    return { value: { unreleased }, ...releasedOf(names, unreleased) };
  };

/** Releases the nodes that were removed from the documents, if the run was started to do so. What is left counts as a failure, and ends nothing. */
export const releaseRemoved = (run: SiteRun, plan: SitePlan): Phase | Skipped =>
  run.input.release_removed
    ? async () => {
        await permitsToRelease(run, plan, plan.removed);
        const unreleased = await release(run, plan, 'release_removed', plan.removed, false);
        await givePermitsBack(run, plan, plan.removed);
        return { value: undefined, ...releasedOf(plan.removed, unreleased) };
      }
    : {
        skipped: `${counted(plan.removed.length, 'node')} removed from the documents, but still deployed; start with "release_removed": true to release them`,
      };

const releasedOf = (names: readonly string[], unreleased: readonly string[]) => ({
  state: unreleased.length > 0 ? ('failed' as const) : ('success' as const),
  detail: `${names.length - unreleased.length} of ${names.length} released`,
});

async function release(
  run: SiteRun,
  plan: SitePlan,
  group: 'release' | 'release_removed',
  names: readonly string[],
  erase: boolean,
): Promise<string[]> {
  const { progress } = run;
  const reports = names.map<NodeReport>((name) => ({ name, state: 'waiting', attempts: 0 }));
  const before = progress.released ?? [];
  progress.released = [...before, ...reports];
  const set = (index: number, change: Partial<NodeReport>): void => {
    reports[index] = { ...reports[index]!, ...change };
    progress.released = [...before, ...reports];
    run.show();
  };
  const now = (): string => isoTime(Date.now());
  const listener: CallListener = {
    started: (index) => set(index, { attempts: 1, started_at: now() }),
    finished: (index, result) =>
      set(
        index,
        result.ok
          ? { state: 'success', ended_at: now(), ...(result.warnings?.length ? { warnings: result.warnings } : {}) }
          : { state: 'failed', ended_at: now(), failure_kind: result.failure.kind, reason: result.failure.message },
      ),
  };
  const request: CallRequest = {
    verb: 'release',
    group,
    site: plan.site,
    revision: plan.revision,
    run_id: progress.run_id,
    nodes: names.map((name, index) => ({ index, name, attempt: 1 })),
    interval: plan.pace.release.interval,
    timeout: plan.pace.release.timeout,
    max_parallel_nodes: plan.pace.max_parallel_nodes,
    heartbeat_seconds: plan.pace.heartbeat_seconds,
    erase,
    ...given({ permit: permitOf(run, plan) }),
  };
  const announce = (end: CallEnd): void => {
    if (end.kind !== 'timeout') return;
    reports.forEach((report, index) => {
      if (report.state === 'waiting')
        set(index, {
          state: 'failed',
          ended_at: now(),
          failure_kind: 'timeout',
          reason: `not released within ${request.timeout} s${lastAttempt(end.errors?.[index])}`,
        });
    });
  };
  await run.call(names.length, request, listener, announce);
  await run.record(releasedRecords(run.kind, reports));
  return reports.filter(({ state }) => state !== 'success').map(({ name }) => name);
}

/** The last phase of a site: runs the graph `default` of its cluster as a child workflow. */
export const runSoftware = ({ cluster }: SitePlan): Phase | Skipped =>
  cluster === undefined
    ? { skipped: 'no cluster is linked to this site' }
    : async (run) => {
        const { input, progress, control } = run;
        const workflowId = run.idOf(graphWorkflowId(cluster, progress.run_id));
        const fail = (message: string): never =>
          run.failPhase({ kind: 'software-failed', cluster, workflow_id: workflowId, message }, message);
        progress.software = {
          workflow_id: workflowId,
          phase: 'starting',
          ...{ done: 0, total: 0, counts: NO_TASKS, failing_nodes: 0, running: [], silent: [] },
        };
        run.show();
        const graphInput: GraphRunInput = {
          cluster,
          graphs: DEFAULT_GRAPHS,
          ...given({ started_by: run.startedBy, override_limits: input.override_limits, reason: input.reason }),
        };
        let child: Child<'execute_graph'> | null = null;
        const result = control.interruptible(async () => {
          child = await startChildOf('execute_graph', {
            id: workflowId,
            input: graphInput,
            summary: `graph default of cluster ${cluster}`,
            attributes: run.attributesOf({
              SiteName: input.site,
              StartedBy: run.startedBy,
              GraphType: 'default',
              RunPhase: 'starting',
            }),
          });
          control.wake();
          return child.result();
        });
        const { outcome } = await follow(run, result, () => child).catch((error: unknown) => {
          if (control.cancelled || !(error instanceof TemporalFailure)) throw error;
          return fail(stepError(error).message);
        });
        if (outcome === 'stopped' && !control.stopping) return fail(`${workflowId} was stopped`);
        const state = outcome === 'success' || outcome === 'nothing_to_do' ? 'success' : 'stopped';
        return { value: undefined, state, detail: `${workflowId}: ${outcome}` };
      };

/** Forwards pause, resume and stop of the site's run to the child until it has ended. */
async function follow(
  { control }: SiteRun,
  result: Promise<GraphRunResult>,
  childOf: () => Child<'execute_graph'> | null,
): Promise<GraphRunResult> {
  let ended = false;
  const done = (): void => {
    ended = true;
    control.wake();
  };
  // The caller awaits the result and handles its failure.
  void result.then(done, done);
  const sent = { paused: false, stopping: false };
  while (!ended) {
    const child = childOf();
    if (child !== null) {
      const paused = control.paused !== null;
      if (paused !== sent.paused) void child.signal(paused ? 'pause' : 'resume');
      if (control.stopping && !sent.stopping) void child.signal('stop');
      sent.paused = paused;
      sent.stopping = control.stopping;
    }
    await control.changed();
  }
  return result;
}
