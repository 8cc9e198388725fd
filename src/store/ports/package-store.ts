import type { New, Stored } from '../tables.ts';

/** A package that is installed, without its archive. */
export type PackageRecord = Stored<'package'>;

export type NewPackage = New<'package'> & { readonly archive: Uint8Array };

/** Installed packages. An unknown id is `not-found`. */
export interface PackageStore {
  /** Stores the package, replacing one of the same name and version. Computes the checksum. */
  put(pack: NewPackage): Promise<{ readonly package: PackageRecord; readonly created: boolean }>;
  get(id: number): Promise<PackageRecord>;
  find(name: string, version: string): Promise<PackageRecord | null>;
  /** By id, ascending. */
  list(): Promise<readonly PackageRecord[]>;
  /** @throws `corrupt` when its checksum differs from the recorded one. */
  readArchive(id: number): Promise<Uint8Array>;
  /**
   * Removes the package with its releases and plugins.
   * @throws `conflict` with `users` while clusters use any of them; then nothing is removed.
   */
  delete(id: number): Promise<void>;
}
