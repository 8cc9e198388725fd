import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { MachineStatus } from '@sitewright/maas';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { NodeReport } from '../../src/core/contracts/site-run-report.ts';
import { given } from '../../src/core/data/given.ts';
import { gitRepository } from '../rig/git-repository.ts';
import { exampleDocuments, exampleHosts, type LivingSite, livingSite } from '../rig/living-site.ts';
import { lookAgain, lookUntil } from '../rig/look-again.ts';
import { noticeReceiver } from '../rig/notice-receiver.ts';
import { onServer, type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { type Answer, type ApiRig, apiOfSite } from './api-rig.ts';

let rig: TemporalRig;
let site: LivingSite;
let api: ApiRig;

beforeAll(async () => {
  // Workflow ids contain the site's name: a separate namespace keeps the runs of other suites from colliding.
  rig = await temporalRig({ namespace: 'own' });
});
afterEach(async () => {
  // The next test's site has the same name: no workflow of this one may be open still.
  for (const { workflow_id, id } of (await api.ask('GET', '/api/v1/runs')).body.items) {
    const handle = rig.client.workflow.getHandle(workflow_id, id);
    await handle.terminate('the test is over').catch(() => undefined);
    await handle.result().catch(() => undefined);
  }
  await api.close();
  await site.close();
});
afterAll(() => rig.close());

const machines = exampleHosts.map((hostname) => ({ hostname, status: MachineStatus.New, power_type: 'ipmi' }));
const HOUR = 3_600_000;

async function living(auto: Record<string, unknown> = {}, notices = false): Promise<void> {
  site = await livingSite(rig, { seed: { machines }, auto, notices });
  api = await apiOfSite(rig, site);
  const committed = await api.ask('POST', '/api/v1/sites/stl1/revisions', { files: await exampleDocuments() });
  expect(committed.status).toBe(201);
}

const start = (body: object): Promise<Answer> => api.ask('POST', '/api/v1/sites/stl1/runs', body);

/** Asks until the answer is as wanted; the test's time limit is the only clock. */
async function until(path: string, wanted: (body: Answer['body']) => boolean): Promise<Answer['body']> {
  for (;;) {
    const { status, body } = await api.ask('GET', path);
    expect(status, JSON.stringify(body)).toBe(200);
    if (wanted(body)) return body;
    await lookAgain();
  }
}

const finished = (run: string) => until(`/api/v1/runs/${run}`, (body) => body.outcome !== null);

it('a deployment is started, watched, and read after its end', async () => {
  await living();
  const started = await start({ kind: 'deploy_site', reason: 'first time', started_by: 'nina' });
  const { id } = started.body;
  expect(started).toMatchObject({
    status: 202,
    headers: { location: `/api/v1/runs/${id}` },
    body: {
      kind: 'deploy_site',
      site: 'stl1',
      started_by: 'nina',
      reason: 'first time',
      outcome: null,
      cluster: null,
      number: expect.any(Number),
      temporal_url: `http://temporal.example/namespaces/${rig.namespace}/workflows/deploy_site%3Astl1/${id}`,
    },
  });
  expect(await finished(id)).toMatchObject({
    outcome: 'success',
    phase: 'finished',
    revision: 1,
    failed_nodes: 0,
    parameters: { site: 'stl1', reason: 'first time', started_by: 'nina' },
  });
  const status = await api.ask('GET', `/api/v1/runs/${id}/status`);
  expect(status).toMatchObject({ status: 200, body: { phase: 'finished', outcome: 'success', done: 6, total: 6 } });
  const { body: report } = await api.ask('GET', `/api/v1/runs/${id}/report`);
  expect(report).toMatchObject({
    outcome: 'success',
    revision: 1,
    baremetal: { processed: ['masters', 'worker_group_0', 'workers'] },
  });
  const { body: tree } = await api.ask('GET', `/api/v1/runs/${id}/tree`);
  expect(tree).toMatchObject({ name: 'deploy_site:stl1', kind: 'run', state: 'success' });
  const { body: plan } = await api.ask('GET', `/api/v1/runs/${id}/plan`);
  expect(plan.plan).toMatchObject({ site: 'stl1', revision: 1, nodes: exampleHosts });
  const { body: nodes } = await api.ask('GET', `/api/v1/runs/${id}/nodes`);
  expect(nodes.items.map((node: { name: string; state: string }) => [node.name, node.state])).toEqual(
    exampleHosts.map((host) => [host, 'success']),
  );
  const { headers } = await api.ask('GET', `/api/v1/runs/${id}/nodes/stl1r01s05/temporal`);
  const page = `http://temporal.example/namespaces/${rig.namespace}/workflows/deploy_site%3Astl1/${id}/history/events/`;
  const { events } = await rig.client.workflow.getHandle('deploy_site:stl1', id).fetchHistory();
  const newest = events?.findLast((one) =>
    one.activityTaskScheduledEventAttributes?.activityId?.endsWith(':stl1r01s05'),
  );
  expect(headers.location).toBe(`${page}${newest?.eventId}`);
  const { body: history } = await api.ask('GET', '/api/v1/sites/stl1/nodes/stl1r01s05/history');
  expect(history).toMatchObject({
    items: [{ node: { name: 'stl1r01s05', state: 'success' }, run: { id, outcome: 'success' } }],
    next: null,
  });
  const { body: revision } = await api.ask('GET', '/api/v1/sites/stl1/revisions/last-good');
  expect(revision).toMatchObject({ number: 1, last_good: true });

  // Immediately: the workflow of the first may still be closing.
  const again = await start({ kind: 'deploy_site' });
  expect(again).toMatchObject({ status: 202 });
  expect(await finished(again.body.id)).toMatchObject({ outcome: 'success' });
});

it('a run that Temporal no longer has is read from the store', async () => {
  await living();
  const { body: run } = await start({ kind: 'test_site' });
  await finished(run.id);
  const { body: report } = await api.ask('GET', `/api/v1/runs/${run.id}/report`);
  const old = {
    id: 'of-last-year',
    workflowId: 'test_site:stl1',
    temporalRunId: '00000000-0000-4000-8000-000000000000',
  };
  const about = { kind: 'test_site', site: 'stl1', startedAt: '2025-01-01T00:00:00Z' };
  await site.store.runs.put({ ...old, ...about, sequence: 9, phase: 'finished', outcome: 'success' });
  await site.store.runs.putReport(old.id, 9, report);
  expect((await api.ask('GET', `/api/v1/runs/${old.id}/report`)).body).toEqual(report);
  expect(await api.ask('GET', `/api/v1/runs/${old.id}/status`)).toMatchObject({
    status: 200,
    body: { outcome: 'success' },
  });
  expect((await api.ask('GET', `/api/v1/runs/${old.id}/tree`)).body).toMatchObject({
    state: 'success',
    children: expect.arrayContaining([expect.objectContaining({ name: 'load', state: 'success' })]),
  });
  expect((await api.ask('GET', `/api/v1/runs/${old.id}/plan`)).body).toEqual({ plan: null });
  expect(await api.ask('GET', `/api/v1/runs/${old.id}/nodes/stl1r01s05/temporal`)).toMatchObject({ status: 404 });

  const lost = { ...old, id: 'lost', temporalRunId: '00000000-0000-4000-8000-000000000001' };
  await site.store.runs.put({ ...lost, ...about, sequence: 3, phase: 'baremetal' });
  expect(await api.ask('GET', '/api/v1/runs/lost')).toMatchObject({
    status: 200,
    body: { outcome: 'lost', phase: 'finished' },
  });
  expect(await api.ask('POST', '/api/v1/runs/lost/pause')).toMatchObject({ status: 409, body: { code: 'run-ended' } });
});

it('what an open run reports is read from the store, and outlives its workflow', async () => {
  await living({ deploy_ms: HOUR });
  const { body: run } = await start({ kind: 'deploy_site' });
  const path = `/api/v1/runs/${run.id}`;
  await until(`${path}/report`, ({ baremetal }) =>
    baremetal?.nodes.some((one: NodeReport) => one.running === 'deploy'),
  );
  await site.worker.stop();

  const { body: report } = await api.ask('GET', `${path}/report`);
  expect(report.baremetal.nodes).toHaveLength(6);
  expect(report.baremetal.groups[0]).toMatchObject({ name: 'masters', nodes: expect.arrayContaining(['stl1r01s02']) });
  const { body: tree } = await api.ask('GET', `${path}/tree`);
  expect(tree.children.at(-1)).toMatchObject({ name: 'baremetal', state: 'running' });
  const deploying = { name: 'stl1r01s02', kind: 'node', state: 'running', detail: 'deploy' };
  expect(tree.children.at(-1).children[0].children).toContainEqual(deploying);
  expect((await api.ask('GET', `${path}/plan`)).body.plan).toMatchObject({ site: 'stl1', nodes: exampleHosts });

  await rig.client.workflow.getHandle('deploy_site:stl1', run.id).terminate('a wrong click');
  const ended = { outcome: 'terminated', reason: expect.stringContaining('a wrong click') };
  const { body: last } = await until(path, ({ outcome }) => outcome !== null).then(() =>
    api.ask('GET', `${path}/report`),
  );
  expect(last).toMatchObject({
    ...ended,
    phases: expect.arrayContaining([expect.objectContaining({ state: 'stopped' })]),
  });
  expect(last.baremetal.nodes.map(({ name, state }: NodeReport) => [name, state])).toEqual(
    report.baremetal.nodes.map(({ name, state }: NodeReport) => [name, state]),
  );
});

it('a run is paused, resumed, and one of its nodes retried; another run is refused meanwhile', async () => {
  await living({ deploy_ms: HOUR });
  const { body: run } = await start({ kind: 'deploy_site' });
  const path = `/api/v1/runs/${run.id}`;
  await until(`${path}/status`, (body) => body.current?.call === 'deploy' && body.current.running.length === 3);
  // An earlier pause would hold requests that no machine has received yet.
  while (Object.keys(await site.entered(MachineStatus.Deploying)).length !== 3) await lookAgain();

  expect(await api.ask('DELETE', path.replace(/runs.*/, `sites/${run.site}`))).toMatchObject({
    status: 409,
    body: { code: 'site-busy' },
  });

  const second = await start({ kind: 'update_site' });
  expect(second).toMatchObject({
    status: 409,
    body: {
      code: 'site-busy',
      run: { id: run.id, workflow_id: 'deploy_site:stl1' },
      detail: expect.stringContaining(`(run ${run.number})`),
    },
  });
  expect(await start({ kind: 'deploy_site' })).toMatchObject({ status: 409, body: { run: { id: run.id } } });
  expect(await api.ask('DELETE', '/api/v1/sites/stl1')).toMatchObject({ status: 409 });

  const handle = rig.client.workflow.getHandle('deploy_site:stl1', run.id);
  const paused = await api.ask('POST', `${path}/pause`, { reason: 'power work' }, { 'x-sitewright-user': 'eva' });
  expect(paused).toMatchObject({ status: 200, body: { paused: { by: 'eva', reason: 'power work' } } });
  expect(await api.ask('POST', `${path}/pause`)).toMatchObject({ status: 200 });
  expect((await api.ask('GET', `${path}/report`)).body.operator[0]).toMatchObject({ action: 'pause', by: 'eva' });
  // With no worker's answer: from the store, which the run has written to before it answered.
  expect(await api.ask('GET', `${path}/status`)).toMatchObject({
    body: { paused: { by: 'eva' }, as_of: expect.any(String) },
  });
  expect((await api.ask('GET', path)).body).toMatchObject({ paused: true, phase: 'baremetal', total: 6, revision: 1 });

  await handle.signal('pause');

  const tooEarly = await api.ask('POST', `${path}/nodes/stl1r01s03/retry`);
  expect(tooEarly).toMatchObject({
    status: 409,
    body: { code: 'refused', detail: expect.stringContaining('has not failed') },
  });
  expect(await api.ask('POST', `${path}/nodes/nosuch/retry`)).toMatchObject({ status: 409, body: { code: 'refused' } });

  // One machine fails, the others come up; nothing new starts, since the run is paused.
  await ends('stl1r01s03', 'failed');
  for (const host of ['stl1r01s02', 'stl1r01s04']) await ends(host, 'deployed');
  await until(`${path}/status`, (body) => body.counts.failed > 0 && body.current === null);
  await site.control('auto', { commission_ms: 20, deploy_ms: 50, release_ms: 20 });
  const retried = await api.ask('POST', `${path}/nodes/stl1r01s03/retry`, { by: 'eva', reason: 'new cable' });
  expect(retried).toMatchObject({ status: 200, body: { paused: { by: 'eva' } } });
  expect(await api.ask('POST', `${path}/resume`, { by: 'eva' })).toMatchObject({ status: 200, body: { paused: null } });
  expect(await finished(run.id)).toMatchObject({ outcome: 'success' });
  expect(await site.entered(MachineStatus.Deploying)).toMatchObject({ stl1r01s02: 1, stl1r01s03: 2 });

  for (const verb of ['pause', 'resume', 'stop', 'cancel', 'nodes/stl1r01s03/retry'])
    expect(await api.ask('POST', `${path}/${verb}`)).toMatchObject({
      status: 409,
      body: {
        code: 'run-ended',
        detail: `run ${run.number} has ended: success`,
        hint: `Start it again: sitewright run again ${run.number}`,
      },
    });
  const { body: audit } = await api.ask('GET', `/api/v1/audit?target=run/${run.id}`);
  expect(audit.items.map((entry: { action: string }) => entry.action)).toContain('run.retry_node');
  expect(audit.items.find((entry: { action: string }) => entry.action === 'run.pause')).toMatchObject({ actor: 'api' });
});

it('a rollout is held, promoted and ended by request, which say why where they cannot be', async () => {
  await living();
  const waves = '- name: masters\n      rollout: { first: 1, then: { by: 1 }, soak: 1h }';
  const files = (await exampleDocuments()).map(({ name, text }) => ({
    ...{ name, text: text.replace('- name: masters', waves).replace('nodes: 100', 'nodes: 30') },
  }));
  expect((await api.ask('POST', '/api/v1/sites/stl1/revisions', { files })).status).toBe(201);
  const { body: run } = await start({ kind: 'deploy_site' });
  const path = `/api/v1/runs/${run.id}`;
  const rolloutOf = ({ groups }: Answer['body']) =>
    groups.find(({ name }: { name: string }) => name === 'masters')?.rollout;
  const reaches = (wanted: object) =>
    until(`${path}/status`, (body) => {
      const rollout = rolloutOf(body);
      return Object.entries(wanted).every(([field, value]) => rollout?.[field] === value);
    });
  const ask = (verb: string, body: object = {}) => api.ask('POST', `${path}/${verb}`, body);
  const refused = (detail: string) => ({
    status: 409,
    body: { code: 'refused', detail: expect.stringContaining(detail) },
  });
  await reaches({ state: 'soaking', wave: 1, waves: 3, limit: 1 });

  expect(await ask('hold', { by: 'nina', reason: 'look first' })).toMatchObject({
    status: 200,
    body: { phase: 'baremetal' },
  });
  expect(await ask('hold', { group: 'masters' })).toMatchObject(refused('is held already'));
  expect(await ask('promote', { group: 'mastres' })).toMatchObject(refused("Did you mean 'masters'"));
  expect(await ask('promote', { group: 'workers' })).toMatchObject(refused('no group with a rollout'));
  expect(await ask('promote', { limit: 0 })).toMatchObject({ status: 400, body: { code: 'invalid' } });
  expect(await ask('hold', { limit: 3 })).toMatchObject({ status: 400, body: { code: 'invalid' } });

  // A wave at work: nobody can vouch for it. It fails, and that is one too many.
  await site.control('auto', { deploy_ms: HOUR });
  const promoted = await ask('promote', { by: 'nina', reason: 'seen' });
  expect(promoted.status).toBe(200);
  expect(rolloutOf(promoted.body)).toMatchObject({ state: 'running' });
  expect(await ask('promote')).toMatchObject(refused('at work'));
  const deploys = (host: string) =>
    lookUntil(
      () => site.entered(MachineStatus.Deploying),
      (entered) => entered[host] === 1,
    );
  await deploys('stl1r01s03');
  await ends('stl1r01s03', 'failed');
  await reaches({ state: 'held', why: 'limit', failed: 1 });
  expect((await api.ask('GET', path)).body).toMatchObject({ held: true, outcome: null });
  expect(await ask('promote', { limit: 1 })).toMatchObject(refused('the limit must be higher'));
  expect(await ask('promote', { recheck: true })).toMatchObject(refused('neither its checks nor silent nodes hold it'));
  expect(await ask('promote', { group: 'masters', limit: 3, by: 'otto' })).toMatchObject({ status: 200 });
  await reaches({ state: 'running', wave: 3, limit: 3 });
  await deploys('stl1r01s04');

  expect(await ask('abort-rollout', { by: 'otto', reason: 'wrong image' })).toMatchObject({ status: 200 });
  await ends('stl1r01s04', 'deployed');
  const ended = await finished(run.id);
  expect(ended).toMatchObject({ outcome: 'failed', held: false, failed_nodes: 1 });
  expect(rolloutOf((await api.ask('GET', `${path}/status`)).body)).toMatchObject({ state: 'stopped', wave: 3 });
  const { body: report } = await api.ask('GET', `${path}/report`);
  expect(report.baremetal.groups[0]).toMatchObject({
    name: 'masters',
    state: 'failed',
    rollout: {
      state: 'stopped',
      limit: 3,
      policy: { first: 1, growth: { by: 1 }, soak: 3600, stop_at: { failed: 1 } },
    },
  });
  expect(report.operator).toEqual([
    expect.objectContaining({ action: 'hold', by: 'nina', reason: 'look first' }),
    expect.objectContaining({ action: 'promote', by: 'nina', reason: 'seen' }),
    expect.objectContaining({ action: 'promote', by: 'otto', group: 'masters', limit: 3 }),
    expect.objectContaining({ action: 'abort_rollout', by: 'otto', reason: 'wrong image' }),
  ]);
  for (const verb of ['promote', 'hold', 'abort-rollout'])
    expect(await ask(verb)).toMatchObject({ status: 409, body: { code: 'run-ended' } });
  const { items: audit } = (await api.ask('GET', `/api/v1/audit?target=run/${run.id}&action=run.promote`)).body;
  expect(audit).toContainEqual(expect.objectContaining({ actor: 'otto', details: { group: 'masters', limit: 3 } }));
  expect(audit).toContainEqual(expect.objectContaining({ details: { refused: expect.stringContaining('at work') } }));
});

it('a run is stopped gracefully', async () => {
  await living({ deploy_ms: HOUR });
  const { body: run } = await start({ kind: 'deploy_site' });
  while (Object.keys(await site.entered(MachineStatus.Deploying)).length !== 3) await lookAgain();
  const stopped = await api.ask('POST', `/api/v1/runs/${run.id}/stop`, { by: 'eva', reason: 'enough' });
  expect(stopped).toMatchObject({ status: 202, body: { id: run.id, outcome: null } });
  await until(`/api/v1/runs/${run.id}/status`, (body) => body.stopping);
  for (const host of ['stl1r01s02', 'stl1r01s03', 'stl1r01s04']) await ends(host, 'deployed');
  expect(await finished(run.id)).toMatchObject({ outcome: 'stopped' });
  expect((await api.ask('GET', `/api/v1/runs/${run.id}/report`)).body.operator).toContainEqual(
    expect.objectContaining({ action: 'stop', by: 'eva', reason: 'enough' }),
  );
});

it('a cancelled run aborts its running work', async () => {
  await living({ deploy_ms: HOUR });
  const { body: run } = await start({ kind: 'deploy_site' });
  while (Object.keys(await site.entered(MachineStatus.Deploying)).length !== 3) await lookAgain();
  expect(await api.ask('POST', `/api/v1/runs/${run.id}/cancel`)).toMatchObject({ status: 202 });
  expect(await finished(run.id)).toMatchObject({ outcome: 'cancelled' });
  const last = new Map((await site.effects()).map((effect) => [effect.hostname, effect.to]));
  expect(last.get('stl1r01s02')).toBe(MachineStatus.Allocated);
});

it('a run that was terminated in Temporal is shown as ended', async () => {
  await living({ deploy_ms: HOUR });
  const { body: run } = await start({ kind: 'deploy_site' });
  await until(`/api/v1/runs/${run.id}/status`, (body) => body.current !== null);
  await rig.client.workflow.getHandle('deploy_site:stl1', run.id).terminate('by the test');
  // A list shows it, too: nobody has read the run itself.
  await until('/api/v1/runs?open=true', ({ items }) => items.length === 0);
  const all = await api.ask('GET', '/api/v1/runs?site=stl1');
  expect(all.body.items).toMatchObject([{ id: run.id, outcome: 'terminated', phase: 'finished' }]);
  expect(await api.ask('GET', `/api/v1/runs/${run.id}/report`)).toMatchObject({
    status: 200,
    body: { run_id: run.id, outcome: 'terminated', reason: 'by the test' },
  });
  expect(await api.ask('GET', `/api/v1/runs/${run.id}/status`)).toMatchObject({
    status: 200,
    body: { outcome: 'terminated' },
  });
});

describe('starting', () => {
  it('each kind of run accepts its own fields only', async () => {
    await living();
    await finished((await start({ kind: 'deploy_site' })).body.id);
    const words = { title: 'Rack 7', description: 'All *six*.', labels: { team: 'storage' } };
    const tested = await finished((await start({ kind: 'test_site', revision: 1, ...words })).body.id);
    expect(tested).toMatchObject({ kind: 'test_site', outcome: 'success', started_by: 'api' });
    // As Temporal's Web UI shows it.
    const shown = await rig.client.workflow.getHandle('test_site:stl1', String(tested.id)).describe();
    expect([await shown.staticSummary(), await shown.staticDetails()]).toEqual([words.title, words.description]);
    expect(shown.memo).toMatchObject({ title: words.title, labels: words.labels });
    const again = await start({ kind: 'redeploy_nodes', nodes: ['stl1r01s05'], erase: true, revision: 'latest' });
    expect(await finished(again.body.id)).toMatchObject({
      outcome: 'success',
      parameters: { nodes: ['stl1r01s05'], erase: true },
    });
    const updated = await start({ kind: 'update_site', release_removed: false });
    expect(await finished(updated.body.id)).toMatchObject({ outcome: 'success' });

    const { body: all } = await api.ask('GET', '/api/v1/runs?site=stl1');
    expect(all.items.map((run: { kind: string }) => run.kind)).toEqual([
      'update_site',
      'redeploy_nodes',
      'test_site',
      'deploy_site',
    ]);
    const { body: page } = await api.ask('GET', '/api/v1/sites/stl1/runs?limit=3');
    const { body: rest } = await api.ask(
      'GET',
      `/api/v1/sites/stl1/runs?limit=3&before=${encodeURIComponent(page.next)}`,
    );
    expect([...page.items, ...rest.items]).toEqual(all.items);
    const kinds = async (query: string) =>
      (await api.ask('GET', `/api/v1/runs?${query}`)).body.items.map((run: { kind: string }) => run.kind);
    expect(await kinds('kind=test_site&kind=deploy_site')).toEqual(['test_site', 'deploy_site']);
    expect(await kinds('kind=test_site&outcome=failed')).toEqual([]);
    expect(await kinds('open=true')).toEqual([]);
    expect(await kinds('open=false&phase=finished&limit=1')).toEqual(['update_site']);
    for (const [query, status, hint] of [
      ['outcome=sucess', 400, "Did you mean 'success'?"],
      ['kind=deploy_site&kind=tset_site', 400, "Did you mean 'test_site'?"],
    ] as const) {
      const refused = await api.ask('GET', `/api/v1/runs?${query}`);
      expect(refused, query).toMatchObject({ status, body: { errors: [{ hint }] } });
    }
    expect(await kinds('outcome=lost&phase=x')).toEqual([]);
    expect(await api.ask('GET', '/api/v1/runs?site=stl')).toMatchObject({
      status: 404,
      body: { code: 'not-found', hint: "Did you mean 'stl1'?" },
    });
    expect((await api.ask('GET', '/api/v1/sites/elsewhere/runs')).status).toBe(404);
  });

  it('an invalid run is refused before it starts', async () => {
    await living();
    const wrong: [object, number, RegExp][] = [
      [{}, 400, /kind is missing/],
      [{ kind: 'deploy' }, 400, /must be deploy_site or/],
      [{ kind: 'deploy_site', erase: true }, 400, /unknown field 'erase'/],
      [{ kind: 'deploy_site', nodes: ['stl1r01s05'] }, 400, /unknown field 'nodes'/],
      [{ kind: 'redeploy_nodes' }, 400, /missing field 'nodes'/],
      [{ kind: 'redeploy_nodes', nodes: [] }, 400, /at least one/],
      [{ kind: 'redeploy_nodes', nodes: ['a', 'a'] }, 400, /twice/],
      [{ kind: 'redeploy_nodes', nodes: 'a' }, 400, /must be a list/],
      [{ kind: 'deploy_site', revision: 0 }, 400, /revision/],
      [{ kind: 'deploy_site', revision: 1.5 }, 400, /revision/],
      [{ kind: 'deploy_site', revision: true }, 400, /revision/],
      [{ kind: 'deploy_site', revision: 'newest' }, 400, /is not a revision/],
      [{ kind: 'deploy_site', revision: 9 }, 404, /revision/],
      [{ kind: 'deploy_site', revision: 'last-good' }, 404, /./],
      [{ kind: 'deploy_site', started_by: 'x'.repeat(201) }, 400, /at most 200/],
      [{ kind: 'deploy_site', started_by: 'a\nb' }, 400, /control/],
      [{ kind: 'deploy_site', reason: 'x'.repeat(2001) }, 400, /at most 2000/],
      [{ kind: 'deploy_site', reason: ' ' }, 400, /reason/],
      [{ kind: 'deploy_site', site: 'other' }, 400, /unknown field 'site'/],
      [{ kind: 'redeploy_nodes', nodes: ['stl1r01s05', 'stl1r01s95'] }, 400, /1 of site stl1 has no node stl1r01s95$/],
      [{ kind: 'deploy_site', adopt: ['stl1r01s95'] }, 400, /1 of site stl1 has no node stl1r01s95$/],
      [{ kind: 'update_site', adopt: ['stl1r01s05'] }, 400, /unknown field 'adopt'/],
      [{ kind: 'deploy_site', hold_before: ['nogroup'] }, 400, /no group 'nogroup'/],
      [{ kind: 'redeploy_nodes', nodes: ['stl1r01s05'], hold_before: ['nogroup'] }, 400, /no group 'nogroup'/],
    ];
    for (const [body, status, detail] of wrong) {
      const answer = await start(body);
      expect(answer, JSON.stringify(body)).toMatchObject({ status, body: { detail: expect.stringMatching(detail) } });
    }
    expect((await start({ kind: 'redeploy_nodes', nodes: ['stl1r01s95'] })).body.hint).toContain("'stl1r01s05'");
    expect(await api.ask('POST', '/api/v1/sites/stl/runs', { kind: 'deploy_site' })).toMatchObject({
      status: 404,
      body: { hint: "Did you mean 'stl1'?" },
    });
    expect((await api.ask('GET', '/api/v1/runs')).body.items).toEqual([]);
  });

  it('the starter of a run may have a long name in any script', async () => {
    await living();
    const name = '漢'.repeat(200);
    const { status, body } = await start({ kind: 'test_site', started_by: name });
    expect({ status, started_by: body.started_by }).toEqual({ status: 202, started_by: name });
    expect(await finished(body.id)).toMatchObject({ outcome: 'success', started_by: name });
  });
});

describe('schedules', () => {
  const path = '/api/v1/schedules/nightly';
  const nightly = {
    name: 'nightly',
    kind: 'test_site',
    input: { site: 'stl1', reason: 'every night' },
    // Ten times of it have a weekday's morning among them, whatever day it is.
    cron: ['30 6 * * MON-FRI', '@every 24h'],
    timezone: 'Europe/Berlin',
  };
  type Described = { readonly name: string };

  onServer('a schedule shows its next times, starts runs, is paused, and is deleted', async () => {
    await living({ deploy_ms: HOUR });
    const as = { 'x-sitewright-user': 'eva' };
    const made = await api.ask('POST', '/api/v1/schedules', nightly, as);
    expect(made).toMatchObject({
      status: 201,
      headers: { location: path },
      body: {
        kind: 'test_site',
        site: 'stl1',
        cluster: null,
        cron: ['30 6 * * 1-5', '@every 86400s'],
        timezone: 'Europe/Berlin',
        overlap: 'skip',
        paused: false,
        created_by: 'eva',
        recent: [],
        temporal_url: `http://temporal.example/namespaces/${rig.namespace}/schedules/${nightly.name}`,
      },
    });
    expect(made.body.next_times).toHaveLength(10);
    const inBerlin = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Berlin', timeStyle: 'short' });
    expect(made.body.next_times.map((at: string) => inBerlin.format(new Date(at)))).toContain('06:30');
    expect(await api.ask('POST', '/api/v1/schedules', nightly)).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    });
    await until('/api/v1/schedules', ({ items }) => items.some(({ name }: Described) => name === 'nightly'));

    const paused = await api.ask('POST', `${path}/pause`, { reason: 'change freeze' }, as);
    expect(paused).toMatchObject({ status: 200, body: { paused: true, note: 'eva: change freeze' } });
    expect(await api.ask('POST', `${path}/run`, {})).toMatchObject({ status: 202 });
    const { recent, started } = await until(path, (body) => body.recent.length > 0);
    expect(started).toBe(1);
    expect(recent[0].workflow_id).toMatch(/^test_site:stl1-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    await rig.client.workflow.getHandle(recent[0].workflow_id, recent[0].run).result();
    expect(await finished(recent[0].run)).toMatchObject({
      site: 'stl1',
      outcome: 'success',
      started_by: 'temporal, says schedule:nightly',
      reason: 'every night',
      labels: { schedule: 'nightly' },
    });
    expect((await api.ask('POST', `${path}/resume`, {})).body).toMatchObject({ paused: false, note: 'api' });

    // A run that is due while another one has the site ends, and changes nothing.
    const deploying = await start({ kind: 'deploy_site' });
    await until(`/api/v1/runs/${deploying.body.id}/status`, (body) => body.current !== null);
    await api.ask('POST', `${path}/run`, {});
    const [second] = (await until(path, (body) => body.started === 2)).recent;
    const refused = rig.client.workflow.getHandle(second.workflow_id, second.run).result();
    await expect(refused).rejects.toMatchObject({ cause: { type: 'SiteBusy' } });
    await api.ask('POST', `/api/v1/runs/${deploying.body.id}/cancel`);

    expect((await api.ask('DELETE', path)).status).toBe(204);
    expect((await api.ask('GET', path)).status).toBe(404);
    const { body: audit } = await api.ask('GET', '/api/v1/audit?target=schedule/nightly');
    expect(audit.items.map(({ action, actor }: Record<string, string>) => `${action} ${actor}`).reverse()).toEqual([
      'schedule.create eva',
      'schedule.pause eva',
      'schedule.run api',
      'schedule.resume api',
      'schedule.run api',
      'schedule.delete api',
    ]);
  });

  onServer('a schedule that could start no run is refused', async () => {
    await living();
    const wrong: [object, number, RegExp][] = [
      [{ name: 'Nightly' }, 400, /name/],
      [{ kind: 'redeploy_nodes' }, 400, /kind/],
      [{ cron: [] }, 400, /cron/],
      [{ cron: ['every day'] }, 400, /not a time/],
      [{ cron: ['61 * * * *'] }, 400, /not a time/],
      [{ timezone: 'Mars/Olympus' }, 400, /'Mars\/Olympus' is not a time zone/],
      [{ overlap: 'allow_all' }, 400, /overlap/],
      [{ input: {} }, 400, /missing field 'site'/],
      [{ input: { site: 'stl1', labels: 'x' } }, 400, /labels/],
      [{ input: { site: 'elsewhere' } }, 404, /elsewhere/],
      [{ input: { site: 'stl1', revision: 9 } }, 404, /revision/],
      [{ kind: 'update_site', input: { site: 'stl1', hold_before: ['nogroup'] } }, 400, /no group 'nogroup'/],
      [{ kind: 'execute_graph', input: { cluster: 7 } }, 404, /cluster/i],
      [{ kind: 'execute_graph', input: { cluster: 7, from: 3 } }, 400, /field 'from' continues one run/],
    ];
    for (const [body, status, detail] of wrong)
      expect(await api.ask('POST', '/api/v1/schedules', { ...nightly, ...body }), JSON.stringify(body)).toMatchObject({
        status,
        body: { detail: expect.stringMatching(detail) },
      });
    for (const [method, at] of [
      ['GET', path],
      ['POST', `${path}/pause`],
      ['DELETE', path],
    ] as const)
      expect((await api.ask(method, at)).status).toBe(404);
    // In the namespace, but not one of ours.
    await rig.client.schedule.create({
      scheduleId: 'foreign',
      spec: { intervals: [{ every: '1 day' }] },
      action: { type: 'startWorkflow', workflowType: 'test_site', taskQueue: 'of-another-installation' },
    });
    expect((await api.ask('GET', '/api/v1/schedules/foreign')).status).toBe(404);
    expect((await api.ask('GET', '/api/v1/schedules')).body.items).toEqual([]);
  });
});

