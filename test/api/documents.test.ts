import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleDocuments, exampleHosts } from '../rig/living-site.ts';
import { type ApiRig, apiAlone } from './api-rig.ts';

let rig: ApiRig;
beforeAll(async () => {
  rig = await apiAlone();
});
afterAll(() => rig.close());

const yaml = { 'content-type': 'application/yaml' };
const small = `schema: drydock/BaremetalNode/v1
metadata: { schema: metadata/Document/v1, name: node01 }
data: { metadata: { tags: [blue], rack: r1 } }
---
schema: shipyard/DeploymentConfiguration/v1
metadata: { schema: metadata/Document/v1, name: deployment-configuration }
data: { armada: { manifest: full-site } }
`;
const broken = small.replace('tags: [blue]', 'tags: blue');

describe('sites', () => {
  it('are created once, shown, listed by name, deleted', async () => {
    const created = await rig.ask('POST', '/api/v1/sites', { name: 'b', cluster: 'cloud' });
    expect(created).toMatchObject({
      status: 201,
      headers: { location: '/api/v1/sites/b' },
      body: { name: 'b', cluster: 'cloud', latest_revision: null, last_good_revision: null },
    });
    expect((await rig.ask('GET', '/api/v1/sites/b')).body).toEqual(created.body);
    expect(await rig.ask('POST', '/api/v1/sites', { name: 'b' })).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    });
    await rig.ask('POST', '/api/v1/sites', { name: 'a' });
    const list = await rig.ask('GET', '/api/v1/sites');
    expect(list.body.items.map((site: { name: string }) => site.name)).toEqual(['a', 'b']);
    expect(await rig.ask('DELETE', '/api/v1/sites/b')).toMatchObject({ status: 204, body: '' });
    for (const method of ['GET', 'DELETE'] as const)
      expect(await rig.ask(method, '/api/v1/sites/b')).toMatchObject({ status: 404, body: { code: 'not-found' } });
  });

  it.each(['', 'Upper', '-x', '../x', 'a b', 'x'.repeat(64), 'ä', 7, null])('%j is not a name', async (name) => {
    const answer = await rig.ask('POST', '/api/v1/sites', { name });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid', errors: [{ path: 'body.name' }] } });
  });

  it('a site that a run has claimed is not deleted', async () => {
    await rig.ask('POST', '/api/v1/sites', { name: 'claimed' });
    await rig.store.claims.claim(
      { site: 'claimed' },
      { workflowId: 'deploy_site:claimed', runId: 'r1', executionId: 'r1' },
    );
    expect(await rig.ask('DELETE', '/api/v1/sites/claimed')).toMatchObject({ status: 409, body: { code: 'conflict' } });
  });
});

describe('a layered site', () => {
  it('is stored as its author wrote it, and given out rendered', async () => {
    await rig.ask('POST', '/api/v1/sites', { name: 'layered' });
    const text = readFileSync(new URL('../data/cases/airship/layered.yaml', import.meta.url), 'utf8');
    const stored = await rig.ask('POST', '/api/v1/sites/layered/revisions', {
      files: [{ name: 'layered.yaml', text }],
    });
    expect(stored).toMatchObject({ status: 201, body: { valid: true, nodes: 1 } });
    const rendered = await rig.ask('GET', '/api/v1/sites/layered/revisions/latest/rendered');
    expect(rendered).toMatchObject({ status: 200, body: { revision: 1, hash: stored.body.revision.hash } });
    const server = rendered.body.documents.find((one: { schema: string }) => one.schema === 'drydock/HostProfile/v1');
    expect(server).toMatchObject({
      metadata: { name: 'server' },
      data: {
        platform: { image: 'jammy', kernel: 'hwe-22.04' },
        metadata: { tags: ['all'], owner_data: { role: 'server' } },
      },
    });
    const broken = text.replace('layer: site\n    parent', 'layer: other\n    parent');
    const forced = { files: [{ name: 'layered.yaml', text: broken }], force: true };
    await rig.ask('POST', '/api/v1/sites/layered/revisions', forced);
    expect(await rig.ask('GET', '/api/v1/sites/layered/revisions/latest/rendered')).toMatchObject({
      status: 400,
      body: { code: 'invalid', errors: [{ code: 'rendering.unknown-layer', file: 'layered.yaml', line: 23 }] },
    });
  });
});

