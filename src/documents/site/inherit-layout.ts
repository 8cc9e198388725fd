import type { ValuePath } from '../../core/data/plain-value.ts';
import type { HostProfileData, KernelParam } from '../schemas/baremetal-node.ts';
import type { HostInterface, PhysicalDevice, VolumeGroup } from '../schemas/machine-layout.ts';
import { inheritValue, mergeTags } from './inheritance.ts';
import type { Owned } from './owned-value.ts';
import type { SiteDocument } from './site-document.ts';

export type Named<Value> = ReadonlyMap<string, Owned<Value>>;

/** Interfaces, disks and kernel options of documents, after inheritance. */
export interface InheritedLayout {
  readonly hardwareProfile: string | null | undefined;
  readonly primaryNetwork: string | null | undefined;
  readonly oobNetwork: unknown;
  readonly interfaces: Named<HostInterface> | undefined;
  readonly devices: Named<PhysicalDevice> | undefined;
  readonly groups: Named<VolumeGroup> | undefined;
  readonly kernelParams: Named<KernelParam> | undefined;
}

export const NO_LAYOUT: InheritedLayout = {
  hardwareProfile: undefined,
  primaryNetwork: undefined,
  oobNetwork: undefined,
  interfaces: undefined,
  devices: undefined,
  groups: undefined,
  kernelParams: undefined,
};

/** Merges a document's values over inherited ones, by Drydock's rules: by name, `!name` or null removes. */
export function inheritLayout(document: SiteDocument, own: HostProfileData, parent: InheritedLayout): InheritedLayout {
  const { storage } = own;
  return {
    hardwareProfile: inheritValue(own.hardware_profile, parent.hardwareProfile),
    primaryNetwork: inheritValue(own.primary_network, parent.primaryNetwork),
    oobNetwork: own.oob?.network ?? parent.oobNetwork,
    interfaces: mergeNamed(document, ['data', 'interfaces'], own.interfaces, parent.interfaces, (mine, theirs) => ({
      ...theirs,
      ...mine,
      slaves: [...(mergeTags(mine.slaves, theirs.slaves) ?? [])],
      networks: [...(mergeTags(mine.networks, theirs.networks) ?? [])],
    })),
    devices: mergeNamed(
      document,
      ['data', 'storage', 'physical_devices'],
      storage?.physical_devices,
      parent.devices,
      (mine, theirs) => ({ ...theirs, ...mine, partitions: mergeItems(mine.partitions, theirs.partitions) }),
    ),
    groups: mergeNamed(
      document,
      ['data', 'storage', 'volume_groups'],
      storage?.volume_groups,
      parent.groups,
      (mine, theirs) => ({
        ...theirs,
        ...mine,
        logical_volumes: mergeItems(mine.logical_volumes, theirs.logical_volumes),
      }),
    ),
    kernelParams: mergeNamed(
      document,
      ['data', 'platform', 'kernel_params'],
      own.platform?.kernel_params,
      parent.kernelParams,
      (mine) => mine,
    ),
  };
}

function mergeNamed<Value>(
  document: SiteDocument,
  at: ValuePath,
  own: Readonly<Record<string, Value | null>> | undefined,
  parent: Named<Value> | undefined,
  merge: (mine: Value, theirs: Value) => Value,
): Named<Value> | undefined {
  if (own === undefined) return parent;
  const merged = new Map(parent);
  for (const [key, value] of Object.entries(own)) {
    const name = key.startsWith('!') ? key.slice(1) : key;
    if (value === null || name !== key) merged.delete(name);
    else {
      const theirs = merged.get(name);
      const path = [...at, key];
      merged.set(name, { value: theirs ? merge(value, theirs.value) : value, document, path });
    }
  }
  return merged;
}

/** Lists whose items have names: the inherited order, with own items over those of their names. */
function mergeItems<Item extends { readonly name: string }>(
  own: readonly Item[] | undefined,
  parent: readonly Item[] | undefined,
): Item[] {
  const merged = new Map((parent ?? []).map((item) => [item.name, item]));
  for (const item of own ?? []) {
    if (item.name.startsWith('!')) merged.delete(item.name.slice(1));
    else merged.set(item.name, { ...merged.get(item.name), ...item });
  }
  return [...merged.values()];
}