it('a site follows a branch: runs take its documents from there, started by hand or by a signed webhook', async () => {
  await living();
  const repository = await gitRepository();
  onTestFinished(() => repository.remove());
  const documents = (await exampleDocuments()).map(({ name, text }) => ({ name: `stl1/${name}`, text }));
  const commit = await repository.commit(
    [...documents, { name: 'other.yaml', text: 'no: document\n' }],
    'Add the site',
  );
  const path = '/api/v1/sites/stl1/source';
  const source = { url: repository.url, branch: 'main', folder: 'stl1', webhook_secret: 'git/hook' };
  for (const [wrong, detail] of [
    [{ url: 'ext::sh -c id' }, /url must be an address/],
    [{ branch: '--all' }, /branch is not the name of a branch/],
    [{ folder: '../x' }, /folder must be a path/],
  ] as const)
    expect(await api.ask('PUT', path, { ...source, ...wrong })).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(detail) },
    });
  expect(await start({ kind: 'deploy_site', fetch: true, revision: 1 })).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('exclude each other') },
  });

  const phases = async (run: string) => {
    const ended = await finished(run);
    const { body: report } = await api.ask('GET', `/api/v1/runs/${run}/report`);
    return { ended, report, names: report.phases.map(({ name }: { name: string }) => name) };
  };
  const lost = await phases((await start({ kind: 'update_site', fetch: true })).body.id);
  expect(lost.report).toMatchObject({
    outcome: 'failed',
    failure: { kind: 'source-failed', message: 'the site follows no branch' },
  });
  expect(await api.ask('PUT', path, source)).toMatchObject({ status: 200, body: { source } });
  const first = await phases((await start({ kind: 'deploy_site', fetch: true })).body.id);
  expect(first.report).toMatchObject({ outcome: 'success', revision: 2, commit });
  expect((await api.ask('GET', '/api/v1/sites/stl1/revisions/last-good')).body).toMatchObject({
    number: 2,
    commit_id: commit,
    commit_url: null,
    author: 'Eva',
    message: 'Add the site',
  });

  // Nodes that are already deployed are left alone.
  const push = (payload: object, headers: Record<string, string>, site = 'stl1') =>
    api.ask('POST', `/api/v1/sites/${site}/source/webhook`, JSON.stringify(payload), {
      'content-type': 'application/json',
      ...headers,
    });
  const signed = (payload: object, secret = 'of the hook') => ({
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(JSON.stringify(payload)).digest('hex')}`,
  });
  const main = { ref: 'refs/heads/main' };
  const pushed = await push(main, signed(main));
  expect(pushed.status).toBe(202);
  const second = await phases(pushed.body.run);
  expect(second.ended).toMatchObject({ outcome: 'success', started_by: 'webhook', kind: 'update_site' });
  expect(second.names).toEqual(['fetch']);
  expect(await push({ ref: 'refs/heads/other' }, { 'x-gitlab-token': 'of the hook' })).toMatchObject({
    status: 202,
    body: { run: null },
  });
  for (const refused of [
    await push(main, {}),
    await push(main, signed(main, 'another')),
    await push(main, signed({ ref: 'another' })),
    await push(main, { 'x-gitlab-token': 'another' }),
    await push(main, signed(main), 'elsewhere'),
  ])
    expect(refused).toMatchObject({ status: 401, body: { detail: expect.stringContaining('not signed') } });

  // With approval: nothing changes before it.
  const held = { ...source, hold_before: ['*'] };
  expect(await api.ask('PUT', path, { ...source, hold_before: ['a', 'a'] })).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('names a twice') },
  });
  expect(await api.ask('PUT', path, held)).toMatchObject({ status: 200, body: { source: held } });
  const nodes = documents.find(({ name }) => name === 'stl1/nodes.yaml')!;
  await repository.commit([{ ...nodes, text: `${nodes.text}# another\n` }]);
  const proposed = (await push(main, signed(main))).body.run;
  await until(`/api/v1/runs/${proposed}/status`, (body) => body.awaiting_approval?.[0].before === '*');
  await api.ask('POST', `/api/v1/runs/${proposed}/approve`, { by: 'eva' });
  expect(await finished(proposed)).toMatchObject({ outcome: 'success', revision: 3 });

  // Documents with errors are not stored.
  const broken = await repository.commit([{ name: 'stl1/nodes.yaml', text: 'schema: [\n' }]);
  const third = await phases((await start({ kind: 'update_site', fetch: true })).body.id);
  expect(third.report).toMatchObject({
    outcome: 'failed',
    reason: expect.stringContaining(`commit ${broken} is not valid: stl1/nodes.yaml:1:`),
  });
  expect((await api.ask('GET', '/api/v1/sites/stl1')).body).toMatchObject({ latest_revision: 3 });
  expect(await api.ask('DELETE', path)).toMatchObject({ status: 200, body: { source: null } });
  expect((await push(main, signed(main))).status).toBe(401);
});

