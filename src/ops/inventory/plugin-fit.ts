import type { JsonObject, PluginRecord } from '../../store/index.js';
import { isObject, textsOf } from './json-object.js';

/** The properties of a release or cluster that decide whether a plugin is compatible. */
export interface PluginTarget {
  readonly operatingSystem: string;
  /** For example `newton-10.0`. */
  readonly version: string;
  /** For example `ha_compact`; absent: any. */
  readonly mode?: string;
}

/** The releases that a plugin declares to extend. */
export const extendedReleases = ({ metadata }: PluginRecord): readonly JsonObject[] =>
  Array.isArray(metadata.releases) ? metadata.releases.filter(isObject) : [];

/**
 * Whether a plugin is compatible: it has the release's operating system, ignoring case, one of its modes is a prefix of
 * the cluster's mode, and both halves of its version (`mitaka-9.0`) are prefixes of the release's.
 */
export function pluginFits(plugin: PluginRecord, target: PluginTarget): boolean {
  return extendedReleases(plugin).some((one) => {
    const system = String(one.os ?? one.operating_system ?? '').toLowerCase();
    if (system !== target.operatingSystem.toLowerCase()) return false;
    const modes = textsOf(one.mode);
    if (target.mode !== undefined && modes.length > 0 && !modes.some((mode) => target.mode!.startsWith(mode)))
      return false;
    const [name = '', number = ''] = String(one.version ?? '').split('-');
    const [ownName = '', ownNumber = ''] = target.version.split('-');
    return ownName.startsWith(name) && ownNumber.startsWith(number);
  });
}