it('the machines of documents are in the inventory from the commit on, and gone with their site', async () => {
  await rig.ask('POST', '/api/v1/sites', { name: 'new' });
  const commit = (text: string) => rig.ask('POST', '/api/v1/sites/new/revisions', text, yaml);
  const nodes = async () =>
    (await rig.ask('GET', '/api/v1/nodes')).body.filter(({ site }: { site: string }) => site === 'new');
  const outOfService = async () => {
    const { items } = (await rig.ask('GET', '/api/v1/sites')).body;
    const one = (await rig.ask('GET', '/api/v1/sites/new')).body;
    expect(items).toContainEqual(one);
    return one.out_of_service;
  };
  await commit(small);
  expect(await nodes()).toMatchObject([{ name: 'node01', hostname: 'node01', status: 'discover', cluster: null }]);
  expect(await outOfService()).toEqual([{ state: 'never_deployed', count: 1, nodes: ['node01'] }]);
  await commit(small.replace('name: node01', 'name: node02'));
  expect(await nodes()).toMatchObject([{ name: 'node02' }]);
  const mac = '52:54:00:0d:0c:01';
  const registered = await rig.ask('POST', '/api/v1/nodes', {
    name: 'node02',
    site: 'new',
    mac,
    status: 'provisioned',
  });
  expect(registered).toMatchObject({ status: 201, body: { id: (await nodes())[0].id, mac } });
  expect(await outOfService()).toEqual([]);
  const names = Array.from({ length: 14 }, (_, at) => `many${String(at).padStart(2, '0')}`);
  const node = small.split('---')[0]!;
  await commit([small, ...names.map((name) => node.replace('node01', name))].join('---\n'));
  expect(await outOfService()).toEqual([{ state: 'never_deployed', count: 15, nodes: names.slice(0, 12) }]);
  await rig.ask('DELETE', '/api/v1/sites/new');
  await rig.ask('POST', '/api/v1/sites', { name: 'new' });
  expect((await nodes()).map(({ name }: { name: string }) => name)).toEqual(['node02']);
});