it('nodes are shown with their state in MAAS, or their last known state when it is unavailable', async () => {
  await living();
  await site.control('seed', { machines: [] }).catch(() => undefined);
  const { body } = await api.ask('GET', '/api/v1/sites/stl1/nodes/status');
  expect(body).toMatchObject({ site: 'stl1', revision: 1, stale: false });
  expect(body.nodes.map((node: { node: string }) => node.node)).toEqual(exampleHosts);
  expect(body.nodes[0]).toMatchObject({
    hostname: 'stl1r01s02',
    status: 'New',
    power: expect.any(String),
    zone: 'default',
    tags: [],
    deployment: { does: 'deploy', why: 'its machine is New' },
  });
  const bare = 'Run 3 released its machine. Deploy it: sitewright site redeploy stl1 stl1r01s02';
  const inventory = await site.store.nodes.list({ site: 'stl1' });
  const idOf = (name: string) => inventory.find((one) => one.name === name)!.id;
  const [id] = exampleHosts.map(idOf);
  await site.store.nodes.update(id!, { errorMsg: bare });
  await site.store.nodes.update(idOf(exampleHosts[1]!), {
    ...{ status: 'error', errorType: 'provision', errorMsg: 'no power' },
  });
  await site.store.nodes.update(idOf(exampleHosts[2]!), { status: 'ready' });
  const health = [
    { health: 'bare', reason: bare },
    { health: 'failed', reason: 'no power' },
    {},
    ...exampleHosts.slice(3).map(() => ({ health: 'never_deployed' })),
  ];
  const healthOf = ({ health, reason }: { health?: string; reason?: string }) => ({ ...given({ health, reason }) });
  const noted = (await api.ask('GET', '/api/v1/sites/stl1/nodes/status')).body.nodes;
  expect(noted.map(healthOf)).toEqual(health);
  expect((await api.ask('GET', `/api/v1/nodes/${id}`)).body).toMatchObject({ status: 'discover', error_msg: bare });
  await site.control('faults', [{ match: 'machines', kind: 'drop_before', times: 1000 }]);
  const away = await api.ask('GET', '/api/v1/sites/stl1/nodes/status?revision=1');
  expect(away).toMatchObject({ status: 200, body: { stale: true, reason: expect.any(String) } });
  expect(away.body.nodes[0]).toMatchObject({ hostname: 'stl1r01s02', status: 'New' });
  expect(away.body.nodes[0]).not.toHaveProperty('deployment');
  expect(away.body.nodes.map(healthOf)).toEqual(health);
  await site.control('faults', []);
  const check = await api.ask('GET', '/api/v1/maas/check');
  expect(check).toMatchObject({
    status: 200,
    body: { ok: expect.any(Boolean), user: { edits_machines: true }, machines: [{ name: 'New', count: 6 }] },
  });
  expect(await api.ask('GET', '/api/v1/health')).toMatchObject({ status: 200, body: { status: 'ok', ok: true } });
});

