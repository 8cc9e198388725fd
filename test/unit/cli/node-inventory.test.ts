import { afterEach, describe, expect, it } from 'vitest';
import { cli } from './recording-terminal.ts';
import { type StubAnswer, type StubApi, type StubRequest, stubApi } from './stub-api.ts';

let api: StubApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

async function against(answer: (request: StubRequest) => StubAnswer, ...args: readonly string[]) {
  api = await stubApi(answer);
  const result = await cli(['node', ...args], { env: { SITEWRIGHT_API: api.url } });
  return { ...result, requests: api.requests };
}

const node = (id: number, name: string, more: object = {}) => ({
  id,
  name,
  status: 'discover',
  online: true,
  cluster: null,
  site: null,
  roles: [],
  pending_roles: [],
  ip: null,
  ...more,
});

describe('node list', () => {
  it('shows the inventory, or the nodes of one cluster and site', async () => {
    const nodes = [node(1, 'a', { site: 'dc1' }), node(2, 'b')];
    const all = await against(() => [200, nodes], 'list', '-f', 'csv', '-c', 'id', '-c', 'name');
    expect([all.code, all.out, all.requests[0]!.at]).toEqual([0, 'id,name\r\n1,a\r\n2,b\r\n', '/nodes']);
    await api!.close();
    const some = await against(() => [200, nodes], 'list', '-e', '3', '--site', 'dc1', '-f', 'csv', '-c', 'id');
    expect([some.out, some.requests[0]!.at]).toEqual(['id\r\n1\r\n', '/nodes?cluster_id=3']);
    await api!.close();
    const unknown = ({ at }: StubRequest): StubAnswer =>
      at.startsWith('/nodes')
        ? [200, []]
        : [404, { code: 'not-found', detail: 'Cluster not found', hint: 'List them.' }];
    expect(await against(unknown, 'list', '-e', '99')).toMatchObject({ code: 3, out: '' });
  });
});

it('a node that a run left bare is shown as bare, with its next step; programs get its status', async () => {
  const error_msg =
    'Run 12 released its machine and was cancelled by alice, before it was deployed again. Deploy it: X';
  const nodes = [
    node(1, 'a', { error_msg }),
    node(2, 'b', { error_msg: null }),
    node(3, 'c', { error_msg: 'no power', status: 'error' }),
    node(4, 'd', { error_msg: null, site: 'dc1' }),
  ];
  const shown = await against(() => [200, nodes], 'list', '-c', 'id', '-c', 'status');
  expect(shown.out).toBe('ID  STATUS\n 1  bare\n 2  discover\n 3  error\n 4  never deployed\n');
  expect(shown.err).toBe(`a is bare. ${error_msg}\nc has failed. no power\n`);
  await api!.close();
  const { out } = await against(() => [200, nodes], 'list', '-f', 'json');
  expect(JSON.parse(out)[0]).toMatchObject({ status: 'discover', error_msg });
});

it('what is pending for a node is shown with its status', async () => {
  const nodes = [node(1, 'a', { status: 'ready', pending_deletion: true }), node(2, 'b', { pending_addition: true })];
  const { out } = await against(() => [200, nodes], 'list', '-f', 'csv', '-c', 'status');
  expect(out).toBe('status\r\n"ready, removal pending"\r\n"discover, addition pending"\r\n');
});

it('node status says of each machine whether it serves, and why not, beside its state in MAAS', async () => {
  const nodes = [
    { node: 'n1', status: 'ready', health: 'bare', reason: 'Deploy it: X', tags: [] },
    { node: 'n2', status: 'deployed', tags: [] },
    { node: 'n3', status: 'failed deployment', health: 'failed', reason: 'no power', tags: [] },
    { node: 'n4', status: null, health: 'never_deployed', tags: [] },
  ];
  const answer = { site: 'dc1', revision: 1, stale: false, nodes };
  const { out, err } = await against(() => [200, answer], 'status', 'dc1', '-c', 'node', '-c', 'status');
  expect(out).toBe(
    'NODE  STATUS\nn1    bare (ready in MAAS)\nn2    deployed\nn3    failed (failed deployment in MAAS)\nn4    never deployed\n',
  );
  expect(err).toBe('n1 is bare. Deploy it: X\nn3 has failed. no power\n');
});

