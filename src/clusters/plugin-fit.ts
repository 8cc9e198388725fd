import { isMapping } from '../core/data/plain-value.ts';
import type { JsonObject, PluginRecord } from '../store/index.ts';

/** The properties of a release or cluster that decide whether a plugin is compatible. */
export interface PluginTarget {
  readonly operatingSystem: string;
  /** For example `newton-10.0`. */
  readonly version: string;
  /** For example `ha_compact`; absent: any. */
  readonly mode?: string;
}

const isObject = (value: unknown): value is JsonObject => isMapping(value);

/** The releases that a plugin declares to extend. */
export const extendedReleases = ({ metadata }: Pick<PluginRecord, 'metadata'>): readonly JsonObject[] =>
  Array.isArray(metadata.releases) ? metadata.releases.filter(isObject) : [];

/**
 * The record of a plugin that is compatible: it has the release's operating system, ignoring case, one of its modes is
 * a prefix of the cluster's mode, and both halves of its version (`mitaka-9.0`) are prefixes of the release's.
 */
export function fittingRecord(plugin: Pick<PluginRecord, 'metadata'>, target: PluginTarget): JsonObject | undefined {
  return extendedReleases(plugin).find((one) => {
    const system = String(one.os ?? one.operating_system ?? '').toLowerCase();
    if (system !== target.operatingSystem.toLowerCase()) return false;
    const modes = [one.mode].flat().filter((mode) => typeof mode === 'string');
    if (target.mode !== undefined && modes.length > 0 && !modes.some((mode) => target.mode!.startsWith(mode)))
      return false;
    const [name = '', number = ''] = String(one.version ?? '').split('-');
    const [ownName = '', ownNumber = ''] = target.version.split('-');
    return ownName.startsWith(name) && ownNumber.startsWith(number);
  });
}

export const pluginFits = (plugin: PluginRecord, target: PluginTarget): boolean =>
  fittingRecord(plugin, target) !== undefined;
