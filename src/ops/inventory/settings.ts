import type { ClusterDetails, Json, JsonObject, PluginRecord, ReleaseRecord } from '../../store/index.js';
import { type GeneratorContext, generateSettings } from './generate-settings.js';
import { isObject, mergeDeep, objectOf } from './json-object.js';

/** A plugin that fits a cluster, and whether it takes part. */
export interface LinkedPlugin {
  readonly plugin: PluginRecord;
  readonly enabled: boolean;
  /** Its settings in the cluster. */
  readonly attributes: JsonObject;
}

/** Groups that stand for plugins carry this class, as Fuel's clients look for. */
const PLUGIN_CLASS = 'plugin';

/**
 * A cluster's editable settings as people see them: its own groups, and one for each plugin that fits, whose
 * `metadata.enabled` says whether it takes part. Several versions of a plugin share a group, with the version chosen.
 */
export function showSettings(
  cluster: Pick<ClusterDetails, 'attributes'>,
  plugins: readonly LinkedPlugin[],
): JsonObject {
  return { ...objectOf(cluster.attributes.editable), ...pluginGroups(plugins) };
}

/** The settings its release would give the cluster now. */
export function defaultSettings(
  release: ReleaseRecord,
  plugins: readonly LinkedPlugin[],
  context: GeneratorContext,
): JsonObject {
  const { editable } = generateSettings(release.metadata.attributes_metadata, context);
  const untouched = plugins.map(({ plugin }) => ({ plugin, enabled: false, attributes: pluginDefaults(plugin) }));
  return { ...editable, ...pluginGroups(untouched) };
}

export interface SentSettings {
  /** Without groups of plugins. */
  readonly own: JsonObject;
  /** What becomes of each linked plugin whose group was sent. */
  readonly plugins: readonly LinkedPlugin[];
}

/** Settings as they are sent, parted again into the cluster's own and those of its plugins. */
export function partSettings(sent: JsonObject, linked: readonly LinkedPlugin[]): SentSettings {
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

/** Settings a plugin brings, from its `environment_config`. */
export function pluginDefaults({ metadata }: PluginRecord): JsonObject {
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
