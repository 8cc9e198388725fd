import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { expect, it, vi } from 'vitest';
import type { RunTask } from '../../../activities/graph-contract.ts';
import {
  type Followed,
  nodeControlActivities,
  nodeTaskActivities,
  type WorkHere,
} from '../../../activities/node/task.ts';
import type { FollowEvent, NodeFacts } from '../../../src/agent/index.ts';
import { obeysTemporal } from '../../rig/agent-orders.ts';

const attempt = { run: 'r', task: 't', node: 'n', generation: 1 };
const request: RunTask = { ...attempt, type: 'shell', mode: 'apply', plan: 'p' };
const execution = { ...attempt, type: 'shell', mode: 'apply' as const, plan: 'p', parameters: {} };

/** An agent that follows a task through `phases`, until it is to leave. */
function following(phases: readonly string[]) {
  let reached: () => void = () => undefined;
  const isFollowed = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const leaving = new AbortController();
  const followed: Followed = new Map();
  const agent = {
    execution: ({ task }: { task: string }) => (task === 't' ? execution : undefined),
    hasStarted: () => true,
    generations: () => [],
    ensure: async () => ({ kind: 'accepted', result: undefined }) as const,
    cancel: () => undefined,
    async *follow(_key: unknown, _from: unknown, stop?: AbortSignal): AsyncGenerator<FollowEvent> {
      for (const phase of phases)
        yield { kind: 'progress', progress: { phase, sessions: [], tries: [] } } as unknown as FollowEvent;
      reached();
      await new Promise((resolve) => stop!.addEventListener('abort', resolve));
    },
    facts: (): NodeFacts => ({ node: 'n', bootId: 'b', taskTypes: [], containment: 'process-walk', unfinished: [] }),
  };
  const none = () => Promise.reject(new Error('none'));
  const orders = { fetch: none, secret: none, source: none, ship: async () => undefined };
  const { run_task } = nodeTaskActivities({
    ...{ node: 'n', agent, orders, control: obeysTemporal, followed, leaving: leaving.signal },
  });
  const { ping } = nodeControlActivities({
    ...{ node: 'n', agent, version: '1', control: obeysTemporal, followed, instance: 'i', drain: none },
  });
  const beats: unknown[] = [];
  const environment = new MockActivityEnvironment(
    { heartbeatTimeoutMs: 140_000 },
    { logger: new DefaultLogger('ERROR') },
  );
  environment.on('heartbeat', (details: unknown) => beats.push(details));
  const end = environment.run(run_task, request).catch((error: unknown) => error);
  return { beats, end, isFollowed, leaving, ping, environment };
}

it('a task sends heartbeats only for the time limit, and a last one when it is left', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] });
  try {
    const { beats, end, isFollowed, leaving } = following(['waiting', 'running', 'pausing', 'running']);
    const go = async (ms: number): Promise<number> => {
      await vi.advanceTimersByTimeAsync(ms);
      return beats.length;
    };
    expect(await go(20_000)).toBe(0);
    await isFollowed;
    expect(await go(114_000)).toBe(1);
    expect(await go(10 * 134_000)).toBe(11);
    leaving.abort();
    expect(await end).toMatchObject({ type: 'AgentGone' });
    expect(beats).toHaveLength(12);
    expect(beats.at(-1)).toMatchObject({ gen: 1, phase: 'running' });
  } finally {
    vi.useRealTimers();
  }
});

it('a ping makes an agent send its heartbeat, and returns whether an attempt has started', async () => {
  const { beats, end, isFollowed, leaving, ping } = following(['running']);
  await isFollowed;
  expect(await ping({ node: 'n' })).not.toHaveProperty('started');
  expect(beats).toHaveLength(1);
  expect(await ping({ node: 'other name', attempt })).toMatchObject({ started: true });
  expect(await ping({ node: 'n', attempt: { ...attempt, task: 'other' } })).toMatchObject({ started: false });
  leaving.abort();
  await end;
  const before = beats.length;
  await ping({ node: 'n' });
  expect(beats).toHaveLength(before);
});

/** A worker that runs tasks itself, as for MAAS, one on each of two nodes. */
function workingHere(work: WorkHere) {
  const followed: Followed = new Map();
  const none = () => Promise.reject(new Error('none'));
  const shared = { node: 'maas', control: obeysTemporal, followed };
  const agent = {} as never;
  const orders = { fetch: none, secret: none, source: none, ship: none } as never;
  const leaving = new AbortController();
  const { run_task } = nodeTaskActivities({
    ...{ ...shared, agent, orders, leaving: leaving.signal, further: () => work },
  });
  const { cancel_task } = nodeControlActivities({ ...shared, agent, version: '1', instance: 'i', drain: none });
  const beats: unknown[] = [];
  const run = (node: string): Promise<unknown> => {
    const environment = new MockActivityEnvironment({ heartbeatTimeoutMs: 30_000 });
    environment.on('heartbeat', (details: unknown) => beats.push(details));
    return environment.run(run_task, { ...request, node }).catch((error: unknown) => error);
  };
  return { run, cancel_task, beats, leaving };
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
const progress = (last: string) => ({ gen: 1, phase: 'running', offset: { stdout: 0, stderr: 0 }, last }) as const;

it('a cancellation ends the task of its node, where a worker runs those of many', async () => {
  const { run, cancel_task, leaving } = workingHere(async (_progress, _from, cancel, leave) => {
    await Promise.race([aborted(cancel), aborted(leave)]);
    return cancel.aborted ? { outcome: 'cancelled' } : undefined;
  });
  const [first, second] = [run('n1'), run('n2')];
  const cancelled = new MockActivityEnvironment().run(cancel_task, { ...attempt, node: 'n1' });
  await cancelled;
  expect(await first).toEqual({ outcome: 'cancelled' });
  leaving.abort();
  expect(await second).toMatchObject({ type: 'AgentGone' });
});

it('a task that a worker runs itself hears of a cancellation within seconds, and each of its steps is kept', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] });
  try {
    let step: (last: string) => void = () => undefined;
    const { run, beats, leaving } = workingHere(async (onProgress, _from, _cancel, leave) => {
      step = (last) => onProgress(progress(last));
      await aborted(leave);
      return undefined;
    });
    const end = run('n1');
    step('off');
    expect(beats.at(-1)).toMatchObject({ last: 'off' });
    const before = beats.length;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(beats.length - before).toBeGreaterThanOrEqual(4);
    leaving.abort();
    await end;
  } finally {
    vi.useRealTimers();
  }
});
