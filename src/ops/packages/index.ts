/** Installed packages: releases and plugins in one file. */
import type { OpsDependencies } from '../dependencies.ts';
import { inFuelTerms } from '../graphs/fuel-terms.ts';
import { packageOperations as bare, type PackageOperations } from './package-operations.ts';

export type { InstalledPackage, PackageOperations, PackageView } from './package-operations.ts';

export const packageOperations = (deps: OpsDependencies): PackageOperations => inFuelTerms(bare(deps));
export { withPackageSources } from './package-sources.ts';
