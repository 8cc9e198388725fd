/**
 * Release and plugin packages: read one from a folder or an archive, load it into a data tree, check it,
 * archive it, make a new one. Only disk.ts and repository-index.ts access the disk; all else is pure.
 */
export { type ArchiveLimits, DEFAULT_ARCHIVE_LIMITS } from './archive-content.ts';
export { baseRelease } from './base-release.ts';
export { checkPackage, type PackageReport } from './check-package.ts';
export { toJson } from './data-node.ts';
export {
  PackageDiskError,
  readPackageArchive,
  readPackageFolder,
  writePackageArchive,
  writePackageFolder,
} from './disk.ts';
export { type PackageInstallation, packageInstallation } from './installation.ts';
export { eachWithNodeFiles, manifestOf, withNodeFiles } from './node-files.ts';
export { packageContents } from './package-contents.ts';
export { type PackageTree, packageTree } from './package-tree.ts';
export type { PackageDiagnostic } from './problems.ts';
export { definedReleases } from './releases.ts';
export {
  hasPreBuildHook,
  indexRepositories,
  repositoriesOf,
  repositoriesWithoutIndex,
  runPreBuildHook,
} from './repository-index.ts';
export { PACKAGE_NAME, packageTemplate } from './template.ts';
