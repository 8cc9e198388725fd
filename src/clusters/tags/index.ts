/** Tags of a cluster: from roles, for primary nodes, and for matching tasks. Pure. */

export { isInstanceTag } from '../../graph/index.js';
export {
  type Catalogue,
  catalogueOf,
  type RoleMetadata,
  type RolesMetadata,
  rolesHolding,
  type TagsMetadata,
  tagsOfRole,
} from './catalogue.js';
export { allRoles, catalogueOfCluster, effectiveTags, tagsOfRoles } from './of-sources.js';
export { withPrimaries } from './primary-tags.js';
export { tagsOnRoleChange } from './role-change.js';
export { type RoleTagChange, roleTagChanges, roleTagsAfter, tagsAfter } from './role-tag-changes.js';
export { tagNameProblem } from './tag-name.js';
export { type ClusterNode, resolveTaggedNodes, type TaggedNodesInput } from './tagged-nodes.js';
