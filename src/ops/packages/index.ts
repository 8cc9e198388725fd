/** Installed packages: releases and plugins in one file. */
import type { OpsDependencies } from '../dependencies.js';
import { inFuelTerms } from '../graphs/fuel-terms.js';
import { packageOperations as bare, type PackageOperations } from './package-operations.js';

export type { InstalledPackage, PackageOperations, PackageView } from './package-operations.js';

export const packageOperations = (deps: OpsDependencies): PackageOperations => inFuelTerms(bare(deps));
export { withPackageSources } from './package-sources.js';
