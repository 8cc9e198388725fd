import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';

/** A node's activity in a history: when it was scheduled and closed, in ms since 1970. */
export interface NodeActivity {
  readonly type: string;
  readonly node: string;
  readonly scheduled: number;
  readonly closed: number | undefined;
}

/** When an operator acted, in ms since 1970. */
export interface Moments {
  readonly paused: number;
  readonly resumed: number;
  readonly retried: number | undefined;
  readonly cancelled: number;
  /** How long each request took, in seconds. */
  readonly answered: Readonly<Record<string, number>>;
}

/** Pauses, resumes, retries a node that has failed, and cancels, each at its share of deployed machines. */
export async function interrupt(
  handle: WorkflowHandle,
  { retry, deployed, nodes }: { readonly retry: string; readonly deployed: () => number; readonly nodes: number },
): Promise<Moments> {
  const answered: Record<string, number> = {};
  const timed = async (name: string, work: () => Promise<unknown>): Promise<number> => {
    const from = Date.now();
    await work();
    answered[name] = (Date.now() - from) / 1000;
    return from;
  };
  const reached = async (share: number): Promise<void> => {
    while (deployed() < nodes * share) await delay(100);
  };
  await reached(1 / 10);
  await timed('status', () => handle.query('status'));
  const paused = await timed('pause', () => handle.executeUpdate('pause', { args: [{}] }));
  // What should start no more would have started by then.
  await delay(15_000);
  const resumed = await timed('resume', () => handle.executeUpdate('resume', { args: [{}] }));
  await reached(1 / 4);
  const { failed } = await handle.query<{ failed: { node: string }[] }>('status');
  const retried = failed.some(({ node }) => node === retry)
    ? await timed('retry', () => handle.executeUpdate('retry_node', { args: [{ node: retry }] }))
    : undefined;
  await reached(1 / 2);
  const cancelled = await timed('cancel', () => handle.cancel());
  return { paused, resumed, retried, cancelled, answered };
}

/** How long each took to have its effect, in seconds. */
export function effects(moments: Moments, activities: readonly NodeActivity[], retried: string): object {
  const { paused, resumed, cancelled } = moments;
  const seconds = (from: number, at: number | undefined): number | null =>
    at === undefined || !Number.isFinite(at) ? null : Math.round((at - from) / 10) / 100;
  const isWork = ({ type }: NodeActivity): boolean => type === 'prepare_node' || type === 'deploy_node';
  const scheduled = (wanted: (one: NodeActivity) => boolean): number[] =>
    activities.filter(wanted).map((one) => one.scheduled);
  const after = (from: number, until = Number.POSITIVE_INFINITY): number[] =>
    scheduled((one) => isWork(one) && one.scheduled > from && one.scheduled < until);
  const aborts = activities.filter(({ type }) => type === 'abort_node');
  const again = scheduled(
    (one) => one.node === retried && isWork(one) && one.scheduled > (moments.retried ?? Infinity),
  );
  return {
    answered: moments.answered,
    'pause: last node started': seconds(paused, Math.max(paused, ...after(paused, resumed))),
    'resume: next node started': seconds(resumed, Math.min(...after(resumed))),
    'retry: node started': moments.retried === undefined ? null : seconds(moments.retried, Math.min(...again)),
    'cancel: last node started': seconds(cancelled, Math.max(cancelled, ...after(cancelled))),
    'cancel: aborts': aborts.length,
    'cancel: last abort requested': seconds(cancelled, Math.max(...aborts.map((one) => one.scheduled))),
    'cancel: last abort done': seconds(cancelled, Math.max(...aborts.map(({ closed = Number.NaN }) => closed))),
  };
}
