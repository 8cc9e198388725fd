import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { spec } from '../specification/spec.ts';
import { cli } from './recording-terminal.ts';
import { problem, runRecord, type StubAnswer, type StubApi, type StubRequest, stubApi } from './stub-api.ts';

let api: StubApi | undefined;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sitewright-graph-cli-'));
});
afterEach(async () => {
  await api?.close();
  api = undefined;
  rmSync(folder, { recursive: true });
});

/** Runs a command in the folder against an API with this answer. */
async function against(
  answer: (request: StubRequest) => StubAnswer,
  args: readonly string[],
  options: Parameters<typeof cli>[1] = {},
) {
  api = await stubApi(answer);
  const result = await cli(args, { env: { SITEWRIGHT_API: api.url }, cwd: folder, ...options });
  return { ...result, requests: api.requests };
}

const STORED = {
  id: 4,
  name: null,
  tasks: [{ id: 'a' }, { id: 'b' }],
  relations: [{ model: 'cluster', model_id: 1, type: 'default' }],
};
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return name;
};
const TASKS = '- {id: a, type: shell, version: 2.1.0, tags: "*", parameters: {cmd: "true", timeout: 1.0}}\n';

describe('names of clusters and nodes', () => {
  const named = ({ at }: StubRequest): StubAnswer => {
    if (at === '/clusters') return [200, [...['lab', 'twin', 'twin'].map((name, index) => ({ id: 7 + index, name }))]];
    if (at.startsWith('/graphs/')) return [200, []];
    if (at.startsWith('/nodes?')) return [200, []];
    if (at === '/nodes') return [200, ['node-1', 'node-2'].map((name, index) => ({ id: 3 + index, name }))];
    return [200, {}];
  };

  it('are accepted in place of ids, in arguments, options and lists', async () => {
    const args = ['cluster', 'add-nodes', 'lab', '--nodes', 'node-2,1', 'node-1', '--roles', 'web'];
    const { code, requests } = await against(named, args);
    expect(code).toBe(0);
    expect(requests.map(({ at }) => at).toSorted()).toEqual([
      '/clusters',
      '/clusters/7/assignment',
      '/nodes',
      '/nodes?cluster_id=7',
    ]);
    expect(requests.at(-1)!.body).toEqual([4, 1, 3].map((id) => ({ id, roles: ['web'] })));
    await api?.close();
    const list = await against(named, ['graph', 'list', '--env', 'lab,2', '-f', 'json']);
    expect(list.requests.at(-1)!.at).toMatch(/clusters_ids=7(%2C|,)2/);
    await api?.close();
    const ids = await against(named, ['cluster', 'show', '7', '-f', 'json']);
    expect(ids.requests.map(({ at }) => at)).toEqual(['/clusters/7']);
  });

  it.each([
    [['cluster', 'show', 'lbb'], 3, "there is no cluster 'lbb'", "'lab'"],
    [['cluster', 'check', '7', '--node', 'nod-1'], 3, "there is no node 'nod-1'", "'node-1'"],
    [['graph', 'plan', '--env', 'twin'], 2, "there are 2 clusters named 'twin'", 'Give the id of one: 8, 9.'],
    [['cluster', 'delete', '', '--yes'], 2, 'Name a cluster, or give its id.', ''],
  ])('%j is refused', async (args, exit, message, hint) => {
    const { code, err, requests } = await against(named, args);
    expect(code).toBe(exit);
    expect(err).toContain(message);
    expect(err).toContain(hint);
    expect(requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});

describe('names of releases, plugins, sequences, runs and planned nodes', () => {
  const nothing = Object.fromEntries(
    [
      'left_out',
      'warnings',
      'not_placed',
      'skipped_primaries',
      'dropped_dependencies',
      'fault_tolerance',
      'any_choices',
    ].map((name) => [name, []]),
  );
  const plan = {
    ...nothing,
    totals: { tasks: 0, nodes: 0, running: 0, first_time: 0 },
    nodes: ['3', '4'].map((node) => ({ node, runs: [], skipped: [] })),
  };
  const run = runRecord({
    kind: 'execute_graph',
    site: null,
    cluster: 7,
    number: 15,
    workflow_id: 'execute_graph:7:15',
  });
  const named = ({ at, method }: StubRequest): StubAnswer => {
    if (at === '/releases' || at === '/plugins')
      return [
        200,
        [
          { id: 5, name: 'noble', version: '1' },
          { id: 6, name: 'jammy', version: '2' },
        ],
      ];
    if (at === '/sequences') return [200, [{ id: 9, name: 'nightly' }]];
    if (at === '/nodes') return [200, ['web3', 'web4', 'elsewhere'].map((name, index) => ({ id: 3 + index, name }))];
    if (at.startsWith('/clusters/7/plan')) return [200, plan];
    if (at.startsWith('/runs')) return [200, { items: [run], next: null }];
    if (at === '/transactions/15') return [200, { id: 15, cluster: 7, run: null, parent_id: null }];
    if (method === 'POST') return [202, { id: 16, cluster: 7, workflow_id: 'w', run: 'r' }];
    return [200, /^\/(tags|graphs)|\/tasks$/.test(at) ? [] : {}];
  };
  const last = async (...args: string[]) => {
    const { code, err, requests } = await against(named, args);
    expect([code, err]).toEqual([0, '']);
    await api?.close();
    return requests.at(-1)!;
  };

  it('are accepted in place of ids', async () => {
    expect((await last('release', 'show', 'noble', '-f', 'json')).at).toBe('/releases/5');
    expect((await last('plugin', 'show', 'jammy 2', '-f', 'json')).at).toBe('/plugins/6');
    expect((await last('tag', 'list', '-r', 'jammy', '-f', 'json')).at).toBe('/tags?release_id=6');
    expect((await last('graph', 'list', '-r', 'jammy,5', '-f', 'json')).at).toContain('releases_ids=6%2C5');
    expect((await last('sequence', 'show', 'nightly', '-f', 'json')).at).toBe('/sequences/9');
    expect((await last('history', 'show', 'execute_graph:7:15', '-f', 'json')).at).toBe('/transactions/15/tasks');
  });

  it('a run is continued without its cluster, which it knows', async () => {
    const { at, body } = await last('graph', 'execute', '--from', '15', '-f', 'json');
    expect([at, body]).toMatchObject(['/graphs/execute', { cluster: 7, from: 15 }]);
  });

  it('a plan shows nodes by name or id, and refuses one that it does not have', async () => {
    const planned = async (...nodes: string[]) => {
      const { code, out, err } = await against(named, ['graph', 'plan', '-e', '7', '-f', 'json', '--show', ...nodes]);
      await api?.close();
      return { code, err, nodes: out === '' ? [] : JSON.parse(out).nodes.map(({ node }: { node: string }) => node) };
    };
    expect(await planned('web4', '3')).toEqual({ code: 0, err: '', nodes: ['3', '4'] });
    const { code, err } = await planned('web44');
    expect([code, JSON.parse(err)]).toEqual([
      3,
      { code: 'not-found', message: "the plan has no node 'web44'", hint: "Did you mean 'web4'?" },
    ]);
    for (const node of ['nonsense', '9', 'elsewhere']) {
      const { code, err } = await planned(node);
      expect([node, code]).toEqual([node, 3]);
      expect(err).toContain('It has web3, web4, 3, 4.');
    }
  });

  it.each([
    [['release', 'show', 'nobel'], "there is no release 'nobel'", "Did you mean 'noble'?"],
    [['sequence', 'execute', 'nightli', '-e', '7'], "there is no sequence 'nightli'", "Did you mean 'nightly'?"],
    [['yaql', 'eval', '1', '--cluster', '7', '--node', 'wbe3'], "there is no node 'wbe3'", "Did you mean 'web3'?"],
  ])('%j is refused', async (args, message, hint) => {
    const { code, err } = await against(named, args);
    expect([code, err]).toEqual([3, `error: ${message}\n  hint: ${hint}\n`]);
  });

  it.each(['deploy', 'redeploy'])('cluster %s --dry-run shows the plan of each graph', async (verb) => {
    const { code, out, requests } = await against(
      (request) => {
        if (request.method === 'PUT') return [202, { id: 16, cluster: 7, workflow_id: 'w', run: 'r' }];
        if (request.at === '/runs/r/counts')
          return [200, { graphs: [{ type: 'deletion' }, { type: 'default' }], node_names: {} }];
        return named(request);
      },
      ['cluster', verb, '7', '--dry-run'],
    );
    expect(code).toBe(0);
    expect(out).toContain('started run 16 on cluster 7');
    expect([...out.matchAll(/^plan of (\w+)\n/gm)].map(([, type]) => type)).toEqual(['deletion', 'default']);
    const asked = requests.filter(({ at }) => at.startsWith('/clusters/7/plan')).map(({ at }) => at);
    expect(asked).toHaveLength(2);
    for (const at of asked) expect(at.includes('force=1')).toBe(verb === 'redeploy');
  });

  it('a change says the name that it was given', async () => {
    const clusters = ({ at }: StubRequest): StubAnswer =>
      at === '/clusters' ? [200, [{ id: 7, name: 'lab' }]] : [200, {}];
    const { out } = await against(clusters, ['cluster', 'update', 'lab', '--name', 'other']);
    expect(out).toBe('updated cluster lab\n');
  });
});

describe('graph upload', () => {
  it('replaces the graph of a type; numbers are sent as JSON has them', async () => {
    const args = ['graph', 'upload', '-e', '1', '-t', 'custom', '--file', file('t.yaml', TASKS)];
    const { code, out, requests } = await against(() => [200, STORED], args);
    expect([code, out]).toEqual([0, 'stored graph 4 of type custom of cluster 1: 2 tasks\n']);
    expect(requests).toMatchObject([{ method: 'PUT', at: '/clusters/1/deployment_graphs/custom' }]);
    expect(requests[0]!.body).toMatchObject({ tasks: [{ id: 'a', parameters: { timeout: 1 } }] });
  });

  it('creates the graph if there is none of its type', async () => {
    const { code, requests } = await against(
      ({ method }) => (method === 'PUT' ? problem('not-found', 404, 'no graph') : [201, STORED]),
      ['graph', 'upload', '-r', '2', '-t', 'custom', '--file', file('t.yaml', TASKS)],
    );
    expect(code).toBe(0);
    expect(requests.map(({ method, at }) => `${method} ${at}`)).toEqual([
      'PUT /releases/2/deployment_graphs/custom',
      'POST /releases/2/deployment_graphs/custom',
    ]);
  });

  it('without a type asks first, and needs --yes without a terminal', async () => {
    const args = ['graph', 'upload', '-p', '3', '--file', file('t.yaml', TASKS)];
    const asked = await against(() => [200, STORED], args);
    expect([asked.code, asked.requests.length]).toEqual([2, 0]);
    await api?.close();
    const { code, requests } = await against(() => [200, STORED], [...args, '--yes']);
    expect([code, requests[0]!.at]).toEqual([0, '/plugins/3/deployment_graphs/default']);
  });

  it.each(
    [
      ...spec('graph-commands.txt').matchAll(
        /fuel2 (graph upload --(env|release|plugin) \S+) \[(--type \S+)\]\s+(--file \S+)/g,
      ),
    ].flatMap(([, command, owner, type, from]) => [
      [`${command} ${from} --yes`, owner!, 'default'] as const,
      [`${command} ${type} ${from}`, owner!, 'graph_type'] as const,
    ]),
  )('of the specification: %s', async (command, owner, type) => {
    file('tasks.yaml', TASKS);
    const args = command.replace(/(env|release|plugin)_id/, '7').split(' ');
    const { code, requests, err } = await against(() => [200, STORED], args);
    const kind = owner === 'env' ? 'clusters' : `${owner}s`;
    expect([code, requests[0]?.at], err).toEqual([0, `/${kind}/7/deployment_graphs/${type}`]);
  });

  it('reads the answer from standard input, too', async () => {
    const args = ['graph', 'upload', '-e', '1', '--file', file('t.yaml', TASKS)];
    const declined = await against(() => [200, STORED], args, { piped: 'n' });
    expect([declined.code, declined.requests.length, declined.err]).toEqual([2, 0, 'error: nothing was done\n']);
    await api?.close();
    const { code, requests } = await against(() => [200, STORED], args, { piped: 'y' });
    expect([code, requests[0]!.at]).toEqual([0, '/clusters/1/deployment_graphs/default']);
  });

  it('reports every problem with its place, and sends nothing', async () => {
    const text = `${TASKS}- {id: b, type: bogus, version: 2.1.0}\n- {id: c, type: shell, version: x}\n`;
    const args = ['graph', 'upload', '-e', '1', '-t', 'x', '--file', file('bad.yaml', text)];
    const { code, err, requests } = await against(() => [200, STORED], args);
    expect([code, requests.length]).toEqual([2, 0]);
    expect(err).toContain('bad.yaml:2:');
    expect(err).toContain('bad.yaml:3:');
  });

  it.each(['', '# none\n', 'tasks:\n', 'null'])('takes %j for no graph; [] is one without tasks', async (text) => {
    const args = ['graph', 'upload', '-e', '1', '-t', 'x', '--file', file('empty.yaml', text)];
    const { code, err, requests } = await against(() => [200, STORED], args);
    expect([code, requests.length]).toEqual([2, 0]);
    expect(err).toBe(
      'error: empty.yaml has no tasks\n  hint: Write a list of tasks, or a mapping with the list as tasks; [] is a graph without tasks.\n',
    );
    await api?.close();
    const none = await against(() => [200, STORED], [...args.slice(0, -1), file('none.yaml', '[]')]);
    expect([none.code, none.requests[0]!.body]).toEqual([0, { tasks: [] }]);
  });

  it('accepts a folder with metadata and every tasks.yaml, and reports problems with their files', async () => {
    const { mkdirSync } = await import('node:fs');
    mkdirSync(join(folder, 'g/deep'), { recursive: true });
    writeFileSync(join(folder, 'g/metadata.yaml'), 'name: nightly\n');
    writeFileSync(join(folder, 'g/tasks.yaml'), TASKS);
    writeFileSync(join(folder, 'g/deep/tasks.yaml'), TASKS.replace('id: a', 'id: b'));
    const args = ['graph', 'upload', '-e', '1', '-t', 'x', '-d', 'g'];
    const { requests } = await against(() => [200, STORED], args);
    expect(requests[0]!.body).toMatchObject({ name: 'nightly', tasks: [{ id: 'b' }, { id: 'a' }] });
    await api?.close();
    writeFileSync(join(folder, 'g/deep/tasks.yaml'), '\n- {id: b, type: bogus, version: 2.1.0}\n');
    const { err } = await against(() => [200, STORED], args);
    expect(err).toMatch(/g\/(tasks|deep\/tasks)\.yaml:2:/);
  });

  it.each([
    [['-e', '1', '-r', '1', '--file', 't.yaml'], 'name one owner of the graph'],
    [['-e', '1'], 'nothing to upload'],
    [['-r', '', '--file', 't.yaml'], 'Name a release, or give its id.'],
  ])('%j is wrong use', async (flags, message) => {
    const { code, err } = await against(() => [200, STORED], ['graph', 'upload', '-t', 'x', ...flags]);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });
});

describe('a graph that is stored without an owner', () => {
  const named = (...names: string[]) => names.map((name, at) => ({ id: at + 1, name }));
  const upload = (...clusters: string[]) => {
    const answer = ({ at }: StubRequest): StubAnswer => [200, at === '/clusters' ? named(...clusters) : STORED];
    return against(answer, ['graph', 'upload', '-t', 'x', '--file', file('t.yaml', TASKS)]);
  };

  it('is of the only cluster, which is named', async () => {
    const { code, err, out, requests } = await upload('lab');
    expect([code, requests.at(-1)!.at], err).toEqual([0, '/clusters/1/deployment_graphs/x']);
    expect([err, out]).toEqual([expect.stringContaining('cluster lab'), expect.stringContaining('cluster lab')]);
  });

  it.each([[[]], [['lab', 'prod']]])('is refused where the clusters are %j, which it lists', async (clusters) => {
    const { code, err, requests } = await upload(...clusters);
    expect([code, requests.map(({ at }) => at)]).toEqual([2, ['/clusters']]);
    for (const name of clusters) expect(err).toContain(name);
  });
});

describe('stored graphs', () => {
  it('are listed with their owners', async () => {
    const { out, requests } = await against(() => [200, [STORED]], ['graph', 'list', '-e', '1,2']);
    expect(requests[0]!.at).toContain('clusters_ids=1%2C2');
    expect(out).toContain('as "default" to cluster(ID=1)');
    expect(out).toContain('a, b');
  });

  it('are saved by layer', async () => {
    const args = ['graph', 'download', '-e', '1', '--release', '-t', 'custom'];
    const { out, requests } = await against(() => [200, [{ id: 'a', type: 'shell' }]], args);
    expect(requests[0]!.at).toBe('/clusters/1/deployment_tasks/release?graph_type=custom');
    expect(out).toContain('release_graph_1.yaml');
    expect(readFileSync(join(folder, 'release_graph_1.yaml'), 'utf8')).toBe('- id: a\n  type: shell\n');
  });

  it('of an unknown type are not saved', async () => {
    const args = ['graph', 'download', '--cluster', '1', '-t', 'defualt'];
    const answer = ({ at }: StubRequest): StubAnswer => [200, at.startsWith('/graphs') ? [STORED] : []];
    const { code, err } = await against(answer, args);
    expect(code).toBe(3);
    expect(err).toContain("cluster 1 has no graph of type 'defualt'");
    expect(err).toContain("Did you mean 'default'?");
    expect(existsSync(join(folder, 'all_graph_1.yaml'))).toBe(false);
  });

  it('are deleted after a question', async () => {
    const args = ['graph', 'delete', '-e', '1', '-t', 'x'];
    expect((await against(() => [204, ''], args)).code).toBe(2);
    await api?.close();
    const { code, requests } = await against(() => [204, ''], [...args, '--yes']);
    expect([code, requests[0]!.method]).toEqual([0, 'DELETE']);
  });

  it('are planned, with omitted nodes and warnings', async () => {
    const plan = {
      totals: { nodes: 1, tasks: 1, running: 1, first_time: 1 },
      nodes: [{ node: '1', runs: [{ task: 'a', type: 'shell', first_time: true, changed: [] }], skipped: [] }],
      ...{ not_placed: [], skipped_primaries: [], dropped_dependencies: [], fault_tolerance: [], any_choices: [] },
      left_out: [{ node: 2, reason: 'it is offline' }],
      warnings: [{ severity: 'warning', code: 'graph.cycle', path: 'cluster.tasks[0]', message: 'round and round' }],
    };
    const args = ['graph', 'plan', '-e', '1'];
    const nodes = [
      { id: 1, name: 'web' },
      { id: 2, name: 'db' },
    ];
    const answer = ({ at }: StubRequest): StubAnswer => [200, at.startsWith('/nodes') ? nodes : plan];
    const { code, out, err } = await against(answer, args);
    expect([code, err]).toEqual([0, 'warning[graph.cycle]: cluster.tasks[0]: round and round\n']);
    expect(out).toContain('run   a (shell) first time here');
    expect(out).toContain('\nnode web: 1 run, 0 do not\n');
    expect(out).toContain('\nomitted nodes\n  db: it is offline\n');
    await api?.close();
    const some = await against(answer, [...args, '--node', '1,2', '3', '-T', 'a']);
    expect(some.requests[0]!.at).toBe('/clusters/1/plan?graph_type=default&nodes=1%2C2%2C3&tasks=a&format=json');
  });

  it('can be drawn and checked', async () => {
    const tasks = [{ id: 'a', type: 'shell', version: '2.1.0', roles: ['*'] }];
    const { out } = await against(() => [200, tasks], ['graph', 'draw', '-e', '1']);
    expect(out).toMatch(/^strict digraph G \{\n\s*a \[/);
    expect(api!.requests[0]!.at).toBe('/clusters/1/deployment_tasks?graph_type=default');
  });
});

describe('cluster check', () => {
  it('shows all findings, and an error sets the exit code', async () => {
    const info = {
      severity: 'info',
      code: 'check.tags-unassigned',
      message: 'No node has the tag mongo.',
      hint: 'Assign it.',
    };
    const fit = await against(() => [200, { ok: true, findings: [info] }], ['cluster', 'check', '1', '-n', '2,3']);
    expect([fit.code, fit.requests[0]!.at]).toEqual([0, '/clusters/1/checks?nodes=2%2C3']);
    expect(fit.out).toContain('No node has the tag mongo.');
    await api?.close();
    const unfit = await against(() => [200, { ok: false, findings: [] }], ['cluster', 'check', '1']);
    expect(unfit.code).toBe(2);
  });
});

describe('graph execute', () => {
  const started = { id: 12, cluster: 1, status: 'running', run: 'run-12', workflow_id: 'execute_graph:1:x' };
  const run = {
    id: 'run-12',
    kind: 'execute_graph',
    site: null,
    cluster: 1,
    number: 12,
    workflow_id: started.workflow_id,
  };
  const answering =
    (answer: object): ((request: StubRequest) => StubAnswer) =>
    ({ method }) =>
      method === 'POST' ? [202, answer] : [200, runRecord(run)];
  const execute = (...flags: string[]) => against(answering(started), ['graph', 'execute', '-e', '1', ...flags]);

  it('sends the options, and prints the next commands', async () => {
    const { code, out, requests } = await execute(
      ...['-t', 'a', 'b', '-n', '1,2', '-T', 'x', '-S', 's/1,3-5:e', ':e2', '--noop', '--force', '--trace'],
      ...['--max-nodes', '5', '--hold-on-failure', '--reason', 'disk'],
      ...['--rollouts', file('waves.yaml', 'compute: {first: 1, soak: 5m}\nceph: null\n')],
    );
    expect(code).toBe(0);
    expect(requests[0]!.body).toEqual({
      cluster: 1,
      graphs: [
        { type: 'a', nodes: [1, 2], tasks: ['x'] },
        { type: 'b', nodes: [1, 2], tasks: ['x'] },
      ],
      subgraphs: [{ start: ['s/1,3-5'], end: ['e'] }, { end: ['e2'] }],
      noop_run: true,
      force: true,
      debug: true,
      hold_on_failure: true,
      max_nodes: 5,
      reason: 'disk',
      rollouts: { compute: { first: 1, soak: '5m' }, ceph: null },
    });
    expect(out).toBe(`started run 12 on cluster 1
  watch it  sitewright run watch 12
  page      ${api!.url}/runs/run-12
  tasks     sitewright history show 12
  Temporal  http://ui.test/run
`);
  });

  it('prints the findings of the checks with the answer', async () => {
    const warnings = [
      { severity: 'warning', code: 'check.x', message: 'Nodes 4, 5 are away.', hint: 'Start their agents.' },
      { severity: 'error', code: 'check.y', message: 'Two roles exclude each other.' },
    ];
    const { code, out, err } = await against(answering({ ...started, warnings }), [
      'graph',
      'execute',
      '-e',
      '1',
      '--force',
    ]);
    expect(code).toBe(0);
    expect(err).toBe(
      'warning: Nodes 4, 5 are away.\n  hint: Start their agents.\nerror: Two roles exclude each other.\n',
    );
    expect(out).toMatch(/^ {2}page {6}http:\S+\/runs\/run-12$/m);
  });

  it('sends title, reason and labels of the run', async () => {
    const { requests } = await execute(
      '--title',
      'Ceph 18',
      '--description',
      '# Why',
      '--label',
      'team:storage',
      '--label',
      'ticket:a:b',
    );
    expect(requests[0]!.body).toMatchObject({
      title: 'Ceph 18',
      description: '# Why',
      labels: { team: 'storage', ticket: 'a:b' },
    });
  });

  it('continues an earlier run', async () => {
    const { requests } = await execute('--from', '7');
    expect(requests[0]!.body).toEqual({ cluster: 1, from: 7 });
  });

  it.each([
    [['--from', '7', '-t', 'x'], '--from takes graphs'],
    [['-S', 'a:b:c'], "'a:b:c' is not a part of a graph"],
    [['-S', 'a/x'], "'a/x' is not a part of a graph"],
    [['--label', 'gold'], "'gold' is not a label"],
    [['--label', ':x'], "':x' is not a label"],
    [['--label', 'a:x', '--label', 'a:y'], 'the label a is repeated'],
    [['--dry-run', '--noop'], 'cannot be used with'],
  ])('%j is wrong use', async (flags, message) => {
    const { code, err, requests } = await execute(...flags);
    expect([code, requests.length]).toEqual([2, 0]);
    expect(err).toContain(message);
  });
});

describe('runs of graphs', () => {
  const status = {
    cluster: 1,
    transaction: 12,
    phase: 'default: running',
    paused: null,
    stopping: false,
    done: 3,
    total: 9,
    counts: { waiting: 4, running: 1, success: 2, failed: 1, blocked: 1 },
    failed: [{ task: 'a', node: '2', attempts: 3, reason: 'exit code 4' }],
    failing_nodes: 1,
    running: [{ task: 'b', node: '1' }],
    silent: ['3'],
    warnings: [],
    graphs: [
      {
        type: 'default',
        transaction: 13,
        state: 'running',
        done: 3,
        total: 9,
        counts: { waiting: 4 },
        nodes: 3,
        failing_nodes: 1,
        parts: 1,
        offline: ['3'],
      },
    ],
  };
  /** Tasks and nodes of the run. */
  const known: { tasks: object; nodes: Record<string, object>; names: object } = {
    tasks: { 'a@b': {}, a: {}, deploy: {}, 'deploy@2': {} },
    nodes: { '2': {}, 'c@d': {} },
    names: { '2': 'web@lab' },
  };
  const answer = ({ at }: StubRequest): StubAnswer => {
    if (at.startsWith('/transactions/13')) return [200, { id: 13, cluster: 1, parent_id: 12, run: null }];
    if (at.startsWith('/transactions/12')) return [200, { id: 12, cluster: 1, parent_id: null, run: 'run-12' }];
    if (at === '/runs/run-12') return [200, runRecord({ kind: 'execute_graph' })];
    if (at.startsWith('/runs?number=13')) return [200, { items: [], next: null }];
    if (at.startsWith('/runs?')) return [200, { items: [runRecord({ kind: 'execute_graph' })], next: null }];
    if (at.endsWith('/counts'))
      return [200, { graphs: [{ tasks: known.tasks, nodes: known.nodes }], node_names: known.names }];
    return [200, status];
  };

  it('have one number: the transaction of a graph leads to the run, and to the tasks of the graph', async () => {
    const { code, err, requests } = await against(answer, ['run', 'stop', '13']);
    expect([code, requests.map(({ at }) => at)]).toEqual([3, ['/runs?number=13&limit=1', '/transactions/13']]);
    expect(err).toMatch(/history show 13.*run show 12/);
  });

  it('are shown failing first', async () => {
    const { code, out } = await against(answer, ['run', 'status', '12']);
    expect(code).toBe(0);
    expect(out).toBe(
      [
        'cluster 1: default: running, 3 of 9 tasks',
        'tasks: 4 waiting, 1 running, 2 success, 1 failed, 1 blocked',
        'now: b@1',
        'no answer from the agents of 3',
        'failed a@web@lab after 3 attempts: exit code 4',
        'graph default: running, 3 of 9 tasks, offline: 3',
        '',
      ].join('\n'),
    );
  });

  it('are shown with the names of nodes, and to programs with their ids', async () => {
    const at = '2026-05-01T10:00:00.000Z';
    const ended = { ...status, phase: 'finished', outcome: 'failed' };
    const lost = { node: '2', failed_tasks: [], lost_tasks: 3, root_causes: [{ task: null, node: '2' }] };
    const graph = { ...status.graphs[0], offline: ['2'], failed_tasks: [], failed_nodes: [lost] };
    const report = { ...ended, mode: 'apply', workflow_id: 'w', started_at: at, graphs: [graph], operator: [] };
    const line = { place: '1.0', at, task: 'a', node: '2', attempt: 1, stream: 'stdout', text: 'hello' };
    const log = { items: [line], earlier: null, later: '1.1' };
    const all = (request: StubRequest): StubAnswer => {
      if (request.at.endsWith('/report')) return [200, report];
      if (request.at.includes('/logs')) return [200, log];
      if (request.at.endsWith('/status')) return [200, ended];
      if (/^\/runs\/[^/?]+$/.test(request.at)) return [200, runRecord({ kind: 'execute_graph', outcome: 'failed' })];
      return answer(request);
    };
    const out = async (...args: string[]) => {
      await api?.close();
      return (await against(all, args)).out;
    };
    const reported = await out('run', 'report', '12');
    expect(reported).toContain('offline: web@lab\n');
    expect(reported).toContain('node web@lab: 3 tasks did not run because of offline:web@lab\n');
    expect(await out('run', 'report', '12', '-f', 'json')).not.toContain('web@lab');
    expect(await out('run', 'watch', '12')).toContain('failed a@web@lab after 3 attempts');
    expect(await out('run', 'logs', '12')).toContain('a@web@lab  hello\n');
  });

  it.each([
    ['a@b@c@d', 'c%40d', 'a%40b'],
    ['a@2', '2', 'a'],
    ['a@b@2', '2', 'a%40b'],
    ['deploy@web@lab', 'web%40lab', 'deploy'],
    ['deploy@host@name', 'host%40name', 'deploy'],
  ])('read %s as the task and node that the run has', async (typed, node, task) => {
    const { code, out, requests } = await against(answer, ['run', 'skip-task', '12', typed]);
    expect([code, out]).toEqual([0, expect.stringContaining(`task ${typed} of run`)]);
    expect(requests.at(-1)!.at).toBe(`/runs/${runRecord().id}/nodes/${node}/tasks/${task}/skip`);
  });

  it.each([
    ['x@y@z', 3, 'has no task x@y@z'],
    ['deploy@2@web@lab', 2, "means 2 tasks of run 12: 'deploy' on '2@web@lab', 'deploy@2' on 'web@lab'"],
    ['deploy', 2, "'deploy' is not a task on a node"],
    ['@2', 2, "'@2' is not a task on a node"],
  ])('refuse %s', async (typed, exit, message) => {
    known.nodes = { ...known.nodes, '2@web@lab': {} };
    const { code, err, requests } = await against(answer, ['run', 'retry-task', '12', typed]);
    expect([code, err]).toEqual([exit, expect.stringContaining(message)]);
    expect(requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('retry tasks, or continue without them', async () => {
    const args = ['run', 'retry-task', 'execute_graph:1:12', 'a@2', '--reason', 'fixed'];
    const { code, out, requests } = await against(answer, args);
    expect([code, out]).toEqual([0, expect.stringContaining('task a@2 of run')]);
    expect(requests.at(-1)).toMatchObject({ method: 'POST', body: { reason: 'fixed' } });
    expect(requests.at(-1)!.at).toMatch(/\/nodes\/2\/tasks\/a\/retry$/);
  });
});

describe('yaql over a cluster', () => {
  it('finds the cluster by name; an unknown one is answered with the known ones', async () => {
    const clusters = [{ id: 3, name: 'east' }];
    const states = { now: { common: { a: 1 }, node: null }, before: null };
    const answer = ({ at }: StubRequest): StubAnswer => (at.endsWith('/clusters') ? [200, clusters] : [200, states]);
    const { requests } = await against(answer, ['yaql', 'eval', '$.a', '--cluster', 'east']);
    expect(requests.map(({ at }) => at)).toEqual(['/clusters', '/clusters/3/states']);
  });
});