describe('revisions', () => {
  beforeAll(() => rig.ask('POST', '/api/v1/sites', { name: 'dc1' }));
  const revisions = '/api/v1/sites/dc1/revisions';

  it('all errors are reported with their places, and nothing is stored', async () => {
    const answer = await rig.ask('POST', revisions, { files: [{ name: 'n.yaml', text: broken }] });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid', hint: expect.stringContaining('force') } });
    expect(answer.body.errors).toContainEqual(
      expect.objectContaining({ severity: 'error', file: 'n.yaml', line: 3, column: 27, text: expect.any(String) }),
    );
    expect((await rig.ask('GET', revisions)).body).toEqual({ items: [], next: null });
  });

  it('a dry run reports the same and stores nothing, valid or not', async () => {
    const bad = await rig.ask('POST', revisions, { files: [{ name: 'n.yaml', text: broken }], dry_run: true });
    expect(bad).toMatchObject({ status: 200, body: { valid: false, revision: null, created: false } });
    const good = await rig.ask('POST', `${revisions}?dry_run=true`, small, yaml);
    expect(good).toMatchObject({
      status: 200,
      body: { valid: true, revision: null, created: false, nodes: 1, groups: 1 },
    });
    expect((await rig.ask('GET', revisions)).body.items).toEqual([]);
  });

  it('documents are committed once; committing the same again makes no new revision', async () => {
    const body = { files: [{ name: 'site.yaml', text: small }], message: 'first', author: 'nina' };
    const first = await rig.ask('POST', revisions, body);
    expect(first).toMatchObject({
      status: 201,
      headers: { location: `${revisions}/1` },
      body: {
        created: true,
        valid: true,
        revision: { number: 1, message: 'first', author: 'nina', forced: false, file_count: 1, last_good: false },
      },
    });
    const again = await rig.ask('POST', revisions, body);
    expect(again).toMatchObject({ status: 200, body: { created: false, revision: first.body.revision } });
  });

  it('a body of YAML is one file, with the rest in the query', async () => {
    const path = `${revisions}?name=all.yaml&message=as%20YAML&force=true`;
    const forced = await rig.ask('POST', path, broken, { ...yaml, 'x-sitewright-user': 'otto' });
    expect(forced).toMatchObject({
      status: 201,
      body: { valid: false, revision: { number: 2, forced: true, author: 'otto', message: 'as YAML' } },
    });
    const files = await rig.ask('GET', `${revisions}/2/files`);
    expect(files.body).toMatchObject({ revision: 2, files: [{ name: 'all.yaml', text: broken }] });
    const deploy = await rig.ask('GET', `${revisions}/2/strategy`);
    expect(deploy).toMatchObject({ status: 400, body: { code: 'invalid', errors: [{ file: 'all.yaml' }] } });
    expect(await rig.ask('POST', revisions, Buffer.from([0xc3, 0x28]), yaml)).toMatchObject({ status: 400 });
    expect(await rig.ask('POST', revisions, '', yaml)).toMatchObject({ status: 400 });
  });

  it('can be found by number, hash, latest and last-good, and listed in pages', async () => {
    const { body: first } = await rig.ask('GET', `${revisions}/1`);
    await rig.store.sites.markLastGood('dc1', 1, 'run-1');
    for (const ref of ['1', first.hash, first.hash.slice(0, 7), 'last-good'])
      expect((await rig.ask('GET', `${revisions}/${ref}`)).body).toMatchObject({ number: 1, last_good: true });
    expect((await rig.ask('GET', `${revisions}/latest`)).body.number).toBe(2);
    expect((await rig.ask('GET', `${revisions}/3`)).status).toBe(404);
    expect((await rig.ask('GET', `${revisions}/abc`)).status).toBe(400);
    const page = await rig.ask('GET', `${revisions}?limit=1`);
    expect(page.body).toMatchObject({ items: [{ number: 2 }], next: expect.any(String) });
    const last = await rig.ask('GET', `${revisions}?limit=1&before=${encodeURIComponent(page.body.next)}`);
    expect(last.body).toMatchObject({ items: [{ number: 1 }], next: null });
    expect((await rig.ask('GET', '/api/v1/sites/nowhere/revisions')).status).toBe(404);
  });

  it('documents are checked without a site', async () => {
    const good = await rig.ask('POST', '/api/v1/documents/check', { files: await exampleDocuments() });
    expect(good).toMatchObject({ status: 200, body: { valid: true, nodes: exampleHosts.length, groups: 3 } });
    const bad = await rig.ask('POST', '/api/v1/documents/check?name=x.yaml', 'a: [', yaml);
    expect(bad).toMatchObject({ status: 200, body: { valid: false, diagnostics: [{ file: 'x.yaml', line: 1 }] } });
    for (const files of [[], undefined, 'x', [{}], [null]])
      expect((await rig.ask('POST', '/api/v1/documents/check', { files })).status).toBe(400);
  });
});

