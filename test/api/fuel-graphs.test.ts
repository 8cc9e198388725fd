import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiRig, apiAlone } from './api-rig.ts';
import { type Environment, environment, findings, myTask, recorded, releaseTasks } from './fuel-graphs-rig.ts';

let rig: ApiRig;
let env: Environment;
let made = 0;

beforeAll(async () => {
  rig = await apiAlone();
});
afterAll(() => rig.close());
beforeEach(async () => {
  env = await environment(rig.store, `env${++made}`);
});

const api = '/api/v1';
const ofCluster = (type = '') => `${api}/clusters/${env.cluster}/deployment_graphs/${type}`;
const ask: ApiRig['ask'] = (...given) => rig.ask(...given);
const upload = (type: string, body: unknown) => ask('POST', ofCluster(type), body);
const library = (): unknown =>
  JSON.parse(readFileSync(new URL('../data/fuel/tasks.raw.json', import.meta.url), 'utf8'));

describe('the graph of an owner', () => {
  it('is created, shown, changed in part and deleted, in the shapes of the reference', async () => {
    expect(await ask('GET', ofCluster('custom'))).toMatchObject({
      status: recorded(4, 'GET', '/clusters/1/deployment_graphs/custom').status,
      body: { detail: 'Graph with type: custom is not defined', errors: [] },
    });
    expect(await ask('PUT', ofCluster('custom'), { tasks: [myTask] })).toMatchObject({ status: 404 });

    const wanted = recorded(9, 'POST', '/clusters/1/deployment_graphs/custom');
    const created = await upload('custom', wanted.request);
    // 200 in the reference, which is an accident (docs/explain/design.md#graphs).
    expect(created.status).toBe(201);
    expect(created.headers.location).toBe(ofCluster('custom'));
    const { id, relations, warnings, ...rest } = created.body;
    expect({ ...rest, id: 4 }).toEqual({ ...wanted.response, relations: undefined, id: 4 });
    expect(relations).toEqual([{ model: 'cluster', model_id: env.cluster, type: 'custom' }]);
    expect(warnings).toMatchObject([
      { code: 'graph.unknown-dependency', path: 'tasks[0].requires[0]' },
      { code: 'graph.deprecated-roles', path: 'tasks[0]' },
    ]);

    expect(await upload('custom', wanted.request)).toMatchObject({
      status: 409,
      body: { detail: recorded(10, 'POST', '/clusters/1/deployment_graphs/custom').response.message },
    });
    expect(await ask('PATCH', ofCluster('custom'), { name: 'renamed' })).toMatchObject({
      status: 200,
      body: { id, name: 'renamed', tasks: [{ id: 'my-task' }] },
    });
    expect((await ask('PUT', ofCluster('custom'), { tasks: [] })).body).toEqual({
      id,
      name: 'renamed',
      relations,
      tasks: [],
    });
    const filled = recorded(14, 'PUT', '/clusters/1/deployment_graphs/custom');
    expect((await ask('PUT', ofCluster('custom'), filled.request)).body).toMatchObject({
      ...filled.response,
      id,
      relations,
    });
    expect(await ask('DELETE', ofCluster('custom'))).toMatchObject({ status: 204, body: '' });
    expect(await ask('DELETE', ofCluster('custom'))).toMatchObject({ status: 404 });
    expect(await ask('GET', `${api}/graphs/${id}`)).toMatchObject({
      status: 404,
      body: { detail: 'DeploymentGraph not found' },
    });
  });

  it.each(['releases', 'plugins', 'clusters'] as const)('of %s is listed with the owner alone', async (owners) => {
    const id = { releases: env.release, plugins: env.plugin, clusters: env.cluster }[owners];
    const path = `${api}/${owners}/${id}/deployment_graphs`;
    expect(await ask('POST', `${path}/mine/`, { name: 'g' })).toMatchObject({ status: 201 });
    const listed = await ask('GET', `${path}/?fetch_related=1`);
    expect(listed.status).toBe(200);
    expect(listed.body.map((one: { relations: object[] }) => one.relations[0])).toContainEqual({
      model: owners.slice(0, -1),
      model_id: id,
      type: 'mine',
    });
    expect(await ask('GET', `${api}/${owners}/9999/deployment_graphs`)).toMatchObject({
      status: 404,
      body: { detail: `${owners[0]!.toUpperCase()}${owners.slice(1, -1)} not found` },
    });
  });

  it('a fresh cluster and a fresh release have an empty default graph', async () => {
    expect((await ask('GET', ofCluster())).body).toEqual([
      {
        id: expect.any(Number),
        name: null,
        tasks: [],
        relations: [{ model: 'cluster', model_id: env.cluster, type: 'default' }],
      },
    ]);
  });

  it('accepts both spellings of fields and returns both', async () => {
    const wanted = recorded(59, 'POST', '/clusters/1/deployment_graphs/bad');
    const { body } = await upload('bad', wanted.request);
    expect(body.tasks).toEqual(wanted.response.tasks);
  });

  it('can be the whole library, and is listed in its order', async () => {
    const tasks = library() as readonly { id: string }[];
    expect(await ask('PUT', `${api}/releases/${env.release}/deployment_graphs/default`, { tasks })).toMatchObject({
      status: 200,
    });
    const { body } = await ask('GET', `${api}/clusters/${env.cluster}/deployment_tasks`);
    expect(body.map((one: { id: string }) => one.id)).toEqual(tasks.map(({ id }) => id));
  });

  it('may be sent as YAML; mistakes in it are reported with their line', async () => {
    const yaml = { 'content-type': 'application/yaml' };
    const good = 'name: by hand\ntasks:\n- id: a\n  type: noop\n  role: "*"\n';
    expect(await ask('POST', ofCluster('yaml'), good, yaml)).toMatchObject({
      status: 201,
      body: { name: 'by hand', tasks: [{ id: 'a', roles: '*' }] },
    });
    const bad = 'tasks:\n- id: a\n  type: noop\n- id: b\n  type: bogus\n';
    const refused = await ask('PUT', ofCluster('yaml'), bad, yaml);
    expect(refused).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'tasks[1].type', line: 5, column: 9, code: 'graph.bad-task' }] },
    });
    expect(await ask('PUT', ofCluster('yaml'), 'tasks: [', yaml)).toMatchObject({ status: 400 });
    expect(await ask('PUT', ofCluster('yaml'), '', yaml)).toMatchObject({ status: 400 });
  });

  it('has its changes in the audit trail, with who made them', async () => {
    await ask('POST', ofCluster('traced'), {}, { 'x-sitewright-user': 'nina' });
    const { items } = (await ask('GET', `${api}/audit?actor=nina&action=graph.create`)).body;
    expect(items[0]).toMatchObject({ target: `cluster/${env.cluster}/graphs/traced` });
  });
});

