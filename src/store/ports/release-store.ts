import type { JsonFields, JsonObject } from './page.js';

/** What clusters are built of. */
export interface ReleaseRecord {
  readonly id: number;
  readonly name: string;
  /** With the name, unique. */
  readonly version: string;
  readonly operatingSystem: string;
  readonly description: string;
  /** `available`, `unavailable` or `manageonly`. */
  readonly state: string;
  readonly isDeployable: boolean;
  /** Role name -> its properties (`name`, `tags`, `limits` …). */
  readonly rolesMetadata: JsonObject;
  /** Tag name -> its properties (`has_primary` …), as the release brought them. */
  readonly tagsMetadata: JsonObject;
  /** Everything else a release says: `volumes_metadata`, `networks_metadata`, `attributes_metadata`, `modes` … */
  readonly metadata: JsonObject;
  /** The package it came in; null for one made by hand. */
  readonly packageId: number | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface NewRelease {
  readonly name: string;
  readonly version: string;
  /** Empty when absent. */
  readonly operatingSystem?: string;
  readonly description?: string;
  /** `available` when absent. */
  readonly state?: string;
  /** True when absent. */
  readonly isDeployable?: boolean;
  readonly rolesMetadata?: JsonFields;
  readonly tagsMetadata?: JsonFields;
  readonly metadata?: JsonFields;
  readonly packageId?: number | null;
}

/** An absent field stays as it is; a mapping given replaces the stored one as a whole. */
export type ReleaseChange = Partial<NewRelease>;

/** Releases. An id that does not exist is `not-found` for every call but `list` and `find`. */
export interface ReleaseStore {
  /** With an empty graph of type `default`. @throws `conflict` when name and version are taken. */
  create(release: NewRelease): Promise<ReleaseRecord>;
  get(id: number): Promise<ReleaseRecord>;
  find(name: string, version: string): Promise<ReleaseRecord | null>;
  /** By id, ascending. */
  list(filter?: { readonly ids?: readonly number[]; readonly packageId?: number }): Promise<readonly ReleaseRecord[]>;
  /** @throws `conflict` when the new name and version are taken. */
  update(id: number, change: ReleaseChange): Promise<ReleaseRecord>;
  /**
   * Removes the release with its graphs, sequences and tags.
   * @throws `conflict` with `users` while clusters are built of it, or wait to be.
   */
  delete(id: number): Promise<void>;
}
