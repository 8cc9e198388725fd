import {
  ActivityCancellationType,
  type ActivityOptions,
  CancellationScope,
  isCancellation,
  workflowInfo,
} from '@temporalio/workflow';
import type { NodeCall, TakePermits } from '../../activities/contract.ts';
import type { SitePlan } from '../../src/core/contracts/site-run.ts';
import type { PermitAnswer } from '../../src/core/permits/answer.ts';
import { counted } from '../../src/core/text/text.ts';
import { sideQueue } from '../protocol.ts';
import type { SiteRun } from '../site/site-run.ts';
import { bookkeeping } from './activity-options.ts';
import { callActivity } from './border.ts';
import type { Control } from './control.ts';

/** Gives permits back and takes others; those that it may have now. */
export const takePermits = (request: TakePermits): Promise<PermitAnswer> => {
  const { wants } = request;
  const summary = wants.length === 0 ? 'give permits back' : `permits for ${counted(wants.length, 'machine')}`;
  return callActivity('take_permits', request, bookkeeping(summary));
};

/**
 * Waits for the first permits, or news of what they wait for. Null: it was interrupted, by a pause, stop or cancellation, or because
 * something else is to be done.
 */
export async function awaitPermits(
  request: TakePermits,
  control: Control,
  isInterrupted: () => boolean,
): Promise<PermitAnswer | null> {
  const scope = new CancellationScope({ cancellable: true });
  let isOver = false;
  const end = (): void => {
    isOver = true;
    control.wake();
  };
  const answer = scope.run(() => callActivity('await_permits', request, waiting(request))).finally(end);
  // It is awaited below.
  answer.catch(() => undefined);
  while (!isOver) {
    if (control.paused || control.stopping || control.cancelled || isInterrupted()) {
      scope.cancel();
      break;
    }
    await control.changed();
  }
  try {
    return await answer;
  } catch (error) {
    if (isCancellation(error)) return null;
    throw error;
  }
}

/** Undefined: nothing limits the run. */
export function permitOf({ input }: SiteRun, { limits }: SitePlan): NodeCall['permit'] {
  if (limits === undefined) return undefined;
  return input.override_limits === undefined ? 'needed' : 'overridden';
}

/** What a run asks for machines of its site. */
export const permitRequest = (
  run: SiteRun,
  plan: SitePlan,
  work: TakePermits['work'],
  wants: readonly string[],
): TakePermits => ({
  ...{ subject: { site: plan.site }, run_id: run.progress.run_id, site: plan.site, work, wants },
  ...(permitOf(run, plan) === 'overridden' && { overrides: true }),
});

/** Takes permits, and waits for the first of them if there is none, showing why. */
export async function permitsFor(
  run: SiteRun,
  request: TakePermits,
  returned: Pick<TakePermits, 'done' | 'failed' | 'unused'>,
  isInterrupted: () => boolean,
): Promise<readonly string[]> {
  const { progress, control } = run;
  const now = await takePermits({ ...request, ...returned });
  if (now.granted.length > 0) return now.granted;
  run.waitsFor(now.waits);
  const since = Date.now();
  const later = await awaitPermits(request, control, isInterrupted);
  progress.waited = (progress.waited ?? 0) + Date.now() - since;
  run.waitsFor(later?.granted.length === 0 ? later.waits : undefined);
  return later?.granted ?? [];
}

/** Waits until the run may release machines that its documents do not have any more: only the calendar limits that. */
export async function permitsToRelease(run: SiteRun, plan: SitePlan, names: readonly string[]): Promise<void> {
  if (plan.limits === undefined) return;
  const left = new Set(names);
  while (left.size > 0) {
    await run.goOn();
    const request = permitRequest(run, plan, 'release', [...left]);
    for (const name of await permitsFor(run, request, {}, () => false)) left.delete(name);
  }
}

export async function givePermitsBack(run: SiteRun, plan: SitePlan, names: readonly string[]): Promise<void> {
  if (plan.limits !== undefined) await takePermits({ ...permitRequest(run, plan, 'release', []), unused: names });
}

/** A cancellation arrives with the response to a heartbeat: well within ten seconds. What it was granted before counts. */
const waiting = ({ wants, site }: TakePermits): ActivityOptions => ({
  summary: `wait for permits for ${counted(wants.length, 'machine')} of ${site ?? 'the cluster'}`,
  taskQueue: sideQueue(workflowInfo().taskQueue, 'machines'),
  startToCloseTimeout: '7 days',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});
