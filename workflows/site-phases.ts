import type { SiteCheck } from '../activities/contract.ts';
import type { NodeReport } from '../src/core/contracts/site-run-report.ts';
import type { CallEnd } from '../src/core/deployment/index.ts';
import { BEFORE_CHANGES, isoTime } from '../src/core/run/index.ts';
import { type PhaseName, releasedRecords, type SitePlan } from '../src/core/site-run/index.ts';
import { siteCheck } from './activity-options.ts';
import { approved, isHeld } from './approval.ts';
import { runBaremetal } from './baremetal.ts';
import { callActivity } from './border.ts';
import { type CallListener, runCall } from './call.ts';
import { NODES_IN_ONE_WORKFLOW } from './call-slices.ts';
import type { CallRequest } from './contract.ts';
import type { SiteRun } from './site-operators.ts';

/** Verifies or prepares the site as a whole. True when the run may continue. */
export async function checkSite(
  run: SiteRun,
  plan: SitePlan,
  phase: 'verify_site' | 'prepare_site',
  nodes?: readonly string[],
): Promise<boolean> {
  const pace = plan.pace[phase];
  const passed = await run.phase(phase, async () => {
    const release = phase === 'verify_site' && run.kind === 'redeploy_nodes';
    const request: SiteCheck = {
      site: plan.site,
      revision: plan.revision,
      pace,
      ...(nodes ? { nodes } : {}),
      ...(release ? { release } : {}),
    };
    const summary = phase === 'verify_site' ? `verify site ${plan.site}` : `prepare site ${plan.site}`;
    const options = siteCheck(summary, pace, plan.pace.heartbeat_seconds);
    const answer = await run.control.readOnly(() => callActivity(phase, request, options));
    run.progress.warnings.push(...answer.warnings);
    if (answer.ok) return { value: true, ...(answer.changes?.length ? { detail: answer.changes.join('; ') } : {}) };
    run.fail({
      kind: phase === 'verify_site' ? 'verify-site-failed' : 'prepare-site-failed',
      problems: answer.problems,
    });
    return { value: false, state: 'failed', detail: answer.problems.join('; ') };
  });
  return passed === true;
}

/** Checks the site and deploys its groups. Returns the plan, or null when the run must not continue. */
export async function deployGroups(run: SiteRun): Promise<SitePlan | null> {
  const plan = await run.loadPlan();
  if (!plan || !(await checkSite(run, plan, 'verify_site'))) return null;
  if (isHeld(run, BEFORE_CHANGES) && !(await approved(run, BEFORE_CHANGES))) return null;
  if (!(await checkSite(run, plan, 'prepare_site'))) return null;
  await runBaremetal(run, plan);
  return run.progress.failure || !(await run.control.mayStart()) ? null : plan;
}

/** Releases machines in one call. Returns the nodes that could not be released, or null when the phase did not run. */
export async function releaseNodes(
  run: SiteRun,
  plan: SitePlan,
  phase: PhaseName,
  names: readonly string[],
  erase: boolean,
): Promise<string[] | null> {
  const { control, progress } = run;
  return run.phase(phase, async () => {
    const reports = names.map<NodeReport>((name) => ({ name, state: 'waiting', attempts: 0 }));
    progress.released = reports;
    const set = (index: number, change: Partial<NodeReport>): void => {
      reports[index] = { ...reports[index]!, ...change };
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
      group: phase,
      site: plan.site,
      revision: plan.revision,
      run_id: progress.run_id,
      nodes: names.map((name, index) => ({ index, name, attempt: 1 })),
      interval: plan.pace.release.interval,
      timeout: plan.pace.release.timeout,
      max_parallel_nodes: plan.pace.max_parallel_nodes,
      heartbeat_seconds: plan.pace.heartbeat_seconds,
      erase,
    };
    const announce = (end: CallEnd): void => {
      if (end.kind !== 'timeout') return;
      reports.forEach((report, index) => {
        if (report.state === 'waiting')
          set(index, {
            state: 'failed',
            ended_at: now(),
            failure_kind: 'timeout',
            reason: `not released within ${request.timeout} s`,
          });
      });
    };
    const sliced = names.length > NODES_IN_ONE_WORKFLOW;
    await (sliced ? run.slices.run : runCall)(request, control, listener, announce);
    await run.record(releasedRecords(run.kind, reports));
    const failed = reports.filter((report) => report.state !== 'success').map((report) => report.name);
    return {
      value: failed,
      state: failed.length > 0 ? 'failed' : 'success',
      detail: `${names.length - failed.length} of ${names.length} released`,
    };
  });
}
