/**
 * Release and plugin packages: read one from a folder or an archive, load it into a data tree, check it,
 * archive it, make a new one. Only disk.ts and repository-index.ts access the disk; all else is pure.
 */
export { type ArchiveLimits, DEFAULT_ARCHIVE_LIMITS } from './archive-content.js';
export { baseRelease } from './base-release.js';
export { checkPackage, type PackageReport } from './check-package.js';
export { toJson } from './data-node.js';
export {
  PackageDiskError,
  readPackageArchive,
  readPackageFolder,
  writePackageArchive,
  writePackageFolder,
} from './disk.js';
export { type PackageInstallation, packageInstallation } from './installation.js';
export { eachWithNodeFiles, manifestOf, withNodeFiles } from './node-files.js';
export { packageContents } from './package-contents.js';
export { type PackageTree, packageTree } from './package-tree.js';
export type { PackageDiagnostic } from './problems.js';
export { definedReleases } from './releases.js';
export {
  hasPreBuildHook,
  indexRepositories,
  repositoriesOf,
  repositoriesWithoutIndex,
  runPreBuildHook,
} from './repository-index.js';
export { PACKAGE_NAME, packageTemplate } from './template.js';
