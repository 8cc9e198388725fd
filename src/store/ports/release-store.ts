import type { Change, New, Stored } from '../tables.ts';

/** What clusters are built from. */
export type ReleaseRecord = Stored<'release'>;

export type NewRelease = New<'release'>;

/** An absent field keeps its value; a given mapping replaces the stored one as a whole. */
type ReleaseChange = Change<'release'>;

/** Releases. An unknown id is `not-found` for every call but `list` and `find`. */
export interface ReleaseStore {
  /** Also creates an empty graph of type `default`. @throws `conflict` when name and version are taken. */
  create(release: NewRelease): Promise<ReleaseRecord>;
  get(id: number): Promise<ReleaseRecord>;
  find(name: string, version: string): Promise<ReleaseRecord | null>;
  /** By id, ascending. */
  list(filter?: { readonly ids?: readonly number[]; readonly packageId?: number }): Promise<readonly ReleaseRecord[]>;
  /** @throws `conflict` when the new name and version are taken. */
  update(id: number, change: ReleaseChange): Promise<ReleaseRecord>;
  /**
   * Removes the release with its graphs, sequences and tags.
   * @throws `conflict` with `users` while clusters use it or are pending to.
   */
  delete(id: number): Promise<void>;
}