describe('agents', () => {
  const agent = (id: number, online: boolean) => ({
    id,
    name: `n${id}`,
    cluster: 3,
    site: 'cluster-3',
    node: String(id),
    online,
  });
  const nodes = [node(1, 'a', { cluster: 3 }), node(2, 'b', { cluster: 3 }), node(4, 'c')];

  it('are listed with their nodes, and the command that starts missing ones', async () => {
    const { out, err } = await against(
      ({ at }) => [200, at.startsWith('/agents') ? [agent(1, true), agent(2, false)] : nodes],
      ...['list', '-c', 'id', '-c', 'agent'],
    );
    expect(out).toBe('ID  AGENT\n 1  true\n 2  false\n 4  -\n');
    expect(err).toContain('\n  sitewright agent run --cluster 3\n');
  });

  it('are unknown while Temporal is unreachable, and nodes are listed anyway', async () => {
    const { code, out, err } = await against(
      ({ at }) => (at.startsWith('/agents') ? [503, { code: 'temporal-unreachable', message: 'away' }] : [200, nodes]),
      ...['list', '-c', 'agent'],
    );
    expect({ code, out, err }).toEqual({ code: 0, out: 'AGENT\n-\n-\n-\n', err: '' });
  });
});

describe('node register', () => {
  let last = 0;
  const made = ({ body }: StubRequest): StubAnswer => [201, node(++last, (body as { name: string }).name)];

  it('registers several machines, one request each', async () => {
    last = 0;
    const { code, out, requests } = await against(made, 'register', '--name', 'a', 'b', '--provisioned');
    expect([code, out]).toEqual([0, 'registered node 1 a\nregistered node 2 b\n']);
    expect(requests.map(({ method, at, body }) => [method, at, body])).toEqual([
      ['POST', '/nodes', { name: 'a', status: 'provisioned', online: true }],
      ['POST', '/nodes', { name: 'b', status: 'provisioned', online: true }],
    ]);
  });

  it('registers the unknown machines of a whole site', async () => {
    last = 7;
    const answer = (request: StubRequest): StubAnswer => {
      if (request.at.startsWith('/sites/')) return [200, { revision: 1, nodes: ['a', 'b'] }];
      return request.method === 'GET' ? [200, [node(7, 'a', { site: 'dc1' }), node(6, 'b')]] : made(request);
    };
    const { code, out, requests } = await against(answer, 'register', '--site', 'dc1');
    expect([code, out]).toEqual([0, 'registered node 8 b\n']);
    expect(requests.at(-1)).toMatchObject({ method: 'POST', body: { name: 'b', site: 'dc1' } });
  });

  it.each([
    [['register'], 'nothing to register'],
    [['register', '--name', 'a', 'b', '--mac', '52:54:00:00:00:01'], 'for one machine'],
    [['register', '--site', 'dc1', '--ip', '10.0.0.1'], 'for one machine'],
  ])('%j is wrong use', async (args, said) => {
    const { code, err, requests } = await against(made, ...args);
    expect([code, requests.length]).toEqual([2, 0]);
    expect(err).toContain(said);
  });
});

describe('node delete', () => {
  it('deletes all or none, after confirmation', async () => {
    const refused = await against(() => [204, undefined], 'delete', '1,2', '3');
    expect([refused.code, refused.requests.length]).toEqual([2, 0]);
    await api!.close();
    const { code, out, requests } = await against(() => [204, undefined], 'delete', '1,2', '3', '--force', '--yes');
    expect([code, out]).toEqual([0, 'deleted node 1, node 2, node 3\n']);
    expect(requests).toMatchObject([{ method: 'DELETE', at: '/nodes?ids=1%2C2%2C3&force=1' }]);
  });
});
