import { isMapping } from '../core/data/plain-value.ts';
import type { Fields } from '../graph/index.ts';
import type { PluginRecord, ReleaseRecord } from '../store/index.ts';
import { mergeOver } from './merge-over.ts';

/** Settings that a release and its plugins give nodes, their interfaces and their bonds: groups with default values. */
export interface NodeDefaults {
  readonly node: Fields;
  readonly nic: Fields;
  readonly bond: Fields;
}

/** Of interfaces and bonds the settings of a plugin are a group under its name, as in the reference. */
export function nodeDefaults(
  release: Pick<ReleaseRecord, 'metadata'>,
  plugins: readonly Pick<PluginRecord, 'name' | 'title' | 'metadata'>[],
): NodeDefaults {
  const byPlugin = (part: string): Fields =>
    Object.fromEntries(
      plugins.flatMap(({ name, title, metadata }) => {
        const settings = partOf(metadata, part);
        if (Object.keys(settings).length === 0) return [];
        return [[name, { ...settings, metadata: { label: title, ...partOf(settings, 'metadata'), class: 'plugin' } }]];
      }),
    );
  return {
    node: plugins
      .map(({ metadata }) => partOf(metadata, 'node_attributes_metadata'))
      .reduce(mergeOver, partOf(release.metadata, 'node_attributes')),
    nic: { ...partOf(release.metadata, 'nic_attributes'), ...byPlugin('nic_attributes_metadata') },
    bond: { ...partOf(release.metadata, 'bond_attributes'), ...byPlugin('bond_attributes_metadata') },
  };
}

/** Interfaces with their attributes: defaults, and over them their own. */
export const withInterfaceDefaults = (interfaces: readonly unknown[], { nic, bond }: NodeDefaults): unknown[] =>
  interfaces.map((one) => {
    if (!isMapping(one)) return one;
    const attributes = mergeOver(one.type === 'bond' ? bond : nic, partOf(one, 'attributes'));
    return Object.keys(attributes).length === 0 ? one : { ...one, attributes };
  });

/** Interfaces or disks of a node: as users set them, else as they were found. */
export function partsOfNode(meta: Fields, part: 'interfaces' | 'disks'): readonly unknown[] {
  const assigned = meta[`assigned_${part}`] ?? meta[part];
  return Array.isArray(assigned) ? assigned : [];
}

const partOf = (of: Fields, part: string): Fields => (isMapping(of[part]) ? of[part] : {});