it('a run, a node and a site that never existed are not found', async () => {
  await living();
  for (const path of [
    'runs/none',
    'runs/none/status',
    'runs/none/report',
    'runs/none/tree',
    'runs/none/plan',
    'runs/none/nodes',
    'sites/none/nodes/status',
  ])
    expect(await api.ask('GET', `/api/v1/${path}`), path).toMatchObject({ status: 404, body: { code: 'not-found' } });
  for (const verb of ['pause', 'resume', 'stop', 'cancel', 'nodes/n/retry'])
    expect(await api.ask('POST', `/api/v1/runs/none/${verb}`), verb).toMatchObject({ status: 404 });
  const history = (of: string) => api.ask('GET', `/api/v1/sites/${of}/history`);
  expect((await history('stl1/nodes/stl1r01s05')).body).toEqual({ items: [], next: null });
  expect(await history('stl1/nodes/stl1r01s55')).toMatchObject({
    status: 404,
    body: { hint: expect.stringContaining("'stl1r01s05'") },
  });
  expect(await history('stl/nodes/stl1r01s05')).toMatchObject({ status: 404, body: { hint: "Did you mean 'stl1'?" } });
  const select = (selector: object) =>
    api.ask('POST', '/api/v1/sites/stl1/revisions/latest/select', { selectors: [selector], known: true });
  for (const selector of [
    { node_names: ['none'] },
    { node_tags: ['none'] },
    { rack_names: ['none'] },
    { node_labels: ['none:none'] },
  ])
    expect(await select(selector), JSON.stringify(selector)).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining("'none") },
    });
  // A site that is deleted keeps its runs.
  const startedAt = new Date(0).toISOString();
  const run = { id: 'old', sequence: 1, kind: 'test_site', phase: 'finished', workflowId: 'test_site:gone', startedAt };
  await api.store.runs.put({ ...run, site: 'gone', outcome: 'success', endedAt: startedAt });
  expect(await api.ask('GET', '/api/v1/runs?site=gone&kind=deploy_site')).toMatchObject({
    status: 200,
    body: { items: [] },
  });
});

