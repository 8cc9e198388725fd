import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import type { JsonObject, PluginRecord, ReleaseRecord, StorePorts } from '../../store/index.ts';
import { isObject, objectOf } from './json-object.ts';
import { finding } from './refuse.ts';

/** Settings that this program reads itself, in any group. */
const READ_HERE = ['tags_resolution_engine', 'propagate_task_deploy'];

/** The words of a cluster's tasks, and of conditions of its release and plugins: what they may read. */
export async function wordsOfReaders(
  store: Pick<StorePorts, 'graphs'>,
  cluster: number,
  release: ReleaseRecord,
  plugins: readonly PluginRecord[],
): Promise<ReadonlySet<string>> {
  const graphs = await Promise.all([
    store.graphs.list({ clusters: [cluster] }),
    store.graphs.list({ releases: [release.id] }),
    plugins.length === 0 ? [] : store.graphs.list({ plugins: plugins.map(({ id }) => id) }),
  ]);
  const tasks = textsIn(graphs.flat().map((graph) => [graph.tasks, graph.nodeFilter]));
  const { metadata, rolesMetadata, tagsMetadata } = release;
  const manifests = [metadata, rolesMetadata, tagsMetadata, ...plugins.map((plugin) => plugin.metadata)];
  // A restriction may be a key: `"settings:a.b.value == true": why`.
  const written = [...textsIn(manifests), ...keysIn(manifests)];
  const readers = [...tasks, ...written.filter(isExpression)];
  return new Set([...READ_HERE, ...readers.flatMap((text) => text.split(/[^\w-]+/))]);
}

/**
 * Names and labels of what a manifest declares read nothing. Its conditions do (`settings:storage.fsid.value`), and its
 * YAQL (`$.storage.fsid`).
 */
const isExpression = (text: string): boolean => text.includes('settings:') || text.includes('$');

/** Every text that is a value, at any depth. */
function textsIn(value: unknown): readonly string[] {
  const found: string[] = [];
  JSON.stringify(value, (_key, one: unknown) => {
    if (typeof one === 'string') found.push(one);
    return one;
  });
  return found;
}

/** Every key, at any depth. */
function keysIn(value: unknown): readonly string[] {
  const found: string[] = [];
  JSON.stringify(value, (key, one: unknown) => {
    found.push(key);
    return one;
  });
  return found;
}

/**
 * Sent settings that nobody would read: neither the release nor a plugin declares them, the cluster has not had them, and
 * no task names them or their group.
 *
 * @param cluster whose settings they are
 * @param known groups of declared or stored settings
 */
export function unreadSettings(
  cluster: number,
  sent: JsonObject,
  known: readonly JsonObject[],
  words: ReadonlySet<string>,
): readonly Diagnostic[] {
  const declared = new Map<string, Set<string>>();
  for (const groups of known) {
    for (const [group, settings] of Object.entries(groups)) {
      const names = declared.get(group) ?? new Set();
      for (const name of Object.keys(objectOf(settings))) names.add(name);
      declared.set(group, names);
    }
  }
  const all = [...declared].flatMap(([group, names]) => [...names].map((name) => `${group}.${name}`));
  return Object.entries(sent).flatMap(([group, settings]) => {
    if (!isObject(settings)) return [];
    const names = declared.get(group);
    // A task may read a group as a whole that no one declares; of a declared one it is known what is in it.
    if (names === undefined && words.has(group)) return [];
    return Object.keys(settings)
      .filter((name) => name !== 'metadata' && names?.has(name) !== true && !words.has(name))
      .map((name) => {
        const setting = `${group}.${name}`;
        const near = didYouMean(setting, all);
        return finding(
          'settings.unread',
          `body.editable.${setting}`,
          `nothing reads the setting ${setting}: no release or plugin of the cluster declares it, and no task names it; files that tasks run on nodes, such as Puppet manifests, are not searched`,
          `${near === undefined ? '' : `${near} `}If such a file reads it, keep it: 'sitewright cluster settings ${cluster} --set ${setting}=VALUE --force' (REST: ?force=1). Declared in the package, it needs no --force, and the form of the page shows it.`,
        );
      });
  });
}
