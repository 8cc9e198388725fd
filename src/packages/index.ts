/**
 * Release and plugin packages: read one from a folder or an archive, load it into a data tree, check it,
 * build an archive of it, make a new one. Reading and writing the disk is in disk.ts; all else is pure.
 */
export { type ArchiveLimits, type ArchiveReading, DEFAULT_ARCHIVE_LIMITS } from './archive-content.js';
export { checkPackage, type PackageReport } from './check-package.js';
export { type JsonValue, toJson } from './data-node.js';
export {
  type BuiltArchive,
  PackageDiskError,
  readPackageArchive,
  readPackageFolder,
  writePackageArchive,
  writePackageFolder,
} from './disk.js';
export {
  type InstalledGraph,
  type InstalledRelease,
  type PackageInstallation,
  packageInstallation,
} from './installation.js';
export type { LoadedPackage } from './load-package.js';
export { type JsonObject, type PackageContents, packageContents } from './package-contents.js';
export type { FormatVersion, PackageFormat } from './package-format.js';
export { type PackageFile, type PackageTree, packageTree } from './package-tree.js';
export type { PackageDiagnostic } from './problems.js';
export { definedReleases, type ReleaseRecord } from './releases.js';
export { PACKAGE_NAME, packageTemplate, type TemplateKind } from './template.js';
