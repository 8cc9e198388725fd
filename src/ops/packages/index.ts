/** Installed packages: releases and plugins that came as one file. */
import type { OpsDependencies } from '../dependencies.js';
import { inFuelWords } from '../graphs/fuel-words.js';
import { packageOperations as bare, type PackageOperations } from './package-operations.js';

export type { InstalledPackage, PackageOperations, PackageView } from './package-operations.js';

export const packageOperations = (deps: OpsDependencies): PackageOperations => inFuelWords(bare(deps));
