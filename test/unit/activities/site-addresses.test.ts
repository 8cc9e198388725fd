import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MaasClient } from '@sitewright/maas';
import { type Simulator, simulateMaas, simulatorKeys } from '@sitewright/maas-simulator';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { reserveAddresses } from '../../../activities/site/addresses.ts';
import { ClusterOperations } from '../../../src/ops/inventory/clusters.ts';
import { openStore, type Store } from '../../../src/store/index.ts';

let folder: string;
let store: Store;
let simulator: Simulator;
let client: MaasClient;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sitewright-site-addresses-'));
  store = await openStore(join(folder, 'store.db'));
  await store.migrate();
  await store.sites.create({ name: 'dc1' });
  simulator = await simulateMaas({ port: 0 });
  client = new MaasClient({ url: simulator.url, apiKey: simulatorKeys.admin });
});
afterEach(async () => {
  await client.close();
  await simulator.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

const ROLE = {
  id: 'web',
  default_mapping: 'public',
  properties: { subnet: true, gateway: false, vip: [{ name: 'web' }] },
};

/** A cluster of site dc1 whose release declares the virtual address `web` in the network `public`. */
async function cluster(networkConfig: Readonly<Record<string, unknown>>, roles: readonly object[] = [ROLE]) {
  const release = await store.releases.create({
    ...{ name: 'r', version: '1', operatingSystem: 'x' },
    metadata: { network_roles_metadata: roles },
  });
  return (await store.clusters.create({ name: 'c', releaseId: release.id, site: 'dc1', networkConfig })).id;
}

const reserve = (acting = async (): Promise<void> => undefined) =>
  reserveAddresses(store, { client }, 'dc1', acting, undefined);
const vips = async (id: number) => (await store.clusters.get(id)).networkConfig.vips;

it('a virtual address is chosen in its configured network, stored and reserved once', async () => {
  const id = await cluster({ networks: [{ name: 'public', cidr: '10.76.0.0/24' }] });
  expect(await reserve()).toEqual({
    warnings: [],
    changes: ['10.76.0.254 was reserved in MAAS as virtual address web'],
  });
  expect(await vips(id)).toEqual({ web: { ipaddr: '10.76.0.254' } });
  expect(await reserve()).toEqual({ warnings: [], changes: [] });
  expect(await client.addresses.reserved()).toEqual(['10.76.0.254']);
});

it.each(['10.76.0.0/24', 'prov', 'provisioning'])(
  'a virtual address is chosen in the place given at the creation of the cluster: %s',
  async (place) => {
    const { id } = await store.releases.create({
      ...{ name: 'r', version: '1', operatingSystem: 'x' },
      metadata: { network_roles_metadata: [ROLE], networks_metadata: { neutron: { networks: [{ name: 'public' }] } } },
    });
    const { cluster: made } = await new ClusterOperations({ store } as never).create(
      { name: 'c', release_id: id, site: 'dc1', networks: { public: place } },
      'nina',
    );
    await reserve();
    expect(await vips(made.id)).toEqual({ web: { ipaddr: '10.76.0.254' } });
  },
);

it('a retry reserves the address chosen before, and no second one', async () => {
  const id = await cluster({
    networks: [{ name: 'public', cidr: '10.76.0.0/24' }],
    vips: { web: { ipaddr: '10.76.0.9' } },
  });
  expect(await reserve()).toEqual({ warnings: [], changes: ['10.76.0.9 was reserved in MAAS as virtual address web'] });
  expect(await client.addresses.reserved()).toEqual(['10.76.0.9']);
  expect(await vips(id)).toEqual({ web: { ipaddr: '10.76.0.9' } });
});

it('an address in use, and a network unknown to MAAS, are reported', async () => {
  await client.addresses.reserve('10.76.0.9');
  const operator = new MaasClient({ url: simulator.url, apiKey: simulatorKeys.operator });
  await operator.addresses.reserve('10.76.0.8');
  await operator.close();
  await cluster({ vips: { database: { ipaddr: '10.76.0.8' } } });
  const { warnings, changes } = await reserve();
  expect(changes).toEqual([]);
  expect(warnings).toEqual([
    'virtual address web is not reserved in MAAS: MAAS has no subnet of its network: set it in the network configuration',
    expect.stringContaining('virtual address database is not reserved in MAAS: '),
  ]);
  expect(warnings[1]).toContain('10.76.0.8 is already in use');
});

it('a run that has lost the site reserves no address', async () => {
  const id = await cluster({ networks: [{ name: 'public', cidr: '10.76.0.0/24' }] });
  await expect(reserve(() => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
  expect([await vips(id), await client.addresses.reserved()]).toEqual([undefined, []]);
});

it('a cluster without virtual addresses needs no request to MAAS', async () => {
  await cluster({}, []);
  await client.close();
  expect(await reserve()).toEqual({ warnings: [], changes: [] });
});

it('no machine gets a reserved address', async () => {
  await client.addresses.reserve('10.76.0.2');
  expect(await client.addresses.free(1)).toEqual([{ start: '10.76.0.3', end: '10.76.0.254' }]);
});
