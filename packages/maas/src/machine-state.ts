import type { Disk, Filesystem, Hardware, Interface } from './layout/hardware.ts';
import type { Machine } from './machine.ts';
import type { MachineState } from './machine-drift.ts';
import { markerOf } from './machine-hold.ts';
import { machineStatusName } from './status.ts';

/** A machine with its interfaces, disks and kernel options. */
export interface WholeMachine {
  readonly machine: Machine;
  readonly hardware: Hardware;
  /** By the tag that gives them; absent if they are not known. */
  readonly kernelOptions?: Readonly<Record<string, string>>;
}

/** The record of a deployed machine. Omits properties that change by themselves, such as addresses from DHCP and power. */
export function machineState({ machine, hardware, kernelOptions }: WholeMachine): MachineState {
  const { osystem, distroSeries } = machine;
  return {
    status: machineStatusName(machine.status),
    hostname: machine.hostname,
    owner: machine.owner ?? '',
    system: osystem === '' && distroSeries === '' ? '' : `${osystem}/${distroSeries}`,
    kernel: machine.hweKernel,
    zone: machine.zone,
    pool: machine.pool,
    deployment: markerOf(machine)?.run ?? '',
    tags: [...machine.tags].sort(),
    interfaces: Object.fromEntries(hardware.interfaces.map((nic) => [nic.name, interfaceText(nic)])),
    disks: Object.fromEntries(hardware.disks.map(({ name, size }) => [name, `${size} bytes`])),
    lock: machine.locked ? 'locked' : '',
    domain: machine.domain,
    powerType: machine.powerType,
    processors: machine.processors === undefined ? '' : `${machine.processors}`,
    memory: machine.memory === undefined ? '' : `${machine.memory} MiB`,
    storage: Object.fromEntries(hardware.disks.flatMap(storageOf)),
    ...(kernelOptions === undefined ? {} : { kernelOptions }),
  };
}

const storageOf = ({ name, filesystem, partitions }: Disk): readonly [string, string][] => [
  ...(filesystem === undefined ? [] : [[`filesystem ${name}`, filesystemText(filesystem)] as [string, string]]),
  ...partitions.map(({ size, filesystem: inside }, index): [string, string] => [
    `partition ${name}-part${index + 1}`,
    [`${size} bytes`, ...(inside === undefined ? [] : [filesystemText(inside)])].join(', '),
  ]),
];

const filesystemText = ({ fstype, label, mountPoint, mountOptions }: Filesystem): string =>
  [
    fstype,
    label === '' ? '' : `named ${label}`,
    mountPoint === '' ? '' : `at ${mountPoint}`,
    mountOptions === '' ? '' : `with ${mountOptions}`,
  ]
    .filter((part) => part !== '')
    .join(' ');

function interfaceText({ type, macAddress, vid, mtu, parents, links }: Interface): string {
  const addresses = links.map(({ mode, ipAddress, subnet }) =>
    [mode, mode === 'dhcp' ? '' : ipAddress, subnet?.cidr ?? ''].filter((part) => part !== '').join(' '),
  );
  return [
    `${type} ${macAddress}`,
    ...(parents.length === 0 ? [] : [`of ${parents.join(' and ')}`]),
    ...(vid === undefined ? [] : [`VLAN ${vid}`]),
    ...(mtu === undefined ? [] : [`MTU ${mtu}`]),
    ...addresses.sort(),
  ].join(', ');
}
