/** Tags, which assign tasks to nodes. */
import type { OpsDependencies } from '../dependencies.js';
import { inFuelTerms } from '../graphs/fuel-terms.js';
import { tagOperations as bare, type TagOperations } from './tag-operations.js';

export { tagExtensionsOf } from './load-tag-extensions.js';
export { withAllocatedTags } from './read-sources.js';
export type { TagExtension } from './tag-extension.js';
export type { TagOperations, TagUpload } from './tag-operations.js';

export const tagOperations = (deps: OpsDependencies): TagOperations => inFuelTerms(bare(deps));
