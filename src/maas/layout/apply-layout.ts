import { createHash } from 'node:crypto';
import type { DeviceReference, MachineLayout } from '../../core/machine-layout.js';
import type { MaasClient } from '../client.js';
import { MachineStatus } from '../status.js';
import { busAddresses } from './bus-addresses.js';
import type { Hardware, LayoutChange } from './hardware.js';
import { applyKernelOptions } from './kernel-options.js';
import { nextNetworkChange, targetInterfaces } from './network-changes.js';
import { nextStorageChange, type TargetStorage, targetStorage } from './storage-changes.js';

/** Why a machine cannot be configured as its documents describe it: all reasons. */
export class LayoutRefused extends Error {
  readonly problems: readonly string[];
  readonly hint: string;

  constructor(problems: readonly string[], hint: string) {
    super(problems.join('; '));
    this.name = 'LayoutRefused';
    this.problems = problems;
    this.hint = hint;
  }
}

/** Identifies a layout in the marker of a machine. */
export const layoutDigest = (layout: MachineLayout): string =>
  createHash('sha256').update(JSON.stringify(layout)).digest('hex').slice(0, 12);

/** More calls than any machine needs. */
const mostChanges = 1000;

/**
 * Configures interfaces, disks and kernel options as described. Each call follows from a reading of the machine, so that it may
 * be repeated after a crash or a lost answer; nothing is sent when all is as described.
 * @param acting called before each change
 * @returns what was changed, in order
 * @throws LayoutRefused when the machine or MAAS' networks do not allow it: before the first change, where that shows
 * @throws MaasError what MAAS refuses
 */
export async function applyLayout(
  client: MaasClient,
  systemId: string,
  layout: MachineLayout,
  acting: () => Promise<void>,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const found = await client.layouts.hardware(systemId, signal);
  const names = await deviceNames(client, layout, found, signal);
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
  const physical = found.interfaces.filter(({ type }) => type === 'physical');
  const { ports, storage, kernelOptions } = layout;
  const interfaces =
    ports && targetInterfaces(ports, await client.layouts.networks(signal), nameOf(physical, 'interface'), report);
  const disks: TargetStorage | undefined =
    storage && targetStorage(storage, found, nameOf(found.disks, 'disk'), report);
  const refuseIfAny = (): void => {
    if (problems.size > 0)
      throw new LayoutRefused([...problems], 'correct the documents, or the machine and its networks in MAAS');
  };
  refuseIfAny();

  const done = [...(await applyKernelOptions(client, systemId, found.tags, kernelOptions, acting, signal))];
  let hardware = found;
  for (let count = 0; count < mostChanges; count++) {
    const change: LayoutChange | undefined =
      (disks && nextStorageChange(hardware, disks, report)) ?? (interfaces && nextNetworkChange(hardware, interfaces));
    refuseIfAny();
    if (!change) return done;
    if (change.text === done.at(-1)) break;
    if (change.onlyWhenReady && hardware.status !== MachineStatus.Ready) {
      const problem = `its disks are not as described (next: ${change.text}), and MAAS changes them only while it is Ready`;
      throw new LayoutRefused([problem], 'release it in MAAS, then retry the node');
    }
    await acting();
    await client.layouts.send(systemId, change, signal);
    done.push(change.text);
    hardware = await client.layouts.hardware(systemId, signal);
  }
  throw new LayoutRefused([`MAAS accepts "${done.at(-1)}", but it has no effect`], 'check the machine in MAAS');
}

/** Names of devices in MAAS. Addresses on a bus are only in what `lshw` said at the commissioning. */
async function deviceNames(
  client: MaasClient,
  { ports = [], storage }: MachineLayout,
  { systemId }: Hardware,
  signal: AbortSignal | undefined,
): Promise<(device: DeviceReference) => string | undefined> {
  const devices = [...ports.flatMap((port) => port.devices), ...(storage?.disks ?? []).map(({ device }) => device)];
  if (devices.every(({ address }) => address === undefined)) return ({ name }) => name;
  const results = await client.diagnostics.scriptResults(systemId, 'commissioning', { includeOutput: true }, signal);
  const lshw = results.find(({ name }) => name.endsWith('lshw'))?.output ?? '';
  const addresses = busAddresses(lshw);
  return ({ name, address }) => (address === undefined ? name : addresses.get(address));
}
