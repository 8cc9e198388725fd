import type { JsonObject, PluginRecord } from '../../store/index.js';
import { isObject, textsOf } from './json-object.js';

/** What of a release, and of a cluster of it, decides whether a plugin fits. */
export interface PluginTarget {
  readonly operatingSystem: string;
  /** As `newton-10.0`. */
  readonly version: string;
  /** As `ha_compact`; absent: any. */
  readonly mode?: string;
}

/** The releases a plugin says it extends. */
export const extendedReleases = ({ metadata }: PluginRecord): readonly JsonObject[] =>
  Array.isArray(metadata.releases) ? metadata.releases.filter(isObject) : [];

/**
 * Whether a plugin fits: its system is the release's in any letter case, one of its modes begins the cluster's, and
 * both halves of its version (`mitaka-9.0`) begin those of the release.
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
