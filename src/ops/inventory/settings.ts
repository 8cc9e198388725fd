import type { ClusterDetails, Json, JsonObject, PluginRecord, ReleaseRecord, StorePorts } from '../../store/index.ts';
import { type GeneratorContext, generateSettings, withGenerated } from './generate-settings.ts';
import { isObject, mergeDeep, objectOf } from './json-object.ts';

/** A plugin that is compatible with a cluster, and whether it is enabled. */
export interface LinkedPlugin {
  readonly plugin: PluginRecord;
  readonly enabled: boolean;
  /** Its settings in the cluster. */
  readonly attributes: JsonObject;
}

/** The plugins that are compatible with a cluster. */
export async function linkedPlugins(
  { plugins }: Pick<StorePorts, 'plugins'>,
  cluster: number,
): Promise<readonly LinkedPlugin[]> {
  const all = await plugins.ofCluster(cluster);
  return all.map(({ plugin, link }) => ({ plugin, enabled: link.enabled, attributes: link.attributes }));
}

/** Who made the settings that a cluster had before their first change. */
export const AS_CREATED = 'as created';

/** Fuel's clients recognize the groups of plugins by this class. */
const PLUGIN_CLASS = 'plugin';

/**
 * A cluster's editable settings for users: its own groups, and one for each compatible plugin, with `metadata.enabled`.
 * Versions of a plugin share a group that names the chosen one.
 */
export function showSettings(
  cluster: Pick<ClusterDetails, 'attributes'>,
  plugins: readonly LinkedPlugin[],
): JsonObject {
  return { ...objectOf(cluster.attributes.editable), ...pluginGroups(plugins) };
}

/** The current default settings of the cluster's release. */
export function defaultSettings(
  release: ReleaseRecord,
  plugins: readonly LinkedPlugin[],
  context: GeneratorContext,
): JsonObject {
  const { editable } = generateSettings(release.metadata.attributes_metadata, context);
  const defaults = plugins.map(({ plugin }) => ({
    plugin,
    enabled: false,
    attributes: pluginDefaults(plugin, context),
  }));
  return { ...editable, ...pluginGroups(defaults) };
}

interface SentSettings {
  /** Without plugin groups. */
  readonly own: JsonObject;
  /** The new state of each linked plugin whose group was sent. */
  readonly plugins: readonly LinkedPlugin[];
}

/** Splits sent settings into the cluster's own and those of its plugins. */
export function splitSettings(sent: JsonObject, linked: readonly LinkedPlugin[]): SentSettings {
  const names = new Set(linked.map(({ plugin }) => plugin.name));
  const own = Object.fromEntries(Object.entries(sent).filter(([group]) => !names.has(group)));
  const plugins = linked.flatMap((one): LinkedPlugin[] => {
    const group = sent[one.plugin.name];
    if (!isObject(group)) return [];
    const { metadata: given, ...settings } = group;
    const metadata = objectOf(given);
    const versions = linked.filter(({ plugin }) => plugin.name === one.plugin.name);
    const chosen = Number(metadata.chosen_id ?? (versions.find(({ enabled }) => enabled) ?? versions[0])?.plugin.id);
    const isChosen = chosen === one.plugin.id;
    const attributes = isChosen ? mergeDeep(one.attributes, settings) : one.attributes;
    return [{ plugin: one.plugin, enabled: isChosen && metadata.enabled === true, attributes }];
  });
  return { own, plugins };
}

/** Default settings of a plugin, from its `environment_config`, with generated values. */
export const pluginDefaults = (plugin: PluginRecord, context: GeneratorContext): JsonObject =>
  withGenerated(declaredByPlugin(plugin), context);

/** The same before values are generated. */
export function declaredByPlugin({ metadata }: PluginRecord): JsonObject {
  const attributes = objectOf(metadata.attributes_metadata);
  return isObject(attributes.attributes) ? attributes.attributes : attributes;
}

function pluginGroups(plugins: readonly LinkedPlugin[]): JsonObject {
  const names = [...new Set(plugins.map(({ plugin }) => plugin.name))];
  return Object.fromEntries(
    names.map((name) => [name, pluginGroup(plugins.filter(({ plugin }) => plugin.name === name))]),
  );
}

function pluginGroup(versions: readonly LinkedPlugin[]): Json {
  const shown = versions.find(({ enabled }) => enabled) ?? versions[versions.length - 1]!;
  const { metadata, ...settings } = shown.attributes;
  return {
    ...settings,
    metadata: {
      label: shown.plugin.title,
      toggleable: true,
      weight: 70,
      ...objectOf(metadata),
      class: PLUGIN_CLASS,
      enabled: shown.enabled,
      plugin_id: shown.plugin.id,
      chosen_id: shown.plugin.id,
      versions: versions.map(({ plugin }) => ({ metadata: { plugin_id: plugin.id, plugin_version: plugin.version } })),
    },
  };
}