describe('nodes and groups of a revision', () => {
  beforeAll(async () => {
    await rig.ask('POST', '/api/v1/sites', { name: 'stl1' });
    await rig.ask('POST', '/api/v1/sites/stl1/revisions', { files: await exampleDocuments() });
  });
  const select = (selectors: unknown, ref = 'latest') =>
    rig.ask('POST', `/api/v1/sites/stl1/revisions/${ref}/select`, { selectors });

  it('selectors match nodes: all criteria of one, any of several, every node without one', async () => {
    expect((await select([])).body).toEqual({ revision: 1, nodes: exampleHosts });
    expect((await select([{}])).body.nodes).toEqual(exampleHosts);
    expect((await select([{ node_names: ['stl1r01s05'] }, { node_names: ['stl1r01s02'] }])).body.nodes).toEqual([
      'stl1r01s02',
      'stl1r01s05',
    ]);
    const none = await select([{ node_names: ['stl1r01s05'], node_tags: ['no such tag'] }]);
    expect(none).toMatchObject({ status: 200, body: { nodes: [] } });
  });

  it.each([
    [[{ node_labels: ['no colon'] }], 400],
    [[{ node_labels: [{}] }], 400],
    [[{ node_name: ['x'] }], 400],
    [[{ node_names: 'x' }], 400],
    [['x'], 400],
    [null, 400],
    [undefined, 400],
  ])('%j is not a list of selectors', async (selectors, status) => {
    expect(await select(selectors)).toMatchObject({ status, body: { code: 'invalid', detail: expect.any(String) } });
  });

  it('an unknown revision has no nodes', async () => {
    expect((await select([], '7')).status).toBe(404);
    expect((await select([], 'last-good')).status).toBe(404);
  });

  it('a strategy is shown with its nodes, order and thresholds', async () => {
    const { body } = await rig.ask('GET', '/api/v1/sites/stl1/revisions/latest/strategy');
    expect(body.order).toEqual(['masters', 'worker_group_0', 'workers']);
    expect(body.groups[0]).toMatchObject({
      name: 'masters',
      critical: true,
      nodes: ['stl1r01s02', 'stl1r01s03', 'stl1r01s04'],
      successes_needed: 3,
    });
  });
});

it('JSON Schemas of documents can be listed and read', async () => {
  const { body } = await rig.ask('GET', '/api/v1/schemas');
  expect(body.items).toHaveLength(readdirSync('docs/schemas').length);
  for (const { file, url, title } of body.items) {
    const schema = await rig.ask('GET', url);
    expect(schema).toMatchObject({ status: 200, body: { title, $schema: expect.stringContaining('2020-12') } });
    expect(url).toBe(`/api/v1/schemas/${file}`);
  }
  const missing = await rig.ask('GET', '/api/v1/schemas/baremetal-nod.schema.json');
  expect(missing).toMatchObject({ status: 404, body: { hint: "Did you mean 'baremetal-node.schema.json'?" } });
});

it('the audit trail records who did what; it is read in pages and by filter', async () => {
  for (let i = 0; i < 3; i++)
    await rig.store.audit.append({ actor: 'eva', action: 'test.act', target: `thing/${i}`, details: { i } });
  const first = await rig.ask('GET', '/api/v1/audit?actor=eva&limit=2');
  expect(first.body.items.map((entry: { target: string }) => entry.target)).toEqual(['thing/2', 'thing/1']);
  const second = await rig.ask('GET', `/api/v1/audit?actor=eva&limit=2&before=${encodeURIComponent(first.body.next)}`);
  expect(second.body).toMatchObject({ items: [{ target: 'thing/0', details: { i: 0 } }], next: null });
  expect((await rig.ask('GET', '/api/v1/audit?until=2001-01-01T00:00:00Z')).body.items).toEqual([]);
  expect((await rig.ask('GET', '/api/v1/audit?since=yesterday')).status).toBe(400);
});

it('the version reports that no login is needed', async () => {
  expect((await rig.ask('GET', '/api/v1/version')).body).toEqual({
    name: 'sitewright',
    version: '1.2.3',
    auth_required: false,
    release: '1.2.3',
    api: '1.0',
    feature_groups: ['advanced'],
  });
});
