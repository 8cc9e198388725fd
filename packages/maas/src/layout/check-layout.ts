import type { MaasClient } from '../client.ts';
import { MachineStatus } from '../status.ts';
import { busAddressesOf } from './bus-addresses.ts';
import type { Hardware } from './hardware.ts';
import { isInRange, isSameAddress } from './ip-address.ts';
import type { DeviceReference, MachineLayout } from './machine-layout.ts';
import { nextStorageChange } from './storage-changes.ts';
import { type TargetInterface, targetInterfaces } from './target-interfaces.ts';
import { type TargetStorage, targetStorage } from './target-storage.ts';

/** The target of a layout on one machine, and all reasons against it that show before any change. */
interface CheckedLayout {
  readonly hardware: Hardware;
  readonly interfaces: readonly TargetInterface[] | undefined;
  readonly storage: TargetStorage | undefined;
  readonly problems: readonly string[];
}

/**
 * Reads MAAS' networks, and changes nothing.
 * @param reading the machine, with or without its volume groups
 */
export async function checkLayout(
  client: MaasClient,
  reading: Hardware,
  layout: MachineLayout,
  signal?: AbortSignal,
): Promise<CheckedLayout> {
  const [hardware, names, networks] = await Promise.all([
    layout.storage ? client.layouts.withGroups(reading, signal) : reading,
    deviceNames(client, layout, reading.systemId, signal),
    layout.ports && client.layouts.networks(signal),
  ]);
  const problems = new Set<string>();
  const report = (problem: string): void => {
    problems.add(problem);
  };
  const nameOf =
    (among: readonly { readonly name: string }[], kind: string) =>
    (device: DeviceReference, of: string): string | undefined => {
      const name = names(device);
      if (name !== undefined && among.some((each) => each.name === name)) return name;
      const known = among.map((each) => each.name).join(', ') || 'none';
      const where = device.address === undefined ? '' : ` at ${device.address}`;
      report(`${of}: the machine has no ${kind} ${device.name}${where} (it has ${known})`);
      return undefined;
    };
  const physical = hardware.interfaces.filter(({ type }) => type === 'physical');
  const interfaces =
    layout.ports &&
    networks &&
    targetInterfaces(layout.ports, networks, physical, nameOf(physical, 'interface'), report);
  if (interfaces) await checkAddresses(client, hardware, interfaces, report, signal);
  const storage = layout.storage && targetStorage(layout.storage, hardware, nameOf(hardware.disks, 'disk'), report);
  if (storage && problems.size === 0 && hardware.status === MachineStatus.Allocated) {
    const change = nextStorageChange(hardware, storage, report);
    if (change?.onlyWhenReady)
      report(`its disks are not as described (next: ${change.text}), and MAAS changes them only while it is Ready`);
  }
  return { hardware, interfaces, storage, problems: [...problems] };
}

/** Fixed addresses that MAAS would refuse: given out by DHCP, or in use. */
async function checkAddresses(
  { layouts }: MaasClient,
  { systemId, interfaces }: Hardware,
  target: readonly TargetInterface[],
  report: (problem: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const described = new Set(target.flatMap(({ name, parents }) => [name, ...parents]));
  const elsewhere = interfaces.filter(
    ({ name, parents }) => !described.has(name) && !parents.some((p) => described.has(p)),
  );
  const missing = target.flatMap(({ name, link }) => {
    const has = interfaces
      .find((nic) => nic.name === name)
      ?.links.some(({ mode, ipAddress }) => mode === 'static' && isSameAddress(ipAddress, link?.address ?? ''));
    return link?.subnet && link.address !== undefined && !has ? [{ name, subnet: link.subnet, ip: link.address }] : [];
  });
  if (missing.length === 0) return;
  const subnets = [...new Set(missing.map(({ subnet }) => subnet.id))];
  const [ranges, ...used] = await Promise.all([
    layouts.ranges(signal),
    ...subnets.map((subnet) => layouts.usedAddresses(subnet, signal)),
  ]);
  for (const { name, subnet, ip } of missing) {
    const range = ranges.find(
      ({ type, subnet: of, start, end }) => type === 'dynamic' && of === subnet.id && isInRange(ip, start, end),
    );
    if (range)
      report(`${name}: ${ip} is in the dynamic range ${range.start} to ${range.end} of ${subnet.cidr}: choose another`);
    const user = used[subnets.indexOf(subnet.id)]?.find((each) => isSameAddress(each.ip, ip));
    // Links on interfaces that are configured anyway are removed first.
    const own = elsewhere.find(({ links }) => links.some(({ ipAddress }) => isSameAddress(ipAddress, ip)));
    if (user && user.systemId !== systemId) report(`${name}: ${ip} is in use by ${user.by}: choose another`);
    else if (own) report(`${name}: ${ip} is in use by ${own.name} of this machine: choose another`);
  }
}

/** Names of devices in MAAS. */
async function deviceNames(
  client: MaasClient,
  { ports = [], storage }: MachineLayout,
  systemId: string,
  signal: AbortSignal | undefined,
): Promise<(device: DeviceReference) => string | undefined> {
  const devices = [...ports.flatMap((port) => port.devices), ...(storage?.disks ?? []).map(({ device }) => device)];
  if (devices.every(({ address }) => address === undefined)) return ({ name }) => name;
  const addresses = await busAddressesOf(client, systemId, signal);
  return ({ name, address }) => (address === undefined ? name : addresses.get(address));
}