/** Ends a machine's deployment by hand. */
async function ends(hostname: string, event: 'deployed' | 'failed'): Promise<void> {
  await site.control(`${hostname}/${event}`, {});
}

it('a start and decisions that came through Temporal alone are shown as claims, and are in the audit trail', async () => {
  await living();
  const workflowId = 'deploy_site:stl1';
  const input = { site: 'stl1', started_by: 'alice', hold_before: ['*'] };
  const handle = await rig.client.workflow.start('deploy_site', {
    ...{ taskQueue: site.worker.taskQueue, workflowId, args: [input] },
  });
  const path = `/api/v1/runs/${handle.firstExecutionRunId}`;
  // Its first activity records it: until then, the API does not know it.
  await until('/api/v1/runs', ({ items }) => items.some(({ id }: { id: string }) => id === handle.firstExecutionRunId));
  const waiting = await until(path, (body) => body.awaiting_approval);
  expect(waiting.started_by).toBe('temporal, says alice');
  await handle.signal('approve', { by: 'nina', reason: 'trust me' });
  expect(await finished(handle.firstExecutionRunId)).toMatchObject({ outcome: 'success' });
  const { body: report } = await api.ask('GET', `${path}/report`);
  expect(report).toMatchObject({
    started_by: 'temporal, says alice',
    holds: [{ before: '*', decision: 'approved', by: 'temporal, says nina' }],
    operator: [{ action: 'approve', by: 'temporal, says nina' }],
  });
  const { items } = (await api.ask('GET', '/api/v1/audit')).body;
  expect(items.map(({ actor, action }: Record<string, string>) => `${actor} ${action}`)).toEqual(
    expect.arrayContaining(['temporal, says alice run.deploy_site', 'temporal, says nina run.approve']),
  );
  expect(items.map(({ actor }: Record<string, string>) => actor)).not.toContain('alice');
});