describe('a graph by id', () => {
  it('needs an owner, and the refusal names the path (201 in the reference, for a graph that no run uses)', async () => {
    const { request } = recorded(21, 'POST', '/graphs/');
    const before = (await ask('GET', `${api}/graphs/`)).body.length;
    for (const path of ['/graphs/', '/graphs'])
      expect(await ask('POST', `${api}${path}`, request)).toMatchObject({
        status: 410,
        body: {
          detail: expect.stringContaining('a graph needs an owner and a type'),
          hint: expect.stringContaining('/api/v1/clusters/ID/deployment_graphs/TYPE'),
        },
      });
    expect((await ask('GET', `${api}/graphs/`)).body).toHaveLength(before);
    const there = await ask('POST', `${api}/clusters/${env.cluster}/deployment_graphs/kept`, request);
    expect(there).toMatchObject({ status: 201, body: { relations: [{ model: 'cluster', type: 'kept' }] } });
    expect(await ask('DELETE', `${api}/graphs/${there.body.id}/`)).toMatchObject({ status: 204 });
  });

  it('is found by owners and types in any combination, with related graphs', async () => {
    await upload('one', {});
    await upload('two', {});
    await ask('POST', `${api}/releases/${env.release}/deployment_graphs/one`, {});
    await ask('POST', `${api}/plugins/${env.plugin}/deployment_graphs/one`, {});
    const found = async (query: string) =>
      (await ask('GET', `${api}/graphs/?${query}`)).body
        .map((one: { relations: { model: string; type: string }[] }) => one.relations[0])
        .map((one: { model: string; type: string }) => `${one.model} ${one.type}`)
        .sort();
    const cluster = `clusters_ids=${env.cluster}`;
    expect(await found(cluster)).toEqual(['cluster default', 'cluster one', 'cluster two']);
    expect(await found(`${cluster}&graph_types=one,two`)).toEqual(['cluster one', 'cluster two']);
    expect(await found(`${cluster}&fetch_related=1&graph_types=one`)).toEqual([
      'cluster one',
      'plugin one',
      'release one',
    ]);
    expect(await found(`releases_ids=${env.release}&plugins_ids=${env.plugin}&graph_types=one`)).toEqual([
      'plugin one',
      'release one',
    ]);
    expect(await found('clusters_ids=9999')).toEqual([]);
  });

  it('an owner filter together with types, which broke the reference (500), answers', async () => {
    await upload('custom', {});
    const { status, body } = await ask('GET', `${api}/graphs/?clusters_ids=${env.cluster}&graph_types=custom`);
    expect({ status, types: body.map((one: { relations: { type: string }[] }) => one.relations[0]!.type) }).toEqual({
      status: 200,
      types: ['custom'],
    });
  });

  it('is not found by an id that is not a number', async () => {
    expect(await ask('GET', `${api}/graphs/?clusters_ids=abc`)).toMatchObject({
      status: 400,
      body: { detail: recorded(26, 'GET', '/graphs/?clusters_ids=abc').response.message },
    });
    expect(await ask('GET', `${api}/graphs/abc`)).toMatchObject({ status: 400 });
    expect(await ask('GET', `${api}/graphs/999`)).toMatchObject({ status: 404 });
  });
});

