import { asFlag, asList, asNumber, asObject, asText, asTexts, type JsonObject, nameOf } from './lenient.ts';
import { machineStatusName } from './status.ts';

/**
 * The fields we keep of a machine in MAAS (its full object has 5 to 60 kB). Texts are `''` when
 * MAAS sends none.
 */
export interface Machine {
  /** Six characters; the only permanent name of a machine. */
  readonly systemId: string;
  readonly hostname: string;
  readonly fqdn: string;
  readonly domain: string;
  /** Number of the state, see `MachineStatus`; -1 when MAAS sent none. May be one we do not know. */
  readonly status: number;
  /** For people only; its wording differs between versions. */
  readonly statusName: string;
  /** Text of the latest event. */
  readonly statusMessage: string;
  /** Reason of the latest failure. It stays afterwards: use it only with a failed status. */
  readonly errorDescription: string;
  /** User name; `null` when no one holds the machine. */
  readonly owner: string | null;
  /** Workload annotations (formerly owner data). */
  readonly annotations: Readonly<Record<string, string>>;
  readonly locked: boolean;
  /** Vendor and product of the hardware, as its firmware names them; empty where MAAS does not know. */
  readonly model: string;
  readonly architecture: string;
  readonly processors: number | undefined;
  /** MiB. */
  readonly memory: number | undefined;
  readonly osystem: string;
  readonly distroSeries: string;
  readonly hweKernel: string;
  readonly powerType: string;
  /** MAAS' cached value, at most minutes old. */
  readonly powerState: string;
  readonly zone: string;
  readonly pool: string;
  readonly tags: readonly string[];
  readonly ipAddresses: readonly string[];
  /** Lower case, of all interfaces. */
  readonly macAddresses: readonly string[];
  readonly description: string;
  /** Missing requirements of MAAS for a deployment; empty when its answer does not show it. */
  readonly lacks: readonly Lack[];
}

/** No root filesystem, or no interface with an address: MAAS deploys no such machine. */
export type Lack = 'root' | 'network';

/** The short form for results, reports and workflow histories. */
export type MachineSummary = Pick<
  Machine,
  | 'systemId'
  | 'hostname'
  | 'fqdn'
  | 'status'
  | 'statusName'
  | 'owner'
  | 'model'
  | 'osystem'
  | 'distroSeries'
  | 'powerState'
  | 'zone'
  | 'pool'
  | 'tags'
  | 'ipAddresses'
>;

/** `undefined` when the answer is not a machine (no `system_id`). */
export function parseMachine(answer: unknown): Machine | undefined {
  const o = asObject(answer);
  const systemId = asText(o.system_id);
  if (systemId === '') return undefined;
  const status = asNumber(o.status) ?? -1;
  const hostname = asText(o.hostname);
  const domain = nameOf(o.domain);
  return {
    systemId,
    hostname,
    fqdn: asText(o.fqdn) || (domain === '' ? hostname : `${hostname}.${domain}`),
    domain,
    status,
    statusName: asText(o.status_name) || machineStatusName(status),
    statusMessage: asText(o.status_message),
    errorDescription: asText(o.error_description),
    owner: nameOf(o.owner) || asText(asObject(o.owner).username) || null,
    annotations: { ...texts(o.owner_data), ...texts(o.workload_annotations) },
    locked: asFlag(o.locked),
    model: modelOf(asObject(o.hardware_info)),
    architecture: asText(o.architecture),
    processors: asNumber(o.cpu_count),
    memory: asNumber(o.memory),
    osystem: asText(o.osystem),
    distroSeries: asText(o.distro_series),
    hweKernel: asText(o.hwe_kernel),
    powerType: asText(o.power_type),
    powerState: asText(o.power_state),
    zone: nameOf(o.zone),
    pool: nameOf(o.pool),
    tags: asTexts(o.tag_names),
    ipAddresses: asTexts(o.ip_addresses),
    macAddresses: macAddresses(o),
    description: asText(o.description),
    lacks: lacksOf(o),
  };
}

/** MAAS itself says `Unknown`. */
function modelOf(hardware: JsonObject): string {
  const names = [asText(hardware.system_vendor), asText(hardware.system_product)];
  return names.filter((name) => name !== '' && name !== 'Unknown').join(' ');
}

function lacksOf(machine: JsonObject): readonly Lack[] {
  const interfaces = asList(machine.interface_set).map(asObject);
  const physical = asList(machine.physicalblockdevice_set).map(asObject);
  const disks = [...physical, ...asList(machine.virtualblockdevice_set).map(asObject)];
  const devices = disks.flatMap((disk) => [disk, ...asList(disk.partitions).map(asObject)]);
  const hasRoot = devices.some(({ filesystem }) => asText(asObject(filesystem).mount_point) === '/');
  const areLinksShown = interfaces.some(({ links }) => Array.isArray(links));
  const links = interfaces.flatMap((nic) => asList(nic.links).map((link) => asText(asObject(link).mode)));
  const isLinked = links.some((mode) => ['auto', 'dhcp', 'static'].includes(mode));
  return [
    ...(physical.length > 0 && !hasRoot ? ['root' as const] : []),
    ...(areLinksShown && !isLinked ? ['network' as const] : []),
  ];
}

export function summariseMachine(machine: Machine): MachineSummary {
  const { systemId, hostname, fqdn, status, statusName, owner, model, osystem, distroSeries } = machine;
  const { powerState, zone, pool, tags, ipAddresses } = machine;
  return {
    systemId,
    hostname,
    fqdn,
    status,
    statusName,
    owner,
    model,
    osystem,
    distroSeries,
    powerState,
    zone,
    pool,
    tags,
    ipAddresses,
  };
}

function texts(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(asObject(value)).map(([key, text]) => [key, asText(text)]));
}

function macAddresses(machine: JsonObject): readonly string[] {
  const interfaces = [machine.boot_interface, ...asList(machine.interface_set)];
  const found = interfaces.map((nic) => asText(asObject(nic).mac_address).toLowerCase()).filter((mac) => mac !== '');
  return [...new Set(found)];
}