it('a run waits for approval, and its notices reach receivers that fail and recover', async () => {
  await living({}, true);
  const pager = await noticeReceiver();
  const chat = await noticeReceiver();
  const gone = await noticeReceiver();
  await gone.close();
  onTestFinished(async () => {
    await Promise.all([pager.close(), chat.close()]);
  });
  const secret = 'a secret of the pager';
  const receivers = [
    { name: 'pager', url: pager.url, secret },
    { name: 'chat', url: chat.url, format: 'text', events: ['awaiting_approval'] },
    { name: 'gone', url: gone.url },
    { name: 'other', url: chat.url, sites: ['another-site'] },
  ];
  await writeFile(site.receiversFile!, JSON.stringify({ receivers }));

  // Names are checked before anything starts.
  expect(await start({ kind: 'deploy_site', hold_before: ['mastres', '*', 'x'] })).toMatchObject({
    status: 400,
    body: { detail: expect.stringMatching(/no group 'mastres'.*Did you mean 'masters'.*no group 'x'/) },
  });
  expect((await api.ask('GET', '/api/v1/runs')).body.items).toEqual([]);

  pager.answers.push(500, 302);
  const { id } = (await start({ kind: 'deploy_site', hold_before: ['*'], started_by: 'nina', title: 'Rack 7' })).body;
  const path = `/api/v1/runs/${id}`;
  const waiting = await until(path, (body) => body.awaiting_approval);
  expect(waiting).toMatchObject({ outcome: null, paused: false });
  const [{ since }] = (await api.ask('GET', `${path}/status`)).body.awaiting_approval;
  await pager.count(3);
  await chat.count(1);
  const notice = pager.received[0]!;
  expect(notice.body).toMatchObject({
    event: 'awaiting_approval',
    text: `deploy_site of stl1 (Rack 7) is waiting for approval before any change https://page.example/runs/${id}`,
    run: { id, kind: 'deploy_site', site: 'stl1', started_by: 'nina', url: `https://page.example/runs/${id}` },
    awaiting_approval: [{ before: '*', since }],
  });
  expect(pager.received.map(({ headers }) => headers['sitewright-attempt'])).toEqual(['1', '2', '3']);
  expect(new Set(pager.received.map(({ headers }) => headers['sitewright-notice'])).size).toBe(1);
  const [, time, signature] = /^t=(\d+),v1=(.*)$/.exec(String(notice.headers['sitewright-signature'])) ?? [];
  const signed = `${notice.headers['sitewright-delivery']}.${time}.${notice.text}`;
  expect(signature).toBe(createHmac('sha256', secret).update(signed).digest('hex'));
  expect(chat.received.map(({ text }) => JSON.parse(text))).toEqual([{ text: notice.body.text }]);

  // Operators decide, by name.
  const decide = (verb: string, body: object) => api.ask('POST', `${path}/${verb}`, body);
  expect(await decide('approve', { by: 'nina' })).toMatchObject({
    status: 409,
    body: { code: 'refused', detail: expect.stringMatching(/^nina /) },
  });
  expect(await decide('approve', { by: 'otto', before: 'masters' })).toMatchObject({ status: 409 });
  // A credential of the namespace is no second person, whatever it says.
  const { workflow_id } = (await api.ask('GET', path)).body;
  const handle = rig.client.workflow.getHandle(workflow_id, id);
  await handle.signal('approve', { by: 'otto' });
  await site.store.audit.append({ id: 'of-otto', actor: 'otto', action: 'run.pause', target: `run/${id}` });
  for (const entry of [undefined, 'made-up', 'of-otto'])
    await expect(
      handle.executeUpdate('approve', { args: [{ by: 'otto', ...(entry && { entry }) }] }),
    ).rejects.toThrow();
  expect((await api.ask('GET', path)).body.awaiting_approval).toBe(true);
  expect(await decide('approve', { by: 'otto', reason: 'checked' })).toMatchObject({
    status: 200,
    body: { stopping: false },
  });
  expect(await finished(id)).toMatchObject({ outcome: 'success', awaiting_approval: false });
  const { body: report } = await api.ask('GET', `${path}/report`);
  expect(report.holds).toEqual([
    expect.objectContaining({ before: '*', since, decision: 'approved', by: 'otto', reason: 'checked' }),
  ]);
  const { items: entries } = (await api.ask('GET', '/api/v1/audit?action=run.approve')).body;
  const approvals = entries.filter(({ target }: { target: string }) => target === `run/${id}`);
  expect(approvals.map(({ actor, reason, details }: Record<string, unknown>) => ({ actor, reason, details }))).toEqual([
    { actor: 'otto', reason: 'checked', details: null },
    { actor: 'otto', reason: null, details: { refused: expect.any(String) } },
    { actor: 'otto', reason: 'masters', details: { before: 'masters' } },
    { actor: 'nina', reason: null, details: { refused: expect.any(String) } },
    { actor: 'nina', reason: null, details: null },
  ]);

  const address = '/api/v1/notices/receivers';
  expect(await api.ask('POST', address, { name: 'late', url: 'https://late.example/s3cret' })).toMatchObject({
    status: 201,
    body: { name: 'late', address: 'https://late.example', format: 'json', signed: false, sites: null, last: null },
  });
  expect(await api.ask('POST', address, { name: 'pager', url: 'https://x' })).toMatchObject({
    status: 409,
    body: { code: 'conflict' },
  });
  expect(await api.ask('POST', address, { name: 'L', url: 'ftp://x' })).toMatchObject({
    status: 400,
    body: { code: 'invalid' },
  });
  const { items: made } = (await api.ask('GET', '/api/v1/audit?action=notice.create')).body;
  expect(made).toMatchObject([{ target: 'receiver/late', details: { address: 'https://late.example' } }]);
  expect(JSON.stringify(made)).not.toContain('s3cret');

  // Their deliveries, without addresses; an unreachable receiver delayed nothing.
  const { items: deliveries } = await until('/api/v1/notices/deliveries', ({ items }) =>
    items.some((one: { receiver: string }) => one.receiver === 'gone'),
  );
  // Each links to what sends the notices of its run.
  for (const { run, temporal_url } of deliveries) {
    const query = new URL(temporal_url).searchParams.get('query')!;
    const [, start] = /^WorkflowId STARTS_WITH "(.*)"$/.exec(query)!;
    const sender = rig.client.workflow.getHandle(`${start}1`);
    expect(await sender.describe()).toMatchObject({ type: 'send_notice' });
    expect(start).toContain(run);
  }
  const of = (receiver: string) => deliveries.filter((one: { receiver: string }) => one.receiver === receiver);
  expect(
    of('pager').map(({ attempt, delivered, status }: Record<string, unknown>) => [attempt, delivered, status]),
  ).toEqual([
    [3, true, 204],
    [2, false, 302],
    [1, false, 500],
  ]);
  expect(of('gone')[0]).toMatchObject({ delivered: false, run: id, event: 'awaiting_approval' });
  expect(of('other')).toEqual([]);
  const { body: listed } = await api.ask('GET', '/api/v1/notices/receivers');
  expect(listed.items[0]).toMatchObject({ name: 'pager', signed: true, last: { delivered: true } });
  const test = (name: string) => api.ask('POST', `/api/v1/notices/receivers/${name}/test`, {});
  expect(await test('pager')).toMatchObject({ status: 200, body: { delivered: true, status: 204, event: 'test' } });
  expect(pager.received.at(-1)!.body).toMatchObject({ event: 'test', run: null });
  expect((await test('gone')).body).toMatchObject({ delivered: false, message: expect.stringContaining('reached') });
  expect(await test('pagr')).toMatchObject({ status: 404, body: { detail: expect.stringContaining("'pager'") } });
  const all = JSON.stringify([listed, deliveries, site.log, api.log, report]);
  expect(all).not.toContain('very-secret-path');
  expect(all).not.toContain(secret);

  // A second one is expected to take about as long, as long as it waits for nobody.
  const again = (await start({ kind: 'deploy_site', hold_before: ['workers'], started_by: 'nina' })).body.id;
  await until(`/api/v1/runs/${again}/status`, (body) => body.awaiting_approval !== undefined);
  expect((await api.ask('GET', `/api/v1/runs/${again}/status`)).body).not.toHaveProperty('expected');
  await api.ask('POST', `/api/v1/runs/${again}/reject`, { by: 'eva', reason: 'not now' });
  expect(await finished(again)).toMatchObject({
    outcome: 'stopped',
    failure: 'rejected before workers by eva: not now',
  });
  const third = (await start({ kind: 'deploy_site' })).body.id;
  const expected = await until(`/api/v1/runs/${third}/status`, (body) => body.expected || body.outcome);
  const took = Date.parse((await api.ask('GET', path)).body.ended_at) - Date.parse(waiting.started_at);
  const run = await finished(third);
  expect(expected.expected).toEqual({
    ends_at: new Date(Date.parse(run.started_at) + took).toISOString(),
    earlier_runs: 1,
  });
});

