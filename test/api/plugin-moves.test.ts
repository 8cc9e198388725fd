import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { runCli } from '../../src/cli/shell/run-cli.ts';
import { normaliseTask } from '../../src/graph/index.ts';
import { recordingTerminal } from '../unit/cli/recording-terminal.ts';
import { type FuelRig, fuelRig, newton } from './fuel-inventory-rig.ts';

/* A cluster whose plugin has another version beside: the move is of the plugin alone. */
let rig: FuelRig;
let url: string;
let release_id: number;
let made = 0;
let cluster: number;
let old: number;
let now: number;

beforeAll(async () => {
  rig = await fuelRig();
  release_id = await rig.made('/releases/', newton);
  const versions = [];
  for (const [version, port, tasks] of [
    ['1.0.0', '80', ['collect', 'check']],
    ['1.1.0', '8080', ['collect', 'rotate']],
  ] as const) {
    const { id } = await rig.store.plugins.create({
      ...{ name: 'monitoring', version, packageVersion: '5.0.0', title: 'Monitoring' },
      metadata: {
        releases: [{ os: 'ubuntu', version: 'newton-10.0', mode: ['ha'] }],
        attributes_metadata: {
          attributes: {
            port: { type: 'text', label: 'Port', value: port },
            mode: { type: 'text', label: 'Mode', value: 'plain' },
          },
        },
      },
    });
    const task = (name: string) =>
      normaliseTask({
        ...{ id: name, type: 'shell', version: '2.1.0', roles: ['compute'] },
        parameters: { cmd: `${name} ${version}` },
      });
    await rig.store.graphs.put({ kind: 'plugin', id }, 'default', { tasks: tasks.map(task) });
    versions.push(id);
  }
  [old, now] = versions as [number, number];
  await rig.api.listen({ port: 0, host: '127.0.0.1' });
  url = `http://127.0.0.1:${(rig.api.server.address() as AddressInfo).port}`;
});
afterAll(() => rig.close());

// One for each try: a test moves it.
beforeEach(async () => {
  cluster = await rig.made('/clusters/', { name: `lab${++made}`, release_id });
  await rig.store.plugins.link(cluster, old, { enabled: true });
  const editable = { monitoring: { metadata: { enabled: true }, mode: { value: 'special' } } };
  expect((await rig.fuel('PATCH', `/clusters/${cluster}/attributes`, { editable })).status).toBe(200);
});

const enabled = async () =>
  (await rig.store.plugins.ofCluster(cluster, { enabled: true })).map(({ plugin }) => plugin.id);
const settings = async () => (await rig.fuel('GET', `/clusters/${cluster}/attributes`)).body.editable.monitoring;

it('moves a cluster to another version of a plugin by the plan that was shown, and back', async () => {
  const plan = (await rig.fuel('GET', `/clusters/${cluster}/move?plugins=${now}`)).body;
  expect(plan).toMatchObject({
    parts: [{ kind: 'plugin', from: { version: '1.0.0' }, to: { version: '1.1.0' } }],
    settings: [{ setting: 'monitoring.port', before: '80', after: '8080' }],
    graphs: [{ type: 'default', added: ['rotate'], removed: ['check'], changed: ['collect'] }],
    findings: [],
  });
  expect(await enabled()).toEqual([old]);
  const wrong = await rig.refused('POST', `/clusters/${cluster}/move`, { plugins: [now], digest: '0'.repeat(64) });
  expect(wrong).toMatchObject({ status: 409, message: 'the plan has changed since it was shown' });
  expect(await enabled()).toEqual([old]);

  const moved = await rig.fuel('POST', `/clusters/${cluster}/move`, { plugins: [now], digest: plan.digest });
  expect(moved).toMatchObject({ status: 200, body: { parts: plan.parts } });
  expect(await enabled()).toEqual([now]);
  // A default that nobody chose follows the version; a chosen value stays.
  expect(await settings()).toMatchObject({ port: { value: '8080' }, mode: { value: 'special' } });
  expect((await rig.fuel('GET', `/clusters/${cluster}`)).body).toMatchObject({ release_id });
  const { items } = (await rig.fuel('GET', `/audit?target=cluster/${cluster}&action=cluster.move`)).body;
  expect(items).toMatchObject([{ details: { plugins: [old], parts: [{ kind: 'plugin' }] } }]);

  expect((await rig.fuel('POST', `/clusters/${cluster}/move`, { back: true })).status).toBe(200);
  expect(await enabled()).toEqual([old]);
  expect(await settings()).toMatchObject({ port: { value: '80' }, mode: { value: 'special' } });
});

it('refuses a version that is there already, and a plugin that the cluster has not enabled, with the next step', async () => {
  const move = (plugins: readonly number[]) => rig.refused('POST', `/clusters/${cluster}/move`, { plugins });
  expect(await move([old])).toMatchObject({
    status: 400,
    message: `cluster lab${made} has these versions already`,
    hint: expect.stringContaining(`sitewright cluster versions ${cluster}`),
  });
  const { id } = await rig.store.plugins.create({ name: `other${made}`, version: '1.0.0', packageVersion: '5.0.0' });
  expect(await move([id])).toMatchObject({
    status: 400,
    message: `the plugin other${made} is not enabled in cluster lab${made}`,
    hint: `Enable it: sitewright plugin enable other${made}==1.0.0 --cluster ${cluster}`,
  });
  expect(await move([999_999])).toMatchObject({ status: 404 });
  expect(await enabled()).toEqual([old]);
});

it('is a command, by name and version, with the plan before', async () => {
  const sitewright = async (...words: string[]) => {
    const terminal = recordingTerminal();
    const code = await runCli(['--api', url, 'cluster', 'move', `lab${made}`, ...words], terminal);
    return { code, ...terminal.said };
  };
  const planned = await sitewright('--plugin', 'monitoring==1.1.0', '--dry-run');
  for (const line of [
    'plugin monitoring 1.0.0 -> monitoring 1.1.0',
    'monitoring.port: "80" -> "8080"',
    '+ rotate',
    '- check',
    '~ collect',
  ])
    expect(`${planned.out}${planned.err}`).toContain(line);
  expect(await enabled()).toEqual([old]);
  expect(await sitewright('--plugin', 'monitoring==1.1.0', '--yes')).toMatchObject({
    code: 0,
    out: expect.stringContaining(`take it back:           sitewright --api ${url} cluster move ${cluster} --back`),
  });
  expect(await enabled()).toEqual([now]);
  const unknown = await sitewright('--plugin', 'monitoring==9', '--yes');
  expect(unknown.code).not.toBe(0);
  expect(unknown.err).toContain('monitoring==9');
  expect(await sitewright('--back', '--yes')).toMatchObject({ code: 0 });
  expect(await enabled()).toEqual([old]);
});