describe('an upload is refused', () => {
  it('for everything the reference refuses', async () => {
    for (const index of [30, 31, 32, 33, 36, 37, 38, 39, 40, 41, 42, 44, 46, 47, 48, 49, 50, 51, 56]) {
      const { request } = recorded(index, 'POST', '/clusters/1/deployment_graphs/bad');
      const { status, body } = await upload('bad', request);
      expect([index, status, body.detail.length > 5, body.errors.length > 0]).toEqual([index, 400, true, true]);
    }
    expect((await upload('bad', recorded(36, 'POST', '/clusters/1/deployment_graphs/bad').request)).body.detail).toBe(
      'Tasks duplication found: x, y',
    );
  });

  it('for a cycle, which the reference stores', async () => {
    const { request } = recorded(54, 'POST', '/clusters/1/deployment_graphs/bad');
    expect(findings(await upload('bad', request))).toContainEqual(
      expect.stringMatching(/^tasks\[[01]\]\.(requires|required_for)\[0\]: .*: x -> y -> x$/),
    );
    expect(await ask('GET', ofCluster('bad'))).toMatchObject({ status: 404 });
  });

  it('for a version with letters, which the reference accepts and fails on later', async () => {
    const { request } = recorded(34, 'POST', '/clusters/1/deployment_graphs/bad');
    expect(await upload('bad', request)).toMatchObject({ status: 400 });
  });

  it('for bad YAQL, bad regexes and bad policies under either spelling, all together', async () => {
    const task = {
      id: 'x',
      type: 'noop',
      role: ['/(/'],
      condition: { yaql_exp: '$.a +' },
      cross_depends: [{ name: '/[/', policy: 'some' }],
    };
    const { status, body } = await upload('bad', { node_filter: '$.x =', tasks: [task] });
    expect(status).toBe(400);
    expect(body.errors.map((one: { path: string }) => one.path).sort()).toEqual([
      'node_filter',
      'tasks[0]',
      'tasks[0].condition',
      'tasks[0].cross_depends[0].name',
      'tasks[0].cross_depends[0].policy',
      'tasks[0].role[0]',
    ]);
  });

  it('for a cycle that it closes with the graph of the release', async () => {
    await ask('POST', `${api}/releases/${env.release}/deployment_graphs/two`, {
      tasks: [{ id: 'a', type: 'shell', requires: ['mine'] }],
    });
    const { status, body } = await upload('two', { tasks: [{ id: 'mine', type: 'shell', requires: ['a'] }] });
    expect([status, body.detail]).toEqual([400, expect.stringContaining('mine -> a -> mine')]);
  });

  it('without a body, with a broken one, or to the list of graphs (500 in the reference)', async () => {
    expect(await ask('POST', ofCluster('bad'))).toMatchObject({
      status: 400,
      body: { detail: 'Empty request received' },
    });
    expect(await ask('POST', ofCluster('bad'), '{not json', { 'content-type': 'application/json' })).toMatchObject({
      status: 400,
    });
    expect(await ask('POST', ofCluster(), { tasks: [] })).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, OPTIONS' },
    });
  });

  it('for a type that cannot be part of a path', async () => {
    expect(await upload('we%20ird', { tasks: [] })).toMatchObject({ status: 400 });
  });

  it('undefined names are only warnings, with the list of tasks in a header', async () => {
    const path = `${api}/clusters/${env.cluster}/deployment_tasks/`;
    const { status, headers } = await ask('PUT', path, [{ id: 'a', type: 'noop', requires: ['gone'] }]);
    expect(status).toBe(200);
    expect(headers.warning).toBe(`199 - "[0].requires[0]: no task is named 'gone'; referenced by a"`);
  });
});

