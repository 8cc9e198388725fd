import { MaasError, type MachineContext, MachineStatus } from '@sitewright/maas';
import { ActivityCancellationDetails } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { describe, expect, it } from 'vitest';
import type { AbortAnswer, NodeCall } from '../../../activities/contract.ts';
import type { ActivityDependencies } from '../../../activities/index.ts';
import type { SiteCache } from '../../../activities/site/cache.ts';
import { nodeActivities } from '../../../activities/site/node-calls.ts';
import { IN_FLIGHT } from '../../../src/core/deployment/failures.ts';
import { describeSilence } from '../../../src/core/run/late-text.ts';

const NOW = Date.now();
const request: NodeCall = {
  ...{ site: 'dc1', revision: 1, node: 'n1', run_id: 'r1', attempt: 1, interval: 1 },
  system_id: 'abc123',
};
const claim = { workflowId: 'w1', runId: 'r1', executionId: 'r1', generation: 1, claimedAt: '' };

/** Aborts on a MAAS with only the given answers. */
const abort = (silentSince: number, username: (signal: AbortSignal) => Promise<string>): Promise<AbortAnswer> =>
  abortOn({ silentSince, username });

function abortOn(client: object, more: Partial<MachineContext> = {}): Promise<AbortAnswer> {
  const deps = {
    store: {
      claims: { holder: async () => claim },
      deployedMachines: { forget: async () => undefined },
      sites: { get: async () => ({ cluster: null }) },
      clusters: { list: async () => [] },
      nodes: { list: async () => [] },
    },
    hold: async () => ({ paused: { since: 'noon' }, stopping: false }),
    maas: () => ({ client, ...more }),
  } as unknown as ActivityDependencies;
  const nodes = [{ name: 'n1' }];
  const cache = { load: async () => ({ site: { nodes } }) } as unknown as SiteCache;
  const environment = new MockActivityEnvironment(
    { workflowExecution: { workflowId: 'w1', runId: 'r1' }, scheduledTimestampMs: NOW - 6_000 },
    { logger: new DefaultLogger('ERROR') },
  );
  return environment.run(nodeActivities(deps, cache).abort_node, request);
}

const hangs = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
const isAway = () =>
  Promise.reject(
    new MaasError({
      kind: 'connection-lost',
      request: 'GET',
      retryable: true,
      outcomeUnknown: false,
      message: 'cut',
    } as never),
  );

describe('an abort while MAAS has not answered for minutes', () => {
  it.each([
    ['hangs', hangs],
    ['is away', isAway],
  ] as const)('gives up in seconds on a MAAS that %s, and reports it', async (_how, username) => {
    const since = NOW - 10 * 60_000;
    expect(await abort(since, username)).toEqual({
      found: 'failed',
      message: expect.stringContaining(`${describeSilence(new Date(since).toISOString())}: `),
    });
  });

  it('is retried while the outage is short', async () => {
    await expect(abort(NOW - 7_000, isAway)).rejects.toMatchObject({ type: 'MaasConnectionLost', nonRetryable: false });
  });
});

it('an abort ends running work, and does not wait for a resume', async () => {
  const annotations = { sitewright_site: 'dc1', sitewright_run: 'r1' };
  const status: number = MachineStatus.Deploying;
  const machine = { systemId: 'abc123', hostname: 'n1', status, owner: 'us', annotations };
  const machines = {
    read: async () => ({ ...machine }),
    abort: async () => void (machine.status = MachineStatus.Allocated),
  };
  expect(await abortOn({ username: async () => 'us', machines })).toEqual({
    found: 'aborted',
    message: 'aborted; n1 (abc123) is Allocated',
  });
});

it('an abort waits for a deployment that its call has sent, and that is on its way', async () => {
  const annotations = { sitewright_site: 'dc1', sitewright_run: 'r1' };
  const machine: Record<string, unknown> & { status: number } = {
    ...{ systemId: 'abc123', hostname: 'n1', owner: 'us', annotations },
    status: MachineStatus.Allocated,
  };
  const machines = {
    read: async () => ({ ...machine }),
    abort: async () => void (machine.status = MachineStatus.Allocated),
  };
  const slept: number[] = [];
  const sleep = async (ms: number): Promise<void> => {
    slept.push(ms);
    machine.status = MachineStatus.Deploying;
  };
  const answer = await abortOn(
    { username: async () => 'us', machines },
    { clock: { now: () => Date.now(), random: () => 0, sleep } },
  );
  expect(answer).toMatchObject({ found: 'aborted' });
  expect([machine.status, slept]).toEqual([MachineStatus.Allocated, [30_000]]);
});

describe('a step whose change is on its way to MAAS', () => {
  const cut = (reason: 'CANCELLED' | 'WORKER_SHUTDOWN', details: object): Promise<unknown> => {
    const environment = new MockActivityEnvironment(
      { workflowExecution: { workflowId: 'w1', runId: 'r1' } },
      { logger: new DefaultLogger('ERROR') },
    );
    const deps = {
      store: { claims: { holder: async () => claim }, givenTags: { get: async () => [] } },
      maas: () => ({
        client: {
          givenUp: () => 'POST machines/abc123/?op=release',
          username: (signal: AbortSignal) => {
            queueMicrotask(() => environment.cancel(reason, new ActivityCancellationDetails(details)));
            return hangs(signal);
          },
        },
      }),
    } as unknown as ActivityDependencies;
    const cache = { load: async () => ({ site: { nodes: [{ name: 'n1' }] } }) } as unknown as SiteCache;
    return environment.run(nodeActivities(deps, cache).release_node, request);
  };

  it('says so when its run cuts it short', async () => {
    expect(await cut('CANCELLED', { cancelRequested: true })).toMatchObject({
      ok: false,
      failure: { kind: IN_FLIGHT },
    });
  });

  it('has no result when its worker ends: another worker goes on', async () => {
    await expect(cut('WORKER_SHUTDOWN', { workerShutdown: true })).rejects.toThrow('WORKER_SHUTDOWN');
  });
});
