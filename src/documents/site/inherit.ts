import type { ValuePath } from '../../core/data/plain-value.ts';
import type { HostProfileData, KernelParam } from '../schemas/baremetal-node.ts';
import type { HostInterface, PhysicalDevice, VolumeGroup } from '../schemas/machine-layout.ts';
import type { Owned } from './owned-value.ts';
import type { SiteDocument } from './site-document.ts';

export type Named<Value> = ReadonlyMap<string, Owned<Value>>;

/** Values of a node or profile after inheritance. `null` is "unset on purpose" (`!`). */
export interface Inherited {
  readonly rack: string | null | undefined;
  readonly image: string | null | undefined;
  readonly kernel: string | null | undefined;
  readonly tags: readonly string[] | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly hardwareProfile: string | null | undefined;
  readonly primaryNetwork: string | null | undefined;
  readonly oob: Readonly<Record<string, unknown>>;
  readonly interfaces: Named<HostInterface> | undefined;
  readonly devices: Named<PhysicalDevice> | undefined;
  readonly groups: Named<VolumeGroup> | undefined;
  readonly kernelParams: Named<KernelParam> | undefined;
}

export const NOTHING: Inherited = {
  rack: undefined,
  image: undefined,
  kernel: undefined,
  tags: undefined,
  labels: undefined,
  hardwareProfile: undefined,
  primaryNetwork: undefined,
  oob: {},
  interfaces: undefined,
  devices: undefined,
  groups: undefined,
  kernelParams: undefined,
};

/** A document's values over inherited ones, by Drydock's rules: lists and mappings merge by name; `!name` or null removes. */
export function inherit(document: SiteDocument<HostProfileData>, parent: Inherited): Inherited {
  const { data: own } = document;
  const { storage } = own;
  return {
    rack: inheritValue(own.metadata?.rack, parent.rack),
    image: inheritValue(own.platform?.image, parent.image),
    kernel: inheritValue(own.platform?.kernel, parent.kernel),
    tags: mergeTags(own.metadata?.tags, parent.tags),
    labels: mergeLabels(own.metadata?.owner_data, parent.labels),
    hardwareProfile: inheritValue(own.hardware_profile, parent.hardwareProfile),
    primaryNetwork: inheritValue(own.primary_network, parent.primaryNetwork),
    oob: mergeOob(own.oob, parent.oob),
    interfaces: mergeNamed(document, ['data', 'interfaces'], own.interfaces, parent.interfaces, (mine, theirs) => ({
      ...theirs,
      ...mine,
      device_link: inheritValue(mine.device_link, theirs.device_link) ?? undefined,
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

/** An own value first; a lone `!` unsets an inherited value: null. */
const inheritValue = (own: string | undefined, parent: string | null | undefined) =>
  own === undefined ? parent : own === '!' ? null : own;

/** An own parameter over an inherited one; `!name` removes it. */
function mergeOob(own: Readonly<Record<string, unknown>> = {}, parent: Inherited['oob']): Inherited['oob'] {
  const merged = new Map(Object.entries(parent));
  for (const [key, value] of Object.entries(own)) {
    if (key.startsWith('!')) merged.delete(key.slice(1));
    else if (value === '!') merged.delete(key);
    else merged.set(key, value);
  }
  return Object.fromEntries(merged);
}

/** Drydock's rule for lists: own values first; `!value` removes an inherited one. */
function mergeTags(own: readonly string[] | undefined, parent: readonly string[] | undefined) {
  if (!own) return parent;
  const removed = new Set(own.filter((tag) => tag.startsWith('!')).map((tag) => tag.slice(1)));
  const kept = own.filter((tag) => !tag.startsWith('!'));
  return [...new Set([...kept, ...(parent ?? []).filter((tag) => !removed.has(tag))])];
}

function mergeLabels(
  own: Readonly<Record<string, string>> | undefined,
  parent: Readonly<Record<string, string>> | undefined,
) {
  if (!own) return parent;
  const labels = new Map(Object.entries(parent ?? {}));
  for (const key of Object.keys(own)) if (key.startsWith('!')) labels.delete(key.slice(1));
  for (const [key, value] of Object.entries(own)) if (!key.startsWith('!')) labels.set(key, value);
  return Object.fromEntries(labels);
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
