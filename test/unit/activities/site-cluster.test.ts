import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { machineFacts, parseHardware } from '@sitewright/maas';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { markProvisioned, noteFailed } from '../../../activities/site/cluster.ts';
import { readLayoutScenario } from '../../../packages/maas-simulator/test/layout-recording.ts';
import { commitRevision, enterMachines } from '../../../src/clusters/site-machines.ts';
import type { ResolvedSite } from '../../../src/documents/index.ts';
import { type JsonFields, openStore, type Store } from '../../../src/store/index.ts';

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sitewright-site-cluster-'));
  store = await openStore(join(folder, 'store.db'));
  await store.migrate();
  await store.sites.create({ name: 'dc1' });
  await store.sites.create({ name: 'dc2' });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const shown = async (site = 'dc1') =>
  (await store.nodes.list({ site })).map(({ name, status, online }) => ({ name, status, online }));
const deployed = (name: string) => ({ name, status: 'provisioned', online: true });

it('machines unknown to the inventory are added once, under the names of the documents', async () => {
  await markProvisioned(store, 'dc1', ['a', 'b'], true);
  await markProvisioned(store, 'dc1', ['b', 'a'], true);
  await markProvisioned(store, 'dc2', ['a'], false);
  expect(await shown()).toEqual([deployed('a'), deployed('b')]);
  expect(await shown('dc2')).toEqual([deployed('a')]);
  const release = await store.releases.create({ name: 'r', version: '1', operatingSystem: 'x' });
  const cluster = await store.clusters.create({ name: 'c', releaseId: release.id, site: 'dc1' });
  const [a] = await store.nodes.list({ site: 'dc1' });
  await store.nodes.assign(cluster.id, [{ id: a!.id, roles: ['web'] }]);
  expect(await store.nodes.get(a!.id)).toMatchObject({ pendingRoles: ['web'], pendingAddition: false });
});

it('machines of documents are entered once; one that nothing was done with leaves with its name', async () => {
  await store.nodes.create({ name: 'Rack 1', hostname: 'b', site: 'dc1' });
  const commit = (...names: string[]) => {
    const resolved = { nodes: names.map((name) => ({ name })) } as unknown as ResolvedSite;
    return commitRevision(store, 'dc1', { files: [{ name: 'a.yaml', text: names.join() }], resolved });
  };
  await commit('a', 'b', 'c', 'd');
  await commit('a', 'b', 'c', 'd');
  await enterMachines(store, 'dc1', ['a', 'b', 'c', 'd']);
  expect((await shown()).map(({ name, status }) => [name, status])).toEqual(
    ['Rack 1', 'a', 'c', 'd'].map((name) => [name, 'discover']),
  );
  await markProvisioned(store, 'dc1', ['a'], true);
  await noteFailed(store, 'dc1', new Map([['d', 'no power']]));
  await commit('b', 'e');
  expect((await shown()).map(({ name }) => name)).toEqual(['Rack 1', 'a', 'd', 'e']);
});

it('a machine whose deployment failed has the reason until it is deployed; one with a system keeps its status', async () => {
  await enterMachines(store, 'dc1', ['a', 'b']);
  await store.nodes.create({ name: 'c', hostname: 'c', site: 'dc1', status: 'ready' });
  await noteFailed(store, 'dc1', new Map(['a', 'b', 'c'].map((name) => [name, 'no power'])));
  const states = async () =>
    (await store.nodes.list({ site: 'dc1' })).map(({ status, errorType, errorMsg }) => [status, errorType, errorMsg]);
  const failed = ['error', 'provision', 'no power'];
  expect(await states()).toEqual([failed, failed, ['ready', null, null]]);
  await markProvisioned(store, 'dc1', ['a'], false);
  expect(await states()).toEqual([['provisioned', null, null], failed, ['ready', null, null]]);
});

it('a registered machine is recorded as provisioned, by name or host name, even without a cluster', async () => {
  await store.nodes.create({ name: 'a', site: 'dc1', online: false });
  await store.nodes.create({ name: 'Rack 1', hostname: 'b', site: 'dc1' });
  await store.nodes.create({ name: 'c', site: 'dc1' });
  await markProvisioned(store, 'dc1', ['a', 'b'], false);
  expect(await shown()).toEqual([deployed('a'), deployed('Rack 1'), { name: 'c', status: 'discover', online: true }]);
});

it('a ready node stays ready unless its machine was deployed again; other clusters keep their nodes', async () => {
  const release = await store.releases.create({ name: 'r', version: '1', operatingSystem: 'x' });
  const own = await store.clusters.create({ name: 'own', releaseId: release.id, site: 'dc1' });
  const other = await store.clusters.create({ name: 'other', releaseId: release.id });
  const [a, b] = [
    await store.nodes.create({ name: 'a', site: 'dc1', status: 'ready' }),
    await store.nodes.create({ name: 'b', site: 'dc1', status: 'ready' }),
  ];
  await store.nodes.assign(own.id, [{ id: a.id, roles: ['web'] }]);
  await store.nodes.assign(other.id, [{ id: b.id, roles: ['web'] }]);
  await markProvisioned(store, 'dc1', ['a', 'b'], false);
  expect((await shown()).map(({ status }) => status)).toEqual(['ready', 'ready']);
  await markProvisioned(store, 'dc1', ['a', 'b'], true);
  expect((await shown()).map(({ status }) => status)).toEqual(['provisioned', 'ready']);
});

it('a machine of a site shows what MAAS reports: MAC, manufacturer, platform and system, as recorded', async () => {
  const recorded = readLayoutScenario('n1-commissioned').steps[0]!.response!.json as unknown as JsonFields;
  const machine: JsonFields = { ...recorded, osystem: 'ubuntu' };
  const facts = (hardware_info: object) =>
    new Map([['a', machineFacts(parseHardware({ ...machine, hardware_info }, []))]]);
  const dell = { system_vendor: 'Dell Inc.', system_product: 'PowerEdge R640' };
  await markProvisioned(store, 'dc1', ['a'], false, facts(machine.hardware_info as object));
  const mac = String((machine.boot_interface as JsonFields).mac_address);
  const found = async () => (await store.nodes.list({ site: 'dc1' }))[0]!;
  expect(await found()).toMatchObject({ mac, manufacturer: 'Unknown', platformName: 'Unknown', osPlatform: 'ubuntu' });
  await markProvisioned(store, 'dc1', ['a'], false, facts(dell));
  expect(await found()).toMatchObject({ manufacturer: 'Dell Inc.', platformName: 'PowerEdge R640' });
  await markProvisioned(store, 'dc1', ['a'], false, facts(machine.hardware_info as object));
  expect(await found()).toMatchObject({ manufacturer: 'Dell Inc.', platformName: 'PowerEdge R640' });
  // Registered under this MAC before, as another node.
  await store.nodes.update((await found()).id, { mac: null });
  await store.nodes.create({ name: 'b', mac });
  await markProvisioned(store, 'dc1', ['a'], false, facts(dell));
  await markProvisioned(store, 'dc2', ['a'], false, facts(dell));
  expect((await store.nodes.list({})).map((node) => [node.site, node.mac])).toEqual([
    ['dc1', null],
    [null, mac],
    ['dc2', null],
  ]);
});