describe('checking a graph', () => {
  it('stores nothing, and checks against the layers below when the owner is given', async () => {
    await ask('POST', `${api}/releases/${env.release}/deployment_graphs/t`, { tasks: [{ id: 'base', type: 'noop' }] });
    const body = { tasks: [{ id: 'a', type: 'noop', requires: ['base'] }] };
    const alone = await ask('POST', `${api}/graphs/check`, body);
    expect(alone.body).toMatchObject({ valid: true, tasks: 1, diagnostics: [{ severity: 'warning' }] });
    const over = await ask('POST', `${api}/graphs/check?cluster=${env.cluster}&graph_type=t`, body);
    expect(over.body).toEqual({ valid: true, tasks: 1, diagnostics: [] });
    expect((await ask('POST', `${api}/graphs/check`, [{ id: 'a', type: 'zz' }])).body).toMatchObject({
      valid: false,
      diagnostics: [{ path: '[0].type' }],
    });
    expect(await ask('GET', ofCluster('t'))).toMatchObject({ status: 404 });
  });
});

describe('the tasks of a cluster', () => {
  beforeEach(async () => {
    await ask(
      'POST',
      `${api}/releases/${env.release}/deployment_graphs/custom`,
      recorded(67, 'POST', '/releases/1/deployment_graphs/custom').request,
    );
    await ask(
      'POST',
      `${api}/plugins/${env.plugin}/deployment_graphs/custom`,
      recorded(68, 'POST', '/plugins/1/deployment_graphs/custom').request,
    );
    await upload('custom', { tasks: [myTask] });
  });
  const tasks = async (part: string, query = '?graph_type=custom') =>
    ask('GET', `${api}/clusters/${env.cluster}/deployment_tasks/${part}${query}`);
  const ids = async (part: string) => (await tasks(part)).body.map((one: { id: string }) => one.id);

  it('are those of its layers, whole tasks by id, cluster first', async () => {
    const url = '/clusters/1/deployment_tasks/';
    expect((await tasks('')).body).toEqual(recorded(70, 'GET', `${url}?graph_type=custom`).response);
    expect(await ids('own/')).toEqual(['my-task']);
    expect((await tasks('plugins/')).body).toEqual(recorded(74, 'GET', `${url}plugins/?graph_type=custom`).response);
    expect((await tasks('release/')).body).toEqual(recorded(76, 'GET', `${url}release/?graph_type=custom`).response);
    expect(await tasks('', '?graph_type=nosuch')).toMatchObject({ status: 200, body: [] });
    expect(await tasks('', '')).toMatchObject({ status: 200, body: [] });
    expect(await ask('GET', `${api}/clusters/9999/deployment_tasks/`)).toMatchObject({
      status: 404,
      body: { detail: 'Cluster not found' },
    });
  });

  it('cannot be cut when they are ordered between nodes; old ones can', async () => {
    const url = '/clusters/1/deployment_tasks/';
    for (const query of ['start=my-task', 'end=my-task', 'end=zzz']) {
      expect(await tasks('', `?graph_type=custom&${query}`)).toMatchObject({
        status: 400,
        body: { detail: recorded(78, 'GET', `${url}?start=rel-a`).response.message },
      });
    }
    const old = ['a', 'b', 'c'].map((id, at) => ({
      id,
      type: 'shell',
      ...(at === 0 ? {} : { requires: ['abc'[at - 1]] }),
    }));
    const put = `${api}/clusters/${env.cluster}/deployment_tasks/?graph_type=old`;
    await ask('PUT', put, [...old, { id: 'g', type: 'group' }]);
    const cut = async (query: string) =>
      (await tasks('', `?graph_type=old&${query}`)).body.map((one: { id: string }) => one.id);
    expect(await cut('start=b')).toEqual(['b', 'c']);
    expect(await cut('end=b')).toEqual(['a', 'b']);
    expect(await cut('start=b&end=b&include=group')).toEqual(['b', 'g']);
    expect(await tasks('', '?graph_type=old&end=zzz')).toMatchObject({
      status: 400,
      body: { detail: 'Cannot find task zzz by its name.' },
    });
  });

  it('are replaced by a bare list, for a release too; other methods are refused', async () => {
    const list = recorded(86, 'PUT', '/releases/1/deployment_tasks/?graph_type=viaput');
    const { status, body } = await ask(
      'PUT',
      `${api}/releases/${env.release}/deployment_tasks/?graph_type=viaput`,
      list.request,
    );
    expect({ status, body }).toEqual({ status: 200, body: list.response });
    expect((await ask('GET', `${api}/releases/${env.release}/deployment_tasks?graph_type=viaput`)).body).toEqual(
      list.response,
    );
    const path = `${api}/clusters/${env.cluster}/deployment_tasks/`;
    expect(await ask('PUT', path, [{ id: 'a' }])).toMatchObject({ status: 400 });
    expect(await ask('PUT', path, { tasks: [] })).toMatchObject({ status: 400 });
    expect(await ask('POST', path, [])).toMatchObject({ status: 405 });
    expect(await ask('DELETE', path)).toMatchObject({ status: 405 });
  });

  it('of two plugins with the same id are a conflict', async () => {
    const other = await rig.store.plugins.create({ name: `other${made}`, version: '1.0.0', packageVersion: '5.0.0' });
    await rig.store.plugins.link(env.cluster, other.id, { enabled: true });
    await ask('POST', `${api}/plugins/${other.id}/deployment_graphs/custom`, {
      tasks: [{ id: 'plug-only', type: 'shell' }],
    });
    expect(await tasks('')).toMatchObject({ status: 409, body: { detail: expect.stringContaining("'plug-only'") } });
  });
});

