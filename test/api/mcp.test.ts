import { type ChildProcess, spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { builtProgram } from '../rig/program.ts';
import { pythonPackage } from '../rig/published-tools.ts';
import { type ApiRig, apiAlone } from './api-rig.ts';
import { newton } from './fuel-inventory-rig.ts';

/** The client as people have it: from the Python package index. */
const VERSION = '2.3.0';
const found = await pythonPackage('mcp', VERSION);
const withClient = found.ok ? it : it.skip;
if (!found.ok) console.warn(`The MCP server is not tested with the published client: ${found.reason}`);

let rig: ApiRig;
let cluster: number;
const children: ChildProcess[] = [];

beforeAll(async () => {
  rig = await apiAlone();
  await rig.api.listen({ port: 0, host: '127.0.0.1' });
  const release_id = (await rig.ask('POST', '/api/v1/releases/', newton)).body.id;
  cluster = (await rig.ask('POST', '/api/v1/clusters/', { name: 'lab', release_id })).body.id;
});
afterEach(() => {
  for (const child of children.splice(0)) child.stdin?.end();
});
afterAll(() => rig.close());

/** A session of the published client with `sitewright mcp`. */
async function client(...flags: string[]) {
  if (!found.ok) throw new Error(found.reason);
  const script = fileURLToPath(new URL('../rig/mcp-client.py', import.meta.url));
  const { port } = rig.api.server.address() as AddressInfo;
  const program = [...builtProgram('src/cli/main.ts'), '--api', `http://127.0.0.1:${port}`, 'mcp', ...flags];
  const child = spawn(found.python, [script, ...program], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, HOME: '/nonexistent', USER: 'nina' },
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the client ended');
    return JSON.parse(value);
  };
  const hello = await next();
  const ask = (...request: unknown[]) => {
    child.stdin!.write(`${JSON.stringify(request)}\n`);
    return next();
  };
  return {
    hello,
    tools: async (): Promise<readonly { name: string; annotations: object }[]> => (await ask('list')).tools,
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
    async call(name: string, given: object): Promise<{ isError: boolean; answer: any }> {
      const { content, isError } = await ask('call', name, given);
      return { isError, answer: JSON.parse(content[0].text) };
    },
  };
}

const debug = async () =>
  (await rig.ask('GET', `/api/v1/clusters/${cluster}/attributes`)).body.editable.common.debug.value;
const change = { operation: 'changeClusterSettings', params: { id: 'lab' } };
const settings = (value: boolean) => ({ ...change, body: { editable: { common: { debug: { value } } } } });

withClient('reads by default, by the operations of the API, and offers no change', async () => {
  const { hello, tools, call } = await client();
  expect(hello).toMatchObject({
    serverInfo: { name: 'sitewright' },
    instructions: expect.stringContaining('changes nothing'),
  });
  expect((await tools()).map(({ name }) => name)).toEqual(['find_operations', 'describe_operation', 'read']);
  const { operations } = (await call('find_operations', { words: 'cluster versions' })).answer;
  expect(operations).toMatchObject([{ operation: 'getClusterVersions', changes: false, needs: 'viewer' }]);
  const described = (await call('describe_operation', { operation: 'getClusterVersions' })).answer;
  expect(described.params.properties.id.description).toContain('or its name');
  // By name, as everywhere.
  const { answer } = await call('read', { operation: 'getClusterVersions', params: { id: 'lab' } });
  expect(answer).toMatchObject({ cluster, release: { name: newton.name } });
  expect(await call('read', settings(true))).toMatchObject({
    isError: true,
    answer: { message: 'changeClusterSettings changes something', hint: expect.stringContaining('--allow-changes') },
  });
  expect(await call('read', { operation: 'getClusterVersion', params: { id: 'lab' } })).toMatchObject({
    isError: true,
    answer: { hint: expect.stringContaining('getClusterVersions') },
  });
  expect(await call('read', { operation: 'getCluster', params: { id: 'lob' } })).toMatchObject({
    isError: true,
    answer: { code: 'not-found' },
  });
  expect(await debug()).toBe(false);
});

withClient(
  'changes something only by the digest of a plan that was just shown, once, and as it was shown',
  async () => {
    const { tools, call } = await client('--allow-changes');
    expect((await tools()).find(({ name }) => name === 'make_change')).toMatchObject({
      annotations: { readOnlyHint: false, destructiveHint: true },
    });
    const invented = { digest: '0123456789abcdef0123456789abcdef' };
    expect(await call('make_change', invented)).toMatchObject({ isError: true, answer: { code: 'no-such-plan' } });

    const planned = (await call('plan_change', settings(true))).answer;
    expect(planned.before[0]['POST /clusters/:id/attributes/plan'].changes).toEqual([
      { setting: 'common.debug', before: false, after: true },
    ]);
    expect(await debug()).toBe(false);
    // Somebody else was faster.
    await rig.ask('PATCH', `/api/v1/clusters/${cluster}/attributes`, {
      editable: { common: { libvirt_type: { value: 'kvm' } } },
    });
    expect(await call('make_change', { digest: planned.digest })).toMatchObject({
      isError: true,
      answer: { hint: expect.stringContaining('plan_change') },
    });
    expect(await debug()).toBe(false);

    const again = (await call('plan_change', settings(true))).answer;
    expect(again.digest).not.toBe(planned.digest);
    expect(await call('make_change', { digest: again.digest })).toMatchObject({ isError: false });
    expect(await debug()).toBe(true);
    expect(await call('make_change', { digest: again.digest })).toMatchObject({ isError: true });
    const { items } = (await rig.ask('GET', `/api/v1/audit?target=cluster/${cluster}&limit=1`)).body;
    expect(items).toMatchObject([{ actor: 'nina', action: 'cluster.settings' }]);
  },
);

withClient(
  'shows the thing as it is where a change has no plan of its own, and says what the API refuses',
  async () => {
    const { call } = await client('--allow-changes');
    const removal = (await call('plan_change', { operation: 'deleteCluster', params: { id: 'lab' } })).answer;
    expect(removal).toMatchObject({
      does: expect.stringContaining('Delete a cluster'),
      before: [{ 'GET /clusters/:id': { name: 'lab' } }],
    });
    const wrong = { operation: 'moveCluster', params: { id: 'lab' }, body: { back: true } };
    const move = (await call('plan_change', wrong)).answer;
    expect(move.before[0]['GET /clusters/:id/move']).toMatchObject({ problem: { code: 'invalid' } });
    expect(await call('make_change', { digest: move.digest })).toMatchObject({
      isError: true,
      answer: { message: expect.stringContaining('has not moved yet') },
    });
    expect(await call('plan_change', { operation: 'deleteCluster' })).toMatchObject({
      isError: true,
      answer: { message: 'params lacks id' },
    });
  },
);
