import { type Answer, forbidden, methodNotAllowed, unknownEndpoint, wrongOperation } from './answer.ts';
import type { Handler } from './call.ts';
import * as domains from './domains.ts';
import { queryEvents } from './events-query.ts';
import * as groups from './groups.ts';
import * as list from './machine-list.ts';
import * as operations from './machine-operations.ts';
import * as power from './machine-power.ts';
import * as record from './machine-record.ts';
import * as upkeep from './machine-upkeep.ts';
import * as addresses from './network/addresses.ts';
import * as fabrics from './network/fabrics.ts';
import * as network from './network/node-interfaces.ts';
import * as links from './network/node-links.ts';
import * as ranges from './network/ranges.ts';
import * as staticRoutes from './network/routes.ts';
import * as subnets from './network/subnets.ts';
import * as vlans from './network/vlans.ts';
import * as results from './results.ts';
import * as bcaches from './storage/bcaches.ts';
import * as disks from './storage/disks.ts';
import * as filesystems from './storage/filesystems.ts';
import * as partitions from './storage/partitions.ts';
import * as raids from './storage/raids.ts';
import * as volumeGroups from './storage/volume-groups.ts';
import * as surroundings from './surroundings.ts';
import * as userGroups from './user-groups.ts';

/** One endpoint: plain methods, and operations by name for the two methods that have them. */
interface Endpoint {
  readonly GET?: Handler;
  readonly POST?: Handler;
  readonly PUT?: Handler;
  readonly DELETE?: Handler;
  readonly read?: Readonly<Record<string, Handler>>;
  readonly write?: Readonly<Record<string, Handler>>;
  /** Open without a key: the plain GET (`GET`), or operations of GET by name. */
  readonly open?: readonly string[];
}

const machineReads = {
  details: record.machineDetails,
  get_curtin_config: record.curtinConfig,
  power_parameters: power.powerParameters,
  query_power_state: power.queryPowerState,
} as const;

const listReads = {
  is_registered: list.isRegistered,
  power_parameters: list.listPowerParameters,
} as const;

const machine: Endpoint = {
  GET: record.readMachine,
  PUT: record.updateMachine,
  DELETE: record.deleteMachine,
  read: machineReads,
  write: {
    abort: operations.abort,
    commission: operations.commission,
    deploy: operations.deploy,
    exit_rescue_mode: upkeep.exitRescueMode,
    lock: operations.lock,
    mark_broken: operations.markBroken,
    mark_fixed: operations.markFixed,
    override_failed_testing: upkeep.overrideFailedTesting,
    power_off: power.powerOff,
    power_on: power.powerOn,
    release: operations.release,
    rescue_mode: upkeep.rescueMode,
    restore_default_configuration: operations.restoreDefaults,
    restore_networking_configuration: operations.restoreNetworking,
    restore_storage_configuration: operations.restoreStorage,
    set_owner_data: operations.setOwnerData,
    set_storage_layout: operations.setStorageLayout,
    set_workload_annotations: operations.setOwnerData,
    test: upkeep.test,
    unlock: operations.unlock,
  },
};

const machines: Endpoint = {
  GET: list.listMachines,
  POST: record.createMachine,
  read: { ...listReads, list_allocated: list.listAllocated },
  write: {
    accept: list.accept,
    accept_all: list.acceptAll,
    allocate: list.allocate,
    release: list.releaseMany,
    set_zone: list.setZone,
  },
  open: ['is_registered'],
};

const oneInterface: Endpoint = {
  GET: network.readInterface,
  PUT: network.updateInterface,
  DELETE: network.deleteInterface,
  write: {
    add_tag: network.addTag,
    disconnect: links.disconnect,
    link_subnet: links.linkSubnet,
    remove_tag: network.removeTag,
    set_default_gateway: links.setDefaultGateway,
    unlink_subnet: links.unlinkSubnet,
  },
};

const interfaces: Endpoint = {
  GET: network.listInterfaces,
  write: {
    create_bond: network.createBond,
    create_bridge: network.createBridge,
    create_physical: network.createPhysical,
    create_vlan: network.createVlan,
  },
};

