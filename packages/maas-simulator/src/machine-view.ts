import { machineStatusName } from '@sitewright/maas/status';
import { findDomain, viewDomain } from './domains.ts';
import { addressesOf, bootInterfaceOf, viewGateways, viewInterface } from './network/view.ts';
import type { Domain, Machine, Pool, ScriptSet, Zone } from './records.ts';
import type { Region } from './region.ts';
import { viewStorage } from './storage/view.ts';
import { versionTraits } from './versions.ts';

const base = '/MAAS/api/2.0';

/** `status` of script results and sets of them. */
export const scriptStatusNames: Readonly<Record<number, string>> = {
  [-1]: 'Unknown',
  0: 'Pending',
  1: 'Running',
  2: 'Passed',
  3: 'Failed',
  5: 'Aborted',
};

export const viewZone = (zone: Readonly<Zone>): object => ({
  name: zone.name,
  description: zone.description,
  id: zone.id,
  resource_uri: `${base}/zones/${zone.name}/`,
});

export const viewPool = (pool: Readonly<Pool>): object => ({
  name: pool.name,
  description: pool.description,
  id: pool.id,
  resource_uri: `${base}/resourcepool/${pool.id}/`,
});

const hardware = [
  'system_vendor system_product system_family system_version system_sku system_serial cpu_model',
  'mainboard_vendor mainboard_product mainboard_serial mainboard_version',
  'mainboard_firmware_vendor mainboard_firmware_date mainboard_firmware_version',
  'chassis_vendor chassis_type chassis_serial chassis_version',
].flatMap((line) => line.split(' '));
const unknownHardware = Object.fromEntries(hardware.map((name) => [name, 'Unknown']));

const testKinds = ['cpu', 'memory', 'interface', 'storage', 'network', 'other'] as const;
const noTests = Object.fromEntries(
  testKinds.flatMap((kind): [string, unknown][] => [
    [`${kind}_test_status`, -1],
    [`${kind}_test_status_name`, 'Unknown'],
  ]),
);

/** The status of the newest script set of a type; -1 when there was none. */
export function currentScriptStatus(machine: Readonly<Machine>, type: ScriptSet['type']): number {
  const id = machine.current[type];
  const set = machine.scriptSets.find((candidate) => candidate.id === id);
  // An aborted commissioning counts as none.
  return set === undefined || set.status === 5 ? -1 : set.status;
}

/** A machine in MAAS' form: every field, hardware unknown. */
export function viewMachine(region: Region, machine: Readonly<Machine>): Record<string, unknown> {
  const interfaces = machine.interfaces.map((nic) => viewInterface(region, machine, nic));
  const boot = bootInterfaceOf(machine);
  const commissioning = currentScriptStatus(machine, 'commissioning');
  const testing = currentScriptStatus(machine, 'testing');
  const { hasDeploymentResults, isDpuShown, hasPods } = versionTraits(region.version);
  return {
    system_id: machine.id,
    hostname: machine.hostname,
    fqdn: `${machine.hostname}.${machine.domain}`,
    domain: viewDomain(findDomain(region, machine.domain) as Domain),
    status: machine.status,
    status_name: machineStatusName(machine.status),
    status_message: machine.statusMessage,
    status_action: machine.statusAction,
    error_description: machine.errorDescription,
    description: machine.description,
    owner: machine.owner,
    owner_data: machine.ownerData,
    workload_annotations: machine.ownerData,
    locked: machine.locked,
    zone: viewZone(region.zones.get(machine.zone) as Zone),
    pool: viewPool(region.poolOf(machine)),
    tag_names: machine.tags,
    architecture: machine.architecture,
    power_type: machine.powerType,
    power_state: machine.powerState,
    osystem: machine.osystem,
    distro_series: machine.distroSeries,
    hwe_kernel: machine.hweKernel,
    min_hwe_kernel: '',
    ephemeral_deploy: machine.ephemeral,
    netboot: true,
    ip_addresses: addressesOf(machine),
    interface_set: interfaces,
    boot_interface: boot ? viewInterface(region, machine, boot) : null,
    default_gateways: viewGateways(region, machine),
    ...viewStorage(machine),
    cpu_count: machine.cpuCount,
    cpu_speed: 0,
    memory: machine.memory,
    numanode_set: [{ index: 0, memory: machine.memory, cores: [], hugepages_set: [] }],
    hardware_info: unknownHardware,
    hardware_uuid: null,
    commissioning_status: commissioning,
    commissioning_status_name: scriptStatusNames[commissioning],
    testing_status: testing,
    testing_status_name: scriptStatusNames[testing],
    ...noTests,
    current_commissioning_result_id: machine.current.commissioning ?? null,
    current_installation_result_id: machine.current.installation ?? null,
    current_testing_result_id: machine.current.testing ?? null,
    address_ttl: null,
    bios_boot_method: machine.isUefi ? 'uefi' : null,
    disable_ipv4: false,
    enable_hw_sync: false,
    enable_kernel_crash_dump: false,
    last_sync: null,
    next_sync: null,
    sync_interval: null,
    node_type: 0,
    node_type_name: 'Machine',
    parent: null,
    ...(hasPods && { pod: null, virtualmachine_id: null }),
    ...(isDpuShown && { is_dpu: false }),
    ...(hasDeploymentResults && { current_deployment_result_id: null }),
    resource_uri: `${base}/machines/${machine.id}/`,
  };
}

const texts = new WeakMap<Readonly<Machine>, { readonly made: string; readonly text: string }>();

/**
 * A machine as JSON text, cached until anything in it changes: a client that polls
 * 1,000 machines mostly reads unchanged ones. Only for requests that change nothing.
 */
export function machineText(region: Region, machine: Readonly<Machine>): string {
  const { machines, zones, pools, subnets, vlans, fabrics, spaces, domains } = region;
  const tables = [zones, pools, subnets, vlans, fabrics, spaces, domains];
  const made = [machines.versionOf(machine.id), ...tables.map(({ version }) => version)].join(' ');
  const known = texts.get(machine);
  if (known?.made === made) return known.text;
  const text = JSON.stringify(viewMachine(region, machine), null, 4);
  texts.set(machine, { made, text });
  return text;
}