it('a status names the nodes whose step takes longer than on other machines, with what MAAS last said', async () => {
  await living({ deploy_ms: HOUR });
  const files = (await exampleDocuments()).map((file) => ({
    ...file,
    text: file.text.replaceAll(/(name: |- )(masters|workers|worker_group_0)$/gm, '$1rack1:$2'),
  }));
  expect((await api.ask('POST', '/api/v1/sites/stl1/revisions', { files })).status).toBe(201);
  const at = '2026-11-01T10:00:00.000Z';
  const ended = {
    id: 'earlier',
    sequence: 1,
    workflowId: 'deploy_site:stl1',
    startedAt: at,
    endedAt: at,
    site: 'stl1',
  };
  await site.store.runs.put({ ...ended, kind: 'deploy_site', phase: 'finished', outcome: 'success' });
  const report = {
    state: 'success',
    attempts: 1,
    started_at: at,
    prepared_at: at,
    deploying_at: at,
    ended_at: at,
  } as const;
  await site.store.runs.putNodes(
    'earlier',
    Array.from({ length: 10 }, (_, index) => ({
      ...{ node: `e${index}`, sequence: 1, position: index, released: null },
      report: { name: `e${index}`, ...report },
    })),
  );
  const { id } = (await start({ kind: 'deploy_site' })).body;
  const { late } = await until(`/api/v1/runs/${id}/status`, (body) => body.late?.[0].step === 'deploy');
  expect(late[0]).toMatchObject({
    pace: 'slow',
    median: 0,
    p99: 0,
    count: 10,
    said: expect.stringContaining('Deploying'),
  });
  const { body } = await api.ask('GET', '/api/v1/sites/stl1/revisions/latest/strategy');
  expect(body.times).toMatchObject([{ step: 'prepare' }, { step: 'deploy', median: 0, p99: 0, count: 10 }]);
});

