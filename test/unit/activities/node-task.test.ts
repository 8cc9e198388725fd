import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { expect, it, vi } from 'vitest';
import type { RunTask } from '../../../activities/graph-contract.ts';
import { type Followed, nodeControlActivities, nodeTaskActivities } from '../../../activities/node-task.ts';
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