describe('plans and drawings', () => {
  beforeEach(async () => {
    await upload('custom', {
      tasks: [
        { id: 's', type: 'stage' },
        { id: 'a', type: 'shell', version: '2.1.0', role: ['controller'], requires: ['s'], parameters: { cmd: 'x' } },
        {
          id: 'b',
          type: 'shell',
          version: '2.1.0',
          role: ['compute'],
          'cross-depends': [{ name: 'a', role: 'controller' }],
        },
        { id: 'c', type: 'shell', version: '2.1.0', role: ['compute'], condition: { yaql_exp: "'c' in $.roles" } },
        { id: 'd', type: 'shell', version: '2.1.0', role: ['unused'] },
      ],
    });
  });
  const cluster = (path: string) => `${api}/clusters/${env.cluster}/${path}`;

  it('serialized tasks have the shape executors know', async () => {
    const [one, two] = env.nodes;
    const { body } = await ask('GET', cluster('serialized_tasks/?graph_type=custom'));
    expect(body).toMatchObject({
      dry_run: false,
      noop_run: false,
      tasks_directory: {},
      tasks_metadata: { fault_tolerance_groups: [] },
      tasks_graph: {
        null: [{ id: 's', type: 'skipped', fail_on_error: false }],
        [one]: [
          {
            id: 'a',
            type: 'shell',
            fail_on_error: true,
            parameters: { cmd: 'x', cwd: '/' },
            requires: [{ name: 's', node_id: null }],
          },
        ],
        [two]: [
          { id: 'b', requires: [{ name: 'a', node_id: String(one) }] },
          { id: 'c', type: 'skipped' },
        ],
      },
    });
  });

  it('serialized tasks are only for existing nodes and tasks', async () => {
    const [one] = env.nodes;
    const some = await ask('GET', cluster(`serialized_tasks/?graph_type=custom&nodes=${one}&tasks=a`));
    expect(Object.keys(some.body.tasks_graph).sort()).toEqual([String(one), 'null'].sort());
    expect(await ask('GET', cluster('serialized_tasks/?nodes=9999'))).toMatchObject({
      status: 404,
      body: { detail: recorded(94, 'GET', '/clusters/1/serialized_tasks/?nodes=999').response.message },
    });
    const stranger = await environment(rig.store, `stranger${made}`);
    expect(await ask('GET', cluster(`serialized_tasks/?nodes=${stranger.nodes[0]}`))).toMatchObject({
      status: 400,
      body: { detail: `Nodes ${stranger.nodes[0]} do not belong to the same cluster ${env.cluster}` },
    });
    expect(await ask('GET', cluster('serialized_tasks/?graph_type=custom&tasks=zz'))).toMatchObject({
      status: 400,
      body: { detail: 'Tasks zz are not present in deployment graph' },
    });
    const nosuch = recorded(93, 'GET', '/clusters/1/serialized_tasks/?graph_type=nosuch').response;
    expect((await ask('GET', cluster('serialized_tasks/?graph_type=nosuch'))).body).toEqual(nosuch);
  });

  it('the plan shows what runs, what does not and why, as JSON, text and DOT', async () => {
    const { status, body } = await ask('GET', cluster('plan?graph_type=custom'));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      cluster: env.cluster,
      type: 'custom',
      totals: { tasks: 4, running: 2, first_time: 2 },
      not_placed: [{ task: 'd' }],
      left_out: [],
    });
    const text = await ask('GET', cluster('plan?graph_type=custom&format=text'));
    expect(text.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(text.body).toContain('4 tasks on 3 nodes: 2 run');
    const dot = await ask('GET', cluster('plan?graph_type=custom'), undefined, { accept: 'text/vnd.graphviz' });
    expect(dot.body).toMatch(/^strict digraph plan \{/);
    expect(await ask('GET', cluster('plan?graph_type=custm'))).toMatchObject({
      status: 404,
      body: { hint: expect.stringMatching(/Known types: custom, default\.$/) },
    });
  });

  it('the drawing has the attributes of the reference, and dependencies between nodes', async () => {
    const { headers, body } = await ask('GET', cluster('deploy_tasks/graph.gv?graph_type=custom'));
    expect(headers['content-type']).toMatch(/^text\/vnd\.graphviz/);
    expect(body.split('\n')).toEqual([
      'strict digraph G {',
      's [color=red, shape=rect, style=filled];',
      ...['a', 'b', 'c', 'd'].map((name) => `${name} [color=yellowgreen, style=filled];`),
      's -> a;',
      'a -> b [style=dashed];',
      '}',
      '',
    ]);
  });

  it('the drawing of a release is the recorded one', async () => {
    await ask('PUT', `${api}/releases/${env.release}/deployment_tasks/?graph_type=stages`, releaseTasks);
    const { body } = await ask('GET', cluster('deploy_tasks/graph.gv?graph_type=stages'));
    const lines = recorded(97, 'GET', '/clusters/1/deploy_tasks/graph.gv').response.split('\n') as string[];
    const stages = lines.filter((line) => !/plug|controller|rel-/.test(line));
    expect(body.split('\n')).toEqual(stages);
  });

  it('the drawing can be of some tasks, of parents, without types; the rest is refused', async () => {
    const draw = (query: string) => ask('GET', cluster(`deploy_tasks/graph.gv?graph_type=custom&${query}`));
    expect((await draw('tasks=a')).body).toContain('b [color=gray95];');
    expect((await draw('parents_for=b')).body.split('\n').slice(1, 4)).toEqual([
      'a [color=yellowgreen, style=filled];',
      'b [color=yellowgreen, style=filled];',
      'a -> b [style=dashed];',
    ]);
    expect((await draw('remove=stage,group')).body).not.toContain('s [');
    for (const [query, index, url] of [
      ['tasks=zzz', 101, 'tasks=zzz'],
      ['parents_for=zzz', 103, 'parents_for=zzz'],
      ['remove=puppet', 105, 'remove=puppet'],
    ] as const) {
      expect(await draw(query)).toMatchObject({
        status: 400,
        body: { detail: recorded(index, 'GET', `/clusters/1/deploy_tasks/graph.gv?${url}`).response.message },
      });
    }
    expect((await ask('GET', cluster('deploy_tasks/graph.gv?graph_type=nosuch'))).body).toBe('strict digraph G {\n}\n');
  });

  it('some tasks of a graph with undefined names are drawn, which broke the reference (500)', async () => {
    await upload('ghosts', {
      tasks: [
        { id: 'x', type: 'shell', requires: ['ghost'] },
        { id: 'y', type: 'shell' },
      ],
    });
    expect(await ask('GET', cluster('deploy_tasks/graph.gv?graph_type=ghosts&tasks=y'))).toMatchObject({
      status: 200,
      body: expect.stringContaining('ghost -> x;'),
    });
  });
});