it('a terminated run sends its notice once, whether anyone looks at it or not', async () => {
  await living({}, true);
  const pager = await noticeReceiver();
  onTestFinished(() => pager.close());
  await writeFile(site.receiversFile!, JSON.stringify({ receivers: [{ name: 'pager', url: pager.url }] }));
  const failedOf = (run: string) =>
    pager.received.filter(({ body }) => body.event === 'failed' && body.run?.id === run).map(({ body }) => body);
  const terminated = async () => {
    const { id } = (await start({ kind: 'deploy_site', hold_before: ['*'], title: 'Rack 7', started_by: 'nina' })).body;
    await until(`/api/v1/runs/${id}/status`, (body) => body.awaiting_approval !== undefined);
    await rig.client.workflow.getHandle('deploy_site:stl1', id).terminate('power cut');
    return String(id);
  };

  const seen = await terminated();
  await api.ask('GET', `/api/v1/runs/${seen}`);
  await lookUntil(
    async () => failedOf(seen),
    (notices) => notices.length > 0,
  );
  expect(failedOf(seen)).toEqual([
    expect.objectContaining({
      text: `deploy_site of stl1 (Rack 7) failed: it ended as terminated before it could write its report: power cut. Next: check its results, then start it again: the next run continues from there https://page.example/runs/${seen}`,
      run: expect.objectContaining({ site: 'stl1', cluster: null, started_by: 'nina' }),
    }),
  ]);

  // Nobody looks, and Temporal's own command line starts another one.
  const unseen = await terminated();
  const next = await rig.client.workflow.start('test_site', {
    ...{ taskQueue: site.worker.taskQueue, workflowId: 'test_site:stl1', args: [{ site: 'stl1' }] },
  });
  await lookUntil(
    async () => failedOf(unseen),
    (notices) => notices.length > 0,
  );
  await next.result();
  for (const run of [seen, unseen]) {
    expect(await finished(run)).toMatchObject({ outcome: 'terminated' });
    expect(failedOf(run)).toHaveLength(1);
  }
  const { items } = (await api.ask('GET', '/api/v1/notices/deliveries')).body;
  const failed = (items as { event: string; run: string }[]).filter(({ event }) => event === 'failed');
  expect(failed.map(({ run }) => run)).toEqual([unseen, seen]);
});
