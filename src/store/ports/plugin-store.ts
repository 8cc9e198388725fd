import type { JsonFields, JsonObject } from './page.js';

/** What extends clusters. */
export interface PluginRecord {
  readonly id: number;
  readonly name: string;
  /** With the name, unique. */
  readonly version: string;
  readonly title: string;
  /** Version of the package format, e.g. `5.0.0`. */
  readonly packageVersion: string;
  /** Everything else a plugin says: `releases`, `roles_metadata`, `tags_metadata`, `attributes_metadata`, `tasks` … */
  readonly metadata: JsonObject;
  readonly packageId: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface NewPlugin {
  readonly name: string;
  readonly version: string;
  /** The name when absent. */
  readonly title?: string;
  readonly packageVersion: string;
  readonly metadata?: JsonFields;
  readonly packageId?: number | null;
}

export type PluginChange = Partial<NewPlugin>;

/** A plugin that fits a cluster. It takes part in the cluster's graphs only while enabled. */
export interface ClusterPlugin {
  readonly clusterId: number;
  readonly pluginId: number;
  readonly enabled: boolean;
  /** Settings of the plugin in this cluster. */
  readonly attributes: JsonObject;
}

/** Plugins. An id that does not exist is `not-found` for every call but `list` and `find`. */
export interface PluginStore {
  /** @throws `conflict` when name and version are taken. */
  create(plugin: NewPlugin): Promise<PluginRecord>;
  get(id: number): Promise<PluginRecord>;
  find(name: string, version: string): Promise<PluginRecord | null>;
  /** By id, ascending. */
  list(filter?: { readonly ids?: readonly number[]; readonly packageId?: number }): Promise<readonly PluginRecord[]>;
  /** @throws `conflict` when the new name and version are taken. */
  update(id: number, change: PluginChange): Promise<PluginRecord>;
  /** Removes the plugin with its graphs and tags. @throws `conflict` with `users` while enabled in clusters. */
  delete(id: number): Promise<void>;

  /** Links the plugin to the cluster, or changes the link: absent fields stay; a new link is disabled. */
  link(
    clusterId: number,
    pluginId: number,
    change?: { readonly enabled?: boolean; readonly attributes?: JsonFields },
  ): Promise<ClusterPlugin>;
  /** False when there was no link. */
  unlink(clusterId: number, pluginId: number): Promise<boolean>;
  /** Plugins of a cluster by id, each with its link. */
  ofCluster(
    clusterId: number,
    filter?: { readonly enabled?: boolean },
  ): Promise<readonly { readonly plugin: PluginRecord; readonly link: ClusterPlugin }[]>;
}
