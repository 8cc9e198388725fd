import type { TaggedNode } from '../../graph/index.ts';
import { type Catalogue, tagsOfRole } from './catalogue.ts';
import { choosePrimaryTags, withPrimaries } from './primary-tags.ts';

/** A node of a cluster, for its tags. */
export interface ClusterNode {
  readonly id: number;
  readonly status: string;
  readonly pendingDeletion: boolean;
  /** Current and pending roles. */
  readonly roles: readonly string[];
  /** Tags assigned to it. */
  readonly tags: readonly string[];
  /** Tags for which it has been the primary node since an earlier run. */
  readonly primaryTags: readonly string[];
}

export interface TaggedNodesInput {
  /** Every node of the cluster. */
  readonly nodes: readonly ClusterNode[];
  /** Ids of the nodes of this run; default: all. */
  readonly run?: readonly number[];
  readonly catalogue: Pick<Catalogue, 'roles' | 'tags'>;
  /** The cluster's setting "Tags resolution engine". Off: nodes have only the tags of their roles. */
  readonly tagsEngine: boolean;
  /** Only high-availability clusters have primary nodes. */
  readonly highAvailability: boolean;
}

interface TaggedNodes {
  /** The nodes of the run, by id, ready for `planGraph`. */
  readonly nodes: readonly TaggedNode[];
  /** By node id, the tags for which each node of the cluster is primary: to store, so that they stay. */
  readonly primaryTags: ReadonlyMap<number, readonly string[]>;
}

/**
 * The names for matching tasks: the tags of each node, with `primary-TAG` for a tag for which it is primary, and its
 * roles in the same form, for tasks of plugins that do not know tags.
 */
export function resolveTaggedNodes(input: TaggedNodesInput): TaggedNodes {
  const { catalogue, tagsEngine, highAvailability } = input;
  const nodes = input.nodes.map((node) => ({
    ...node,
    // A role's name is a tag of its nodes, whatever tags they have (docs/explain/design.md#spec-3, "implicit role name tag").
    tags: tagsEngine ? [...new Set([...node.tags, ...node.roles])] : tagsOfRoles(node, catalogue),
  }));
  const inRun = new Set(input.run ?? nodes.map(({ id }) => id));
  const withPrimary = [...catalogue.tags.values()]
    .filter(({ meta }) => meta.has_primary === true)
    .map(({ name }) => name);
  const choose = (candidates: readonly ClusterNode[], names: readonly string[]) =>
    highAvailability
      ? choosePrimaryTags({ nodes: candidates, run: [...inRun], tags: names })
      : new Map<number, string[]>();
  const primaryTags = choose(nodes, withPrimary);
  // A role is primary on the node where its tag is, if that node has the role. So they differ only after manual changes
  // of tags.
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
