import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AskHost } from '../../../../activities/check/ask-host.ts';
import type { RunCheckAnswer } from '../../../../activities/contract.ts';
import { createActivities } from '../../../../activities/index.ts';
import { plannerHere } from '../../../../src/clusters/planning/index.ts';
import type { Check } from '../../../../src/core/checks/check.ts';
import { openStore, type Store } from '../../../../src/store/index.ts';
import { resolvedRevision } from '../../../rig/resolved-revision.ts';

const NODES = Array.from({ length: 100 }, (_, at) => `n${at}`);
const METRICS: Check = {
  name: 'metrics',
  probe: { kind: 'http', url: { yaql_exp: "'http://' + $.node.name + '/'" }, status: 200 },
  ...{ within: 0, every: 0, failures: 2, timeout: 10 },
};

const OURS = { workflowId: 'test_site:dc1', runId: 'r1' };

let store: Store;
beforeEach(async () => {
  store = await openStore('sqlite::memory:');
  await store.migrate();
  await store.sites.create({ name: 'dc1' });
  const text = [
    'schema: shipyard/DeploymentConfiguration/v1\nmetadata: {name: deployment-configuration}\ndata: {armada: {manifest: m}}\n',
    ...NODES.map((name) => `schema: drydock/BaremetalNode/v1\nmetadata: {name: ${name}}\ndata: {}\n`),
  ].join('---\n');
  const files = [{ name: 'site.yaml', text }];
  const { resolved } = resolvedRevision(files);
  const gateway: Check = { ...METRICS, name: 'gateway', probe: { kind: 'tcp', host: 'gw', port: 1 } };
  const checks = [METRICS, gateway, { ...gateway, name: 'slow', failures: 20, every: 600 }];
  await store.claims.claim({ site: 'dc1' }, { ...OURS, executionId: OURS.runId });
  await store.sites.addRevision('dc1', { files, resolved: { ...resolved!, checks } });
});
afterEach(() => store.close());

function running(askHost: AskHost) {
  const { run_check } = createActivities({
    ...{ store, askHost, planner: plannerHere(), searchAttributes: async () => [] },
    maas: () => ({ client: {} }) as never,
    ...{ hold: async () => ({ paused: null, stopping: false }), end: async () => null },
    ...{ tried: async () => [], execution: async () => null },
    settings: { max_parallel_nodes: 1, heartbeat_seconds: 5 },
  });
  const environment = new MockActivityEnvironment({ workflowExecution: OURS });
  const run = (check: string, nodes?: readonly string[]): Promise<RunCheckAnswer> =>
    environment.run(run_check, { site: 'dc1', run_id: OURS.runId, revision: 1, check, ...(nodes && { nodes }) });
  return { environment, run };
}

it('asks each node until it has a verdict, and answers in less than a kilobyte', async () => {
  const asked = new Map<string, number>();
  const { run } = running(async (question) => {
    const { hostname } = new URL(question.kind === 'tcp' ? '' : question.url);
    const times = (asked.get(hostname) ?? 0) + 1;
    asked.set(hostname, times);
    const number = Number(hostname.slice(1));
    if (number % 4 === 0) return { kind: 'http', status: times === 2 ? 200 : 503, body: '', isWhole: true };
    if (number % 4 === 1) return { kind: 'none', why: `no answer: ${'x'.repeat(200)}${number}` };
    return { kind: 'http', status: number % 4 === 2 ? 200 : 400 + number, body: '', isWhole: true };
  });
  const answer = await run('metrics', NODES);
  expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(1_024);
  expect(answer.unwell.flatMap(({ nodes }) => nodes).toSorted((a, b) => a - b)).toEqual(
    NODES.flatMap((_, at) => (at % 2 === 1 ? [at] : [])),
  );
  for (const { verdict, nodes } of answer.unwell)
    expect(new Set(nodes.map((at) => (at % 4 === 1 ? 'unknown' : 'failed')))).toEqual(new Set([verdict]));
  expect([asked.get('n0'), asked.get('n1'), asked.get('n2'), asked.get('n3')]).toEqual([2, 2, 1, 2]);
});

