import type { Change, New, Stored } from '../tables.ts';
import type { JsonFields } from './page.ts';

/** What extends clusters. */
export type PluginRecord = Stored<'plugin'>;

export type NewPlugin = New<'plugin'>;

type PluginChange = Change<'plugin'>;

/** A plugin that is compatible with a cluster. It contributes to the cluster's graphs only while enabled. */
export type ClusterPlugin = Stored<'clusterPlugin'>;

/** Plugins. An unknown id is `not-found` for every call but `list` and `find`. */
export interface PluginStore {
  /** @throws `conflict` when name and version are taken. */
  create(plugin: NewPlugin): Promise<PluginRecord>;
  get(id: number): Promise<PluginRecord>;
  find(name: string, version: string): Promise<PluginRecord | null>;
  /** By id, ascending. */
  list(filter?: { readonly ids?: readonly number[]; readonly packageId?: number }): Promise<readonly PluginRecord[]>;
  /** @throws `conflict` when the new name and version are taken. */
  update(id: number, change: PluginChange): Promise<PluginRecord>;
  /** Removes the plugin with its graphs and tags. @throws `conflict` with `users` while clusters have it enabled. */
  delete(id: number): Promise<void>;

  /** Links the plugin to the cluster, or changes the link. Absent fields keep their values; a new link is disabled. */
  link(
    clusterId: number,
    pluginId: number,
    change?: { readonly enabled?: boolean; readonly attributes?: JsonFields },
  ): Promise<ClusterPlugin>;
  /** Plugins of a cluster by id, each with its link. */
  ofCluster(
    clusterId: number,
    filter?: { readonly enabled?: boolean },
  ): Promise<readonly { readonly plugin: PluginRecord; readonly link: ClusterPlugin }[]>;
}
