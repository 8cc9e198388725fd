/** Tags, which assign tasks to nodes. */
import type { OpsDependencies } from '../dependencies.ts';
import { inFuelTerms } from '../graphs/fuel-terms.ts';
import { tagOperations as bare } from './tag-operations.ts';

export { tagExtensionsOf } from './load-tag-extensions.ts';
export { withAllocatedTags } from './read-sources.ts';
export type { TagExtension } from './tag-extension.ts';
export type { TagUpload } from './tag-operations.ts';

export const tagOperations = (deps: OpsDependencies) => inFuelTerms(bare(deps));
