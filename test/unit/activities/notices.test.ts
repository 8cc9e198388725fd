import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ActivityDependencies } from '../../../activities/index.ts';
import { noticeActivities } from '../../../activities/run/notices.ts';
import { openStore, type Store } from '../../../src/store/index.ts';
import { type NoticeReceiver, noticeReceiver } from '../../rig/notice-receiver.ts';

let store: Store;
let folder: string;
let receiver: NoticeReceiver;
beforeEach(async () => {
  store = await openStore('sqlite::memory:');
  await store.migrate();
  folder = await mkdtemp(join(tmpdir(), 'sitewright-notices-'));
  receiver = await noticeReceiver();
  await writeFile(
    join(folder, 'receivers.yaml'),
    JSON.stringify({ receivers: [{ name: 'pager', url: receiver.url, secret: 'a secret of the pager' }] }),
  );
});
afterEach(async () => {
  await receiver.close();
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

const AT = '2026-11-28T04:00:00.000Z';
const row = (more: object) => ({
  ...{ id: 'r1', sequence: 5, workflowId: 'deploy_site:dc1', kind: 'deploy_site', site: 'dc1' },
  ...{ startedAt: AT, startedBy: 'temporal, says alice', phase: 'baremetal', ...more },
});

/** Asks an activity as a workflow of someone's own does. */
function ask<Name extends 'plan_notice' | 'deliver_notice'>(name: Name, request: object): Promise<unknown> {
  const deps = { store, notices: { file: join(folder, 'receivers.yaml'), giveUpSeconds: 60 } };
  const activities = noticeActivities(deps as unknown as ActivityDependencies);
  const info = {
    workflowExecution: { workflowId: 'forged', runId: 'f1' },
    // Long ago: nothing is waited for.
    currentAttemptScheduledTimestampMs: Date.parse(AT),
  };
  const environment = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') });
  return environment.run(activities[name] as (request: unknown) => Promise<unknown>, request);
}

const forged = (event: string, id = 'r1') => ({
  receiver: 'pager',
  notice: {
    ...{ event, at: AT, reason: 'approve at https://evil.example', next_step: 'hurry' },
    awaiting_approval: [{ before: 'evil', since: AT }],
    run: { id, workflow_id: 'x', kind: 'deploy_site', site: 'prod', title: 'evil', url: 'https://evil.example' },
  },
});

it.each([
  ['failed', { outcome: 'success', endedAt: AT }],
  ['failed', { outcome: 'cancelled', endedAt: AT }],
  ['failed', {}],
  ['held', {}],
  ['held', { held: true, outcome: 'failed', endedAt: AT }],
  ['awaiting_approval', {}],
])('a notice %s of a run with %j is not sent, whoever asks', async (event, state) => {
  await store.runs.put(row(state));
  for (const request of [forged(event), forged(event, 'no-such-run')])
    for (const name of ['plan_notice', 'deliver_notice'] as const)
      await expect(ask(name, request)).rejects.toMatchObject({ type: 'NoSuchNotice', nonRetryable: true });
  expect(receiver.received).toEqual([]);
  expect(await store.notices.list()).toEqual([]);
});

it('a notice has the words of the store, and the same id whoever sends it again', async () => {
  await store.runs.put(row({ outcome: 'failed', endedAt: AT, failure: 'critical group failed: a' }));
  expect(await ask('plan_notice', forged('failed'))).toMatchObject({ receivers: ['pager'] });
  await ask('deliver_notice', forged('failed'));
  await ask('deliver_notice', forged('failed'));
  const [{ body, headers }, again] = receiver.received as [NoticeReceiver['received'][number], unknown];
  expect(body).toEqual({
    id: expect.any(String),
    event: 'failed',
    at: AT,
    run: {
      ...{ id: 'r1', workflow_id: 'deploy_site:dc1', kind: 'deploy_site', site: 'dc1', cluster: null },
      started_by: 'temporal, says alice',
    },
    reason: 'critical group failed: a',
    text: 'deploy_site of dc1 failed: critical group failed: a',
  });
  expect(JSON.stringify([body, headers])).not.toContain('evil');
  expect(again).toMatchObject({ body: { id: (body as { id: string }).id } });
});

it('a notice of a run that waits or is held says what the run shows', async () => {
  const waiting = [{ before: 'compute', since: AT }];
  await store.runs.put(row({}));
  await store.runs.show(
    row({ sequence: 6, awaitingApproval: true, statusAt: AT, status: { awaiting_approval: waiting } }) as never,
    {},
  );
  await ask('deliver_notice', forged('awaiting_approval'));
  await store.runs.show(
    row({ sequence: 7, held: true, awaitingApproval: false, statusAt: AT, status: {} }) as never,
    {},
  );
  await ask('deliver_notice', forged('held'));
  const ofGraphs = { id: 'r2', workflowId: 'execute_graph:1:x', kind: 'execute_graph', labels: { cluster: '1' } };
  await store.runs.put(row({ ...ofGraphs, held: true, statusAt: AT, status: {} }));
  await ask('deliver_notice', forged('held', 'r2'));
  expect(receiver.received.map(({ body }) => body)).toMatchObject([
    { event: 'awaiting_approval', at: AT, awaiting_approval: waiting },
    { event: 'held', at: AT, next_step: expect.stringContaining('promote') },
    { event: 'held', at: AT, next_step: expect.stringContaining('retry or skip') },
  ]);
});

it.each([
  { seconds: 600, is: 'told' },
  { seconds: 50, is: 'refused' },
])('a notice that a machine is stuck is $is after $seconds s where others took 30', async ({ seconds, is }) => {
  const before = (ago: number) => new Date(Date.now() - ago * 1000).toISOString();
  await store.runs.put(row({ id: 'earlier', outcome: 'success', endedAt: AT, phase: 'finished' }));
  const took = { started_at: before(90), prepared_at: before(60), deploying_at: before(60), ended_at: before(30) };
  const nodes = Array.from({ length: 10 }, (_, index) => `e${index}`).map((node, position) => ({
    ...{ node, sequence: 1, position, released: null },
    report: { name: node, state: 'success' as const, attempts: 1, ...took },
  }));
  await store.runs.putNodes('earlier', nodes);
  const running = { name: 'n1', state: 'prepared', running: 'deploy', attempts: 1, deploying_at: before(seconds) };
  const now = row({ id: 'r2', sequence: 1, workflowId: 'deploy_site:dc2', site: 'dc2' });
  await store.runs.show({ ...now, status: null, statusAt: AT } as never, { baremetal: { nodes: [running] } } as never);
  const asked = ask('deliver_notice', forged('stuck', 'r2'));
  if (is === 'refused') {
    await expect(asked).rejects.toMatchObject({ type: 'NoSuchNotice' });
    expect(receiver.received).toEqual([]);
    return;
  }
  await asked;
  expect(receiver.received[0]!.body).toMatchObject({
    event: 'stuck',
    run: { id: 'r2' },
    reason: expect.stringMatching(/^n1 /),
  });
});
