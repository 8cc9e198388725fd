import type { MachineState } from '../core/machine-drift.js';
import type { Hardware, Interface } from './layout/hardware.js';
import type { Machine } from './machine.js';
import { markerOf } from './machine-hold.js';
import { machineStatusName } from './status.js';

/** A machine with its interfaces and disks, from one answer of MAAS. */
export interface WholeMachine {
  readonly machine: Machine;
  readonly hardware: Hardware;
}

/** What is recorded of a deployed machine. Leaves out what changes by itself, such as addresses from DHCP and power. */
export function machineState({ machine, hardware }: WholeMachine): MachineState {
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
  };
}

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
