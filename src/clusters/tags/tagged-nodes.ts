import type { TaggedNode } from '../../graph/index.js';
import { type Catalogue, tagsOfRole } from './catalogue.js';
import { choosePrimaryTags, withPrimaries } from './primary-tags.js';

/** A node of a cluster, as far as tags go. */
export interface ClusterNode {
  readonly id: number;
  readonly status: string;
  readonly pendingDeletion: boolean;
  /** Roles it has and roles it is to get. */
  readonly roles: readonly string[];
  /** Tags assigned to it. */
  readonly tags: readonly string[];
  /** Tags it is primary for since an earlier run. */
  readonly primaryTags: readonly string[];
}

export interface TaggedNodesInput {
  /** Every node of the cluster. */
  readonly nodes: readonly ClusterNode[];
  /** Ids of the nodes of this run; default: all. */
  readonly run?: readonly number[];
  readonly catalogue: Pick<Catalogue, 'roles' | 'tags'>;
  /** The cluster's option "Tags resolution engine". Off: nodes have what their roles give, and nothing by hand. */
  readonly tagsEngine: boolean;
  /** Only clusters made for high availability have primary nodes. */
  readonly highAvailability: boolean;
}

export interface TaggedNodes {
  /** The nodes of the run, by id, ready for `planGraph`. */
  readonly nodes: readonly TaggedNode[];
  /** By node id, the tags each node of the cluster is primary for: to be stored, so that they stay. */
  readonly primaryTags: ReadonlyMap<number, readonly string[]>;
}

/**
 * What tasks are matched against: the tags of each node, with `primary-TAG` in place of a tag it is primary for, and
 * beside them its roles in the same form, for tasks of plugins that know no tags.
 */
export function resolveTaggedNodes(input: TaggedNodesInput): TaggedNodes {
  const { catalogue, tagsEngine, highAvailability } = input;
  const nodes = tagsEngine ? input.nodes : input.nodes.map((node) => ({ ...node, tags: tagsOfRoles(node, catalogue) }));
  const inRun = new Set(input.run ?? nodes.map(({ id }) => id));
  const withPrimary = [...catalogue.tags.values()]
    .filter(({ meta }) => meta.has_primary === true)
    .map(({ name }) => name);
  const choose = (candidates: readonly ClusterNode[], names: readonly string[]) =>
    highAvailability
      ? choosePrimaryTags({ nodes: candidates, run: [...inRun], tags: names })
      : new Map<number, string[]>();
  const primaryTags = choose(nodes, withPrimary);
  // A role is primary where its tag is, if that node has the role; so the two differ only where tags were moved by hand.
  const byRole = choose(
    nodes.map((node) => ({ ...node, tags: node.roles, primaryTags: primaryTags.get(node.id) ?? [] })),
    withPrimary.filter((name) => catalogue.roles.has(name)),
  );
  const tagged = nodes
    .filter(({ id }) => inRun.has(id))
    .sort((a, b) => a.id - b.id)
    .map(({ id, tags, roles }) => ({
      uid: String(id),
      tags: withPrimaries(tags, primaryTags.get(id) ?? []),
      roles: withPrimaries(roles, byRole.get(id) ?? []),
    }));
  return { nodes: tagged, primaryTags };
}

const tagsOfRoles = ({ roles }: ClusterNode, catalogue: Pick<Catalogue, 'roles'>): string[] => [
  ...new Set(roles.flatMap((role) => tagsOfRole(role, catalogue.roles.get(role)?.meta))),
];
