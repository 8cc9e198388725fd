// Configures and deploys machines by layouts of 17 changes, on the simulator behind a region that takes MAAS' measured time for each answer:
//   node bench/layout.ts [machines [seconds for a whole machine [machines at once [times faster]]]]
// Prints, for a machine, the medians of requests and of seconds until its deployment is requested, and the region's seconds; for all of them,
// the time beside the least that the client's own limit of requests at once allows. All seconds are MAAS': a region may answer so many
// times faster.
import './bounded.ts';
import { loadavg } from 'node:os';
import { deployMachine, openMachines, prepareMachine, resolveMachine } from '@sitewright/maas';
import type { MachineLayout } from '@sitewright/maas/machine-layout';
import { simulateMaas, simulatorKeys } from '@sitewright/maas-simulator';
import { slowRegion } from './slow-region.ts';

const machines = Number(process.argv[2] ?? 3);
/** A machine of 3 disks, 4 NICs and a bond took 1.1 to 2.9 s on a loaded MAAS. */
const wholeSeconds = Number(process.argv[3] ?? 1.4);
const atOnce = Number(process.argv[4] ?? 1);
const faster = Number(process.argv[5] ?? 1);

/** Of one answer. Measured at MAAS 3.8.0 beta 6 on a loaded machine. */
function latencyMs(kind: string): number {
  // A list takes as long as its machines, and the answer to a change of a machine is the whole machine.
  if (/^\w+ machines\/(ID\/)?($|\?)/.test(kind)) return wholeSeconds * 1000;
  if (!kind.startsWith('GET')) return 470;
  return /\/(interfaces|volume-groups)\//.test(kind) ? 140 : 230;
}

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');
const address = (net: number, index: number): string =>
  `10.${net}.${1 + Math.floor(index / 200)}.${30 + (index % 200)}`;

const layout = (index: number): MachineLayout => ({
  ports: [
    { name: 'pxe', devices: [{ name: 'eno1' }], networks: [{ network: 'pxe', cidr: '10.77.0.0/16', address: 'dhcp' }] },
    {
      name: 'bond0',
      devices: [{ name: 'eno2' }, { name: 'eno3' }],
      bond: { bond_mode: '802.3ad' },
      mtu: 9000,
      networks: [
        { network: 'oam', cidr: '10.21.0.0/16', vlan: 21, address: address(21, index), isPrimary: true },
        { network: 'storage', cidr: '10.22.0.0/16', vlan: 22, address: address(22, index) },
      ],
    },
  ],
  storage: {
    disks: [
      {
        device: { name: 'sda' },
        isBoot: true,
        partitions: [
          { name: 'root', size: '30g', bootable: true, filesystem: { fstype: 'ext4', mountPoint: '/' } },
          { name: 'log', size: '>10g', filesystem: { fstype: 'xfs', mountPoint: '/var/log' } },
        ],
      },
    ],
    groups: [],
  },
});

const simulator = await simulateMaas({
  port: 0,
  version: '3.8',
  auto: { commission_ms: 1, deploy_ms: 1, release_ms: 1 },
  seed: {
    networks: [
      { cidr: '10.77.0.0/16', gateway: '10.77.0.1', fabric: 10 },
      { cidr: '10.23.20.0/24', fabric: 11 },
      { cidr: '10.21.0.0/16', gateway: '10.21.0.1', vid: 21, fabric: 11, mtu: 9000 },
      { cidr: '10.22.0.0/16', vid: 22, fabric: 11, mtu: 9000 },
    ],
    machines: Array.from({ length: machines }, (_unused, index) => ({
      hostname: `n${index}`,
      power_type: 'ipmi',
      interfaces: ['eno1', 'eno2', 'eno3', 'eno4'].map((name, nic) => ({
        name,
        mac: `52:54:00:${hex(index >> 8)}:${hex(index & 255)}:0${nic}`,
        discovered: nic === 0 ? `${address(77, index)}/16` : null,
      })),
      disks: ['sda', 'sdb', 'sdc'].map((name) => ({ name, size: 100 * 2 ** 30 })),
    })),
  },
});
const region = await slowRegion(simulator.url, (kind) => latencyMs(kind) / faster, Number.POSITIVE_INFINITY);
/** Of the client: so many reads, and as many changes. */
const concurrency = 6;
const maas = openMachines({
  ...{ url: region.url, apiKey: simulatorKeys.admin, concurrency },
  ...{ pollMinSeconds: 0.5 / faster, pollMaxSeconds: 5 / faster },
});

/** One machine from its name to its deployment. */
async function deploy(index: number): Promise<void> {
  const found = await resolveMachine(maas, { hostname: `n${index}` });
  if (!found.ok) throw new Error(found.failure.message);
  const { systemId } = found.machine;
  const request = { systemId, site: 'bench', layout: layout(index) };
  const options = { isFirstTry: true };
  const prepared = await prepareMachine(maas, request, options);
  const deployed = await deployMachine(maas, { ...request, node: `n${index}`, run: 'r1' }, options);
  for (const { ok, ...outcome } of [prepared, deployed]) if (!ok) throw new Error(JSON.stringify(outcome));
}

/** What was asked of MAAS until the last deployment was requested. */
function seenUntilDeployed(began: number): object {
  const end = region.seen.findLastIndex(({ kind }) => kind === 'POST machines/ID/?op=deploy');
  const kinds = region.seen.slice(0, end).map(({ kind }) => kind);
  const matching = (...patterns: readonly RegExp[]) =>
    kinds.filter((kind) => patterns.every((pattern) => pattern.test(kind)));
  const each = (value: number): number => Math.round((value / machines) * 10) / 10;
  const secondsOf = (some: readonly string[]): number => some.reduce((all, kind) => all + latencyMs(kind), 0) / 1000;
  const [reads, changes] = [matching(/^GET/), matching(/^(?!GET)/)].map(secondsOf) as [number, number];
  const seconds = ((region.seen[end]!.at - began) / 1000) * faster;
  const bound = Math.max(reads, changes) / Math.min(concurrency, atOnce);
  return {
    ...{ machines, at_once: atOnce, times_faster: faster, load: Math.round(loadavg()[0]! * 10) / 10 },
    for_a_machine: {
      requests: each(kinds.length),
      whole_machines_read: each(matching(/^GET machines\//).length),
      parts_of_a_machine_read: each(matching(/^GET nodes\//).length),
      networks_read: each(matching(/^GET (subnets|fabrics|ipranges)\//).length),
      changes_of_the_layout: each(matching(/^(POST|PUT|DELETE) nodes\//).length),
      other_changes: each(matching(/^(POST|PUT|DELETE) (machines|tags)\//).length),
      region_seconds_of_reads: each(reads),
      region_seconds_of_changes: each(changes),
    },
    most_requests_at_once: region.maxAtOnce,
    seconds: Math.round(seconds),
    bound_seconds: Math.round(bound),
    beside_bound: Math.round((seconds / bound) * 100) / 100,
  };
}

try {
  const began = performance.now();
  const waiting = Array.from({ length: machines }, (_unused, index) => index);
  const lane = async (): Promise<void> => {
    for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) await deploy(index);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  console.log(JSON.stringify(seenUntilDeployed(began), null, 1));
} finally {
  await maas.close();
  await region.close();
  await simulator.close();
}