/** By path under `api/2.0/`; `*` matches one part. */
const endpoints: Readonly<Record<string, Endpoint>> = {
  'version/': { GET: surroundings.version, open: ['GET'] },
  'account/': { read: { list_authorisation_tokens: surroundings.listTokens } },
  'users/': { GET: surroundings.listUsers, read: { whoami: surroundings.whoami } },
  'users/*/': { GET: surroundings.readUser },
  'groups/': { GET: userGroups.listGroups, POST: userGroups.createGroup },
  'groups/*/': { GET: userGroups.readGroup },
  'groups/*/members/': { GET: userGroups.listMembers },
  'groups/*/entitlements/': { GET: userGroups.listEntitlements },
  'maas/': { read: { get_config: surroundings.getConfig }, write: { set_config: surroundings.setConfig } },

  'machines/': machines,
  'machines/*/': machine,
  'nodes/': { GET: list.listMachines, read: listReads, write: { set_zone: list.setZone }, open: ['is_registered'] },
  'nodes/*/': {
    GET: record.readMachine,
    DELETE: record.deleteMachine,
    read: { details: machineReads.details, power_parameters: machineReads.power_parameters },
  },
  'nodes/*/interfaces/': interfaces,
  'nodes/*/interfaces/*/': oneInterface,
  'nodes/*/blockdevices/': { GET: disks.listDisks, POST: disks.createDisk },
  'nodes/*/blockdevices/*/': {
    GET: disks.readDisk,
    PUT: disks.updateDevice,
    DELETE: disks.deleteDisk,
    write: {
      ...filesystems.deviceOperations,
      add_tag: disks.addDeviceTag,
      remove_tag: disks.removeDeviceTag,
      set_boot_disk: disks.setBootDisk,
    },
  },
  'nodes/*/blockdevices/*/partitions/': { GET: partitions.listPartitions, POST: partitions.createPartition },
  // As in MAAS: no slash at its end.
  'nodes/*/blockdevices/*/partition/*': {
    GET: partitions.readPartition,
    DELETE: partitions.deletePartition,
    write: {
      ...filesystems.partitionOperations,
      add_tag: partitions.addPartitionTag,
      remove_tag: partitions.removePartitionTag,
    },
  },
  'nodes/*/volume-groups/': { GET: volumeGroups.listGroups, POST: volumeGroups.createGroup },
  'nodes/*/volume-group/*/': {
    GET: volumeGroups.readGroup,
    PUT: volumeGroups.updateGroup,
    DELETE: volumeGroups.deleteGroup,
    write: {
      create_logical_volume: volumeGroups.createVolume,
      delete_logical_volume: volumeGroups.deleteVolume,
    },
  },
  'nodes/*/raids/': { GET: raids.listRaids, POST: raids.createRaid },
  'nodes/*/raid/*/': { GET: raids.readRaid, PUT: raids.updateRaid, DELETE: raids.deleteRaid },
  'nodes/*/bcache-cache-sets/': { GET: bcaches.listCacheSets, POST: bcaches.createCacheSet },
  'nodes/*/bcache-cache-set/*/': {
    GET: bcaches.readCacheSet,
    PUT: bcaches.updateCacheSet,
    DELETE: bcaches.deleteCacheSet,
  },
  'nodes/*/bcaches/': { GET: bcaches.listBcaches, POST: bcaches.createBcache },
  'nodes/*/bcache/*/': { GET: bcaches.readBcache, PUT: bcaches.updateBcache, DELETE: bcaches.deleteBcache },
  'nodes/*/results/': { GET: results.listResults },
  'nodes/*/results/*/': {
    GET: results.readResult,
    DELETE: results.deleteResult,
    read: { download: results.downloadResult },
  },

  'zones/': { GET: groups.listZones, POST: groups.createZone },
  'zones/*/': { GET: groups.readZone, PUT: groups.updateZone, DELETE: groups.deleteZone },
  'resourcepools/': { GET: groups.listPools, POST: groups.createPool },
  'resourcepool/*/': { GET: groups.readPool, PUT: groups.updatePool, DELETE: groups.deletePool },
  'tags/': { GET: groups.listTags, POST: groups.createTag },
  'tags/*/': {
    GET: groups.readTag,
    PUT: groups.updateTag,
    DELETE: groups.deleteTag,
    read: {
      devices: groups.nothingOfTag,
      machines: groups.machinesOfTag,
      nodes: groups.machinesOfTag,
      rack_controllers: groups.nothingOfTag,
      region_controllers: groups.nothingOfTag,
    },
    write: { rebuild: groups.rebuildTag, update_nodes: groups.updateNodes },
  },

  'events/': { read: { query: queryEvents } },
  'scripts/': { GET: surroundings.listScripts },
  'boot-resources/': {
    GET: surroundings.listImages,
    POST: surroundings.createImage,
    read: { is_importing: surroundings.isImporting },
    write: { import: surroundings.importImages, stop_import: surroundings.stopImport },
  },
  'boot-resources/*/': { GET: surroundings.readImage, DELETE: surroundings.deleteImage },
  'subnets/': { GET: subnets.listSubnets, POST: subnets.createSubnet },
  'subnets/*/': {
    GET: subnets.readSubnet,
    PUT: subnets.updateSubnet,
    DELETE: subnets.deleteSubnet,
    read: {
      ip_addresses: addresses.listAddresses,
      reserved_ip_ranges: addresses.usedRanges,
      statistics: addresses.statistics,
      unreserved_ip_ranges: addresses.freeRanges,
    },
  },
  'ipaddresses/': {
    GET: addresses.listReserved,
    write: { release: addresses.releaseReserved, reserve: addresses.reserve },
  },
  'fabrics/': { GET: fabrics.listFabrics, POST: fabrics.createFabric },
  'fabrics/*/': { GET: fabrics.readFabric, PUT: fabrics.updateFabric, DELETE: fabrics.deleteFabric },
  'fabrics/*/vlans/': { GET: vlans.listVlans, POST: vlans.createVlan },
  'fabrics/*/vlans/*/': { GET: vlans.readVlan, PUT: vlans.updateVlan, DELETE: vlans.deleteVlan },
  'vlans/*/': { GET: vlans.readVlan, PUT: vlans.updateVlan, DELETE: vlans.deleteVlan },
  'spaces/': { GET: fabrics.listSpaces, POST: fabrics.createSpace },
  'spaces/*/': { GET: fabrics.readSpace, PUT: fabrics.updateSpace, DELETE: fabrics.deleteSpace },
  'domains/': { GET: domains.listDomains, POST: domains.createDomain },
  'domains/*/': { GET: domains.readDomain, PUT: domains.updateDomain, DELETE: domains.deleteDomain },
  'rackcontrollers/': { GET: surroundings.emptyList },
  'regioncontrollers/': { GET: surroundings.listRegionControllers },
  'ipranges/': { GET: ranges.listRanges, POST: ranges.createRange },
  'ipranges/*/': { GET: ranges.readRange, PUT: ranges.updateRange, DELETE: ranges.deleteRange },
  'static-routes/': { GET: staticRoutes.listRoutes, POST: staticRoutes.createRoute },
  'static-routes/*/': {
    GET: staticRoutes.readRoute,
    PUT: staticRoutes.updateRoute,
    DELETE: staticRoutes.deleteRoute,
  },
  'dnsresources/': { GET: surroundings.emptyList },
  'devices/': { GET: surroundings.emptyList },
  'discovery/': { GET: surroundings.emptyList },
};

