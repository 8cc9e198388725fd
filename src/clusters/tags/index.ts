/** Tags of a cluster: from roles, for primary nodes, and for matching tasks. Pure. */

export { isInstanceTag } from '../../graph/index.ts';
export {
  type Catalogue,
  catalogueOf,
  type RoleMetadata,
  type RolesMetadata,
  rolesHolding,
  type TagsMetadata,
  tagNameProblem,
  tagsOfRole,
} from './catalogue.ts';
export { allRoles, catalogueOfCluster, effectiveTags, tagsOfRoles } from './of-sources.ts';
export { withPrimaries } from './primary-tags.ts';
export { nodesBehindRoles, roleTagChanges, roleTagsAfter, tagsAfter, tagsOnRoleChange } from './role-tag-changes.ts';
export { type ClusterNode, resolveTaggedNodes, type TaggedNodesInput } from './tagged-nodes.ts';
