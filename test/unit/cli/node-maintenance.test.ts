import { afterEach, expect, it } from 'vitest';
import { cli } from './recording-terminal.ts';
import { type StubAnswer, type StubApi, type StubRequest, stubApi } from './stub-api.ts';

let api: StubApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

const MAINTENANCE = {
  node: 'web3',
  site: 'dc1',
  id: 7,
  cluster: 1,
  reason: 'a broken disk',
  since: '2026-11-21T09:30:00.000Z',
  by: 'nina',
  locked: true,
};
const NODES = [
  { id: 7, name: 'web3', hostname: 'web3' },
  { id: 8, name: 'web4', hostname: 'web4' },
];

async function against(answer: unknown, ...args: readonly string[]) {
  const respond = ({ at }: StubRequest): StubAnswer => [200, at === '/nodes' ? NODES : answer];
  api = await stubApi(respond);
  const result = await cli(['node', 'maintenance', ...args], { env: { SITEWRIGHT_API: api.url, USER: 'nina' } });
  return { ...result, asked: api.requests.map(({ method, at, body }) => [method, at, body]) };
}

it('node maintenance on takes a name, and says which run under way keeps its plan', async () => {
  const answer = {
    maintenance: MAINTENANCE,
    runs: [{ id: 'x', number: 12, kind: 'deploy_site' }],
    notes: ['It is pending removal from its cluster: that waits for the end of the maintenance, too.'],
  };
  const { code, out, asked } = await against(answer, 'on', 'web3', '--reason', 'a broken disk', '--lock');
  expect([code, asked]).toEqual([
    0,
    [
      ['GET', '/nodes', undefined],
      ['PUT', '/nodes/7/maintenance', { reason: 'a broken disk', lock: true }],
    ],
  ]);
  expect(out).toBe(
    'web3 is in maintenance\nrun 12 (deploy_site) is under way and keeps its plan, which may have the node\nIt is pending removal from its cluster: that waits for the end of the maintenance, too.\n',
  );
});

it('node maintenance on suggests a name, needs a reason, and takes the names of documents with --site', async () => {
  const wrong = await against({}, 'on', 'web33', '--reason', 'x');
  expect([wrong.code === 0, wrong.err]).toEqual([false, expect.stringContaining("Did you mean 'web3'?")]);
  await api!.close();
  const empty = await against({}, 'on', 'web3', '--reason', ' ');
  expect([empty.code === 0, empty.err]).toEqual([false, expect.stringContaining('--reason is empty')]);
  await api!.close();
  const answer = { maintenance: MAINTENANCE, runs: [], notes: [] };
  const { asked } = await against(answer, 'on', 'web9', '--site', 'dc1', '--reason', 'x');
  expect(asked).toEqual([['PUT', '/sites/dc1/nodes/web9/maintenance', { reason: 'x' }]]);
});

it('node maintenance on takes several nodes, and changes none if one of them is unknown', async () => {
  const answer = { maintenance: MAINTENANCE, runs: [], notes: [] };
  const both = await against(answer, 'on', 'web3', '8', '--reason', 'no power', '-f', 'json');
  const put = (id: number) => ['PUT', `/nodes/${id}/maintenance`, { reason: 'no power' }];
  expect(both.asked).toEqual([['GET', '/nodes', undefined], put(7), put(8)]);
  expect(JSON.parse(both.out)).toEqual({ items: [answer, answer] });
  await api!.close();
  const wrong = await against(answer, 'on', 'web3', 'web99', '--reason', 'no power');
  expect([wrong.code === 0, wrong.asked]).toEqual([false, [['GET', '/nodes', undefined]]]);
});

it('node maintenance off shows what the node missed, with the commands that do it', async () => {
  const missed = {
    machine: { does: 'leave', why: 'its machine is Deployed', fields: ['labels'] },
    graphs: [
      { type: 'deletion', tasks: [], problem: 'it stays in the cluster' },
      { type: 'default', tasks: [{ task: 'install', first_time: false, changed: ['$.port: 80 -> 81'] }] },
    ],
  };
  const { out, asked } = await against({ maintenance: MAINTENANCE, unlocked: true, missed }, 'off', '7');
  expect(asked).toEqual([['DELETE', '/nodes/7/maintenance', undefined]]);
  expect(out).toBe(`web3 is back after maintenance since 2026-11-21T09:30:00.000Z (nina: a broken disk)
its machine is unlocked in MAAS
a deployment would now do this for it:
  its machine: a run of its site would leave it as it is (its machine is Deployed); its documents changed: labels
  graph deletion: it stays in the cluster
  graph default: 1 to run
    install  $.port: 80 -> 81
its machine: sitewright site update dc1
its tasks: sitewright cluster deploy 1
`);
});

it('node maintenance list shows since when, by whom and why', async () => {
  const { out } = await against({ items: [MAINTENANCE] }, 'list', '-f', 'csv');
  expect(out).toBe(
    'node,id,site,cluster,since,by,reason,locked\r\nweb3,7,dc1,1,2026-11-21T09:30:00.000Z,nina,a broken disk,true\r\n',
  );
});