const apiRoot = '/MAAS/api/2.0/';
const routes = Object.entries(endpoints).map(([pattern, endpoint]) => ({
  pattern: new RegExp(`^${pattern.replaceAll('*', '([^/]+)')}$`),
  endpoint,
}));

/** The endpoint of a path as sent, with the parts matched by `*`. */
export function findEndpoint(
  path: string,
): { readonly endpoint: Endpoint; readonly parts: readonly string[] } | Answer {
  if (path.startsWith(apiRoot)) {
    const rest = path.slice(apiRoot.length);
    for (const { pattern, endpoint } of routes) {
      const found = pattern.exec(rest);
      if (found) return { endpoint, parts: found.slice(1).map(decodePart) };
    }
  }
  return unknownEndpoint(path);
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** In the order of MAAS' `Allow` header. */
const methodOrder = ['DELETE', 'GET', 'PUT', 'POST'] as const;

function allowedMethods(endpoint: Endpoint): string[] {
  return methodOrder.filter(
    (method) =>
      endpoint[method] !== undefined ||
      (method === 'GET' && endpoint.read !== undefined) ||
      (method === 'POST' && endpoint.write !== undefined),
  );
}

/** The handler of a method and operation, or the refusal of an unknown pair. */
export function findHandler(endpoint: Endpoint, method: string, op: string | null): Handler | Answer {
  const allowed = allowedMethods(endpoint);
  if (!allowed.includes(method)) return methodNotAllowed(allowed);
  const operations = method === 'GET' ? endpoint.read : method === 'POST' ? endpoint.write : undefined;
  const handler =
    op === null || method === 'PUT' || method === 'DELETE'
      ? endpoint[method as (typeof methodOrder)[number]]
      : operations && Object.hasOwn(operations, op)
        ? operations[op]
        : undefined;
  return handler ?? wrongOperation(method, op);
}

/** True for requests that MAAS answers without a key. */
export const isOpen = (endpoint: Endpoint, method: string, op: string | null): boolean =>
  method === 'GET' && (endpoint.open?.includes(op ?? 'GET') ?? false);

/** The answer to a request without a valid key: mostly a 400 from MAAS' anonymous handler. */
export const refuseAnonymous = (method: string, op: string | null): Answer =>
  ['GET', 'POST', 'PUT', 'DELETE'].includes(method) ? wrongOperation(method, op) : forbidden();
