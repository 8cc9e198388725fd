// Configures and deploys one machine after another by layouts of 17 changes, on the simulator behind a region that takes MAAS' measured
// time for each answer:
//   node bench/layout.ts [machines [seconds for a whole machine]]
// Prints the medians of requests and seconds until the deployment is requested: whole machines read, smaller readings, changes.
import './bounded.ts';
import { deployMachine, openMachines, prepareMachine, resolveMachine } from '@sitewright/maas';
import type { MachineLayout } from '@sitewright/maas/machine-layout';
import { simulateMaas, simulatorKeys } from '@sitewright/maas-simulator';
import { slowRegion } from './slow-region.ts';

const machines = Number(process.argv[2] ?? 3);
/** A machine of 3 disks, 4 NICs and a bond took 1.1 to 2.9 s on a loaded MAAS. */
const wholeSeconds = Number(process.argv[3] ?? 1.4);

/** Measured at MAAS 3.8.0 beta 6 on a loaded machine. */
function latencyMs(kind: string): number {
  // A list takes as long as its machines, and the answer to a change of a machine is the whole machine.
  if (/^\w+ machines\/(ID\/)?($|\?)/.test(kind)) return wholeSeconds * 1000;
  if (!kind.startsWith('GET')) return 470;
  return /\/(interfaces|volume-groups)\//.test(kind) ? 140 : 230;
}

const layout = (index: number): MachineLayout => ({
  ports: [
    { name: 'pxe', devices: [{ name: 'eno1' }], networks: [{ network: 'pxe', cidr: '10.77.0.0/24', address: 'dhcp' }] },
    {
      name: 'bond0',
      devices: [{ name: 'eno2' }, { name: 'eno3' }],
      bond: { bond_mode: '802.3ad' },
      mtu: 9000,
      networks: [
        { network: 'oam', cidr: '10.23.21.0/24', vlan: 21, address: `10.23.21.${index + 30}`, isPrimary: true },
        { network: 'storage', cidr: '10.23.22.0/24', vlan: 22, address: `10.23.22.${index + 30}` },
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
      { cidr: '10.77.0.0/24', gateway: '10.77.0.1', fabric: 10 },
      { cidr: '10.23.20.0/24', fabric: 11 },
      { cidr: '10.23.21.0/24', gateway: '10.23.21.1', vid: 21, fabric: 11, mtu: 9000 },
      { cidr: '10.23.22.0/24', vid: 22, fabric: 11, mtu: 9000 },
    ],
    machines: Array.from({ length: machines }, (_unused, index) => ({
      hostname: `n${index}`,
      power_type: 'ipmi',
      interfaces: ['eno1', 'eno2', 'eno3', 'eno4'].map((name, nic) => ({
        name,
        mac: `52:54:00:01:${index.toString(16).padStart(2, '0')}:0${nic}`,
        discovered: nic === 0 ? `10.77.0.${200 + index}/24` : null,
      })),
      disks: ['sda', 'sdb', 'sdc'].map((name) => ({ name, size: 100 * 2 ** 30 })),
    })),
  },
});
const region = await slowRegion(simulator.url, latencyMs, Number.POSITIVE_INFINITY);
const maas = openMachines({ url: region.url, apiKey: simulatorKeys.admin, pollMinSeconds: 0.5, pollMaxSeconds: 5 });
const measured: Record<string, number>[] = [];
try {
  for (let index = 0; index < machines; index++) {
    const before = region.seen.length;
    const began = performance.now();
    const found = await resolveMachine(maas, { hostname: `n${index}` });
    if (!found.ok) throw new Error(found.failure.message);
    const { systemId } = found.machine;
    const request = { systemId, site: 'bench', layout: layout(index) };
    const options = { isFirstTry: true };
    const prepared = await prepareMachine(maas, request, options);
    const deployed = await deployMachine(maas, { ...request, node: `n${index}`, run: 'r1' }, options);
    for (const { ok, ...outcome } of [prepared, deployed]) if (!ok) throw new Error(JSON.stringify(outcome));
    const seen = region.seen.slice(before);
    const end = seen.findIndex(({ kind }) => kind === 'POST machines/ID/?op=deploy');
    const kinds = seen.slice(0, end).map(({ kind }) => kind);
    const count = (...patterns: readonly RegExp[]) =>
      kinds.filter((kind) => patterns.every((pattern) => pattern.test(kind))).length;
    measured.push({
      seconds: (seen[end]!.at - began) / 1000,
      requests: kinds.length,
      whole_machines_read: count(/^GET machines\//),
      parts_of_a_machine_read: count(/^GET nodes\//),
      networks_read: count(/^GET (subnets|fabrics|ipranges)\//),
      changes_of_the_layout: count(/^(POST|PUT|DELETE) nodes\//),
      other_changes: count(/^(POST|PUT|DELETE) (machines|tags)\//),
    });
  }
  const median = (key: string): number => {
    const values = measured.map((each) => each[key] ?? 0).sort((a, b) => a - b);
    return Math.round((values[Math.floor(values.length / 2)] ?? 0) * 10) / 10;
  };
  const keys = Object.keys(measured[0] ?? {});
  console.log(JSON.stringify({ machines, ...Object.fromEntries(keys.map((key) => [key, median(key)])) }, null, 1));
} finally {
  await maas.close();
  await region.close();
  await simulator.close();
}
