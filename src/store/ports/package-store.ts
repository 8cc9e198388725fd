import type { New, Stored } from '../tables.js';

/** A package that is installed, without its archive. */
export type PackageRecord = Stored<'package'>;

export type NewPackage = New<'package'> & { readonly archive: Uint8Array };

/** Installed packages. An id that does not exist is `not-found`. */
export interface PackageStore {
  /** Stores the package, in place of one of the same name and version. The checksum is worked out here. */
  put(pack: NewPackage): Promise<{ readonly package: PackageRecord; readonly created: boolean }>;
  get(id: number): Promise<PackageRecord>;
  find(name: string, version: string): Promise<PackageRecord | null>;
  /** By id, ascending. */
  list(): Promise<readonly PackageRecord[]>;
  /** @throws `corrupt` when its checksum is not the one recorded. */
  readArchive(id: number): Promise<Uint8Array>;
  /** What was made of it. */
  contents(id: number): Promise<{ readonly releaseIds: readonly number[]; readonly pluginIds: readonly number[] }>;
  /**
   * Removes the package with its releases and plugins.
   * @throws `conflict` with `users` while clusters use any of them; nothing is removed then.
   */
  delete(id: number): Promise<void>;
}