it('keeps what came of it for each node, with the time it took', async () => {
  const { run } = running(async (question) => {
    const { hostname } = new URL(question.kind === 'tcp' ? '' : question.url);
    if (hostname === 'n1') return { kind: 'none', why: `no answer\n${'x'.repeat(700)}` };
    return { kind: 'http', status: hostname === 'n2' ? 503 : 200, body: 'secret of the host', isWhole: true };
  });
  await run('metrics', ['n0', 'n1', 'n2']);
  await run('metrics', ['n2']);
  const kept = await store.checkResults.list('dc1', { newest: true });
  expect(kept).toMatchObject([
    { node: 'n2', verdict: 'failed', text: 'HTTP 503 instead of 200' },
    { node: 'n1', verdict: 'unknown' },
    { node: 'n0', verdict: 'well', text: 'HTTP 200', runId: OURS.runId, name: 'metrics', output: null },
  ]);
  expect(kept[1]!.text).toMatch(/^no answer x{490}$/);
  expect(kept[1]!.text.length).toBe(500);
  for (const { ms, at } of kept)
    expect([ms >= 0 && ms < 10_000, Date.now() - Date.parse(at) < 60_000]).toEqual([true, true]);
  expect(JSON.stringify(await store.checkResults.list('dc1'))).not.toContain('secret of the host');
  expect(await store.checkResults.list('dc1', { node: 'n2' })).toHaveLength(2);
});

it('keeps nothing once another run has the site', async () => {
  const { run } = running(async () => {
    await store.claims.release({ site: 'dc1' }, OURS);
    return { kind: 'connected' };
  });
  await expect(run('gateway')).rejects.toMatchObject({ type: 'ClaimLost' });
  expect(await store.checkResults.list('dc1')).toEqual([]);
});

it('asks once where nothing is computed, and of a node that the documents do not have knows nothing', async () => {
  const { run } = running(async ({ kind }) => (kind === 'tcp' ? { kind: 'connected' } : { kind: 'refused' }));
  expect(await run('gateway')).toEqual({ unwell: [] });
  expect(await run('metrics', ['gone'])).toMatchObject({ unwell: [{ verdict: 'unknown', nodes: [0] }] });
});

it('ends while it waits to ask again, when nobody waits for its answer', async () => {
  const { environment, run } = running(async () => {
    setImmediate(() => environment.cancel());
    return { kind: 'refused' };
  });
  await expect(run('slow')).rejects.toMatchObject({ name: 'CancelledFailure' });
});

it('without an answer nothing is well: no host is asked unless the installation declares it', async () => {
  const { hostAsker } = await import('../../../../activities/check/ask-host.ts');
  const { run } = running(hostAsker([]));
  expect(await run('gateway')).toMatchObject({ unwell: [{ verdict: 'unknown' }] });
});

it('asks the check of a package of the cluster, which one of the site replaces', async () => {
  const document = (name: string, port: number) => ({
    ...{ schema: 'sitewright/Check/v1', metadata: { name } },
    data: { tcp: { host: 'package', port } },
  });
  const release = await store.releases.create({
    ...{ name: 'r', version: '1' },
    metadata: { checks: [document('serves', 1), document('gateway', 2)] },
  });
  const plugin = await store.plugins.create({
    ...{ name: 'p', version: '1', packageVersion: '5.0.0' },
    metadata: { checks: [document('serves', 3)] },
  });
  const cluster = await store.clusters.create({ name: 'c', site: 'dc1', releaseId: release.id });
  const asked: unknown[] = [];
  const { run } = running(async (question) => {
    asked.push(question);
    return { kind: 'connected' };
  });
  await run('serves');
  await store.plugins.link(cluster.id, plugin.id, { enabled: true });
  for (const check of ['serves', 'gateway']) expect(await run(check)).toEqual({ unwell: [] });
  expect(asked).toMatchObject([
    { host: 'package', port: 1 },
    { host: 'package', port: 3 },
    { host: 'gw', port: 1 },
  ]);
  await expect(run('gone')).rejects.toMatchObject({ type: 'CheckNotFound' });
});
