/** Tags of a cluster: what roles give, which node is primary, and what tasks are matched against. Pure. */
export {
  type Catalogue,
  type CatalogueSources,
  catalogueOf,
  type OwnedTag,
  type RoleMetadata,
  type RolesAndTags,
  type RolesMetadata,
  rolesHolding,
  type TagMetadata,
  type TagOwner,
  type TagsMetadata,
  tagsOfRole,
} from './catalogue.js';
export { catalogueOfCluster, countingTags, tagsOfRoles } from './of-sources.js';
export { type PrimaryCandidate, type PrimaryChoice, withPrimaries } from './primary-tags.js';
export { type RoleChange, type TagsOfRoleChange, tagsOnRoleChange } from './role-change.js';
export { isInstanceTag, tagNameProblem } from './tag-name.js';
export { type ClusterNode, resolveTaggedNodes, type TaggedNodes, type TaggedNodesInput } from './tagged-nodes.js';
