import { isMapping } from '../../core/data/plain-value.ts';
import { type ClusterState, type Fields, MASTER, SYNC, type TaggedNode } from '../../graph/index.ts';
import type { SavedStates } from '../../store/index.ts';
import { mergeOver } from '../merge-over.ts';
import { flattenSettings, valuesOf } from '../settings.ts';
import { type ClusterNode, type ClusterSources, uidOf } from '../sources.ts';
import { tagCluster } from '../tagged-cluster.ts';
import type { Catalogue } from '../tags/catalogue.ts';
import { catalogueOfCluster, effectiveTags, tagsOfRoles } from '../tags/of-sources.ts';
import { withPrimaries } from '../tags/primary-tags.ts';
import { COMMON_DATA, COMMON_FACTS } from './common-data.ts';
import { dataOf } from './data-key.ts';
import { NODE_DATA, NODE_FACTS, type NodeGiven } from './node-data.ts';
import { networksOfNode } from './node-networks.ts';
import { newestState } from './old-states.ts';

/** Values from the environment that expressions may read. */
export interface Surroundings {
  /** Address of the orchestrator's machine: `master_ip`, and {MASTER_IP} in fields. */
  readonly masterIp?: string;
}

/**
 * The data of a cluster for task expressions: common data, a part for each node, for `master` and for the sync
 * node, and facts beside this content. `docs/reference/expression-data.md` lists its keys. It has the shape of the
 * reference's deployment information, as far as the store has the data. Uploaded data overrides it, mapping by mapping;
 * uploaded `nodes` and `network_metadata` replace our substitutes.
 *
 * @param tagged the nodes of the run
 */
export function clusterState(
  sources: ClusterSources,
  tagged: readonly TaggedNode[],
  surroundings: Surroundings = {},
): Required<ClusterState> {
  const { cluster } = sources;
  const uploaded = cluster.deploymentInfo;
  const catalogue = catalogueOfCluster(sources);
  const tags = tagsForTasks(sources, tagged, catalogue);
  const parts = new Map<string, Fields>();
  const facts = new Map<string, Fields>();
  for (const node of sources.nodes) {
    const uid = uidOf(node);
    const given = {
      node,
      matching: tags.get(uid)!,
      tags: effectiveTags(node, sources, catalogue),
    };
    const content = mergeOver(
      nodeContent(
        {
          ...given,
          // A scheme that users gave is whole.
          networks: uploaded.nodes[uid]?.network_scheme === undefined ? networksOfNode(node, sources) : undefined,
        },
        uploaded.nodes[uid],
        catalogue,
      ),
      uploaded.nodes[uid] ?? {},
    );
    parts.set(uid, content);
    const { roles, ...rest } = dataOf(NODE_FACTS, { ...given, content });
    facts.set(uid, { ...rest, ...only(content, Object.keys(rest)), roles });
  }
  parts.set(MASTER, mergeOver({ roles: [MASTER], uid: MASTER }, uploaded.nodes[MASTER] ?? {}));
  parts.set(SYNC, uploaded.nodes[SYNC] ?? {});
  const staying = sources.nodes.filter((node) => !node.pendingDeletion);
  const computed = {
    ...flattenSettings(cluster.settings),
    ...dataOf(COMMON_DATA, { sources, staying, tags, masterIp: surroundings.masterIp }),
  };
  return {
    common: mergeOver(withoutSubstitutes(computed, uploaded.common), uploaded.common),
    nodes: Object.fromEntries(parts),
    facts: {
      common: dataOf(COMMON_FACTS, { sources }),
      nodes: Object.fromEntries(facts),
    },
  };
}

/** The facts of a node as filters of graphs see it. */
export function filterRow(sources: ClusterSources, node: ClusterNode): Fields {
  const given = { node, matching: [], tags: node.tags, content: {} };
  const { name, ip, fqdn, roles } = node;
  return { ...dataOf(NODE_FACTS, given), uid: uidOf(node), cluster: sources.cluster.id, name, ip, fqdn, roles };
}

/**
 * The two states of a cluster, with all its nodes, that expressions compare: the current one, and the one of the last
 * successful task (null before that). For trying out expressions.
 */
export function clusterStates(
  sources: ClusterSources,
  stored: SavedStates,
  surroundings: Surroundings = {},
): { readonly now: Required<ClusterState>; readonly before: Required<ClusterState> | null } {
  const tagged = tagCluster(
    sources,
    sources.nodes.map(({ id }) => id),
  );
  return { now: clusterState(sources, tagged.nodes, surroundings), before: newestState(stored) ?? null };
}

function nodeContent(given: NodeGiven, uploaded: Fields | undefined, catalogue: Catalogue): Fields {
  const { tags, ...data } = dataOf(NODE_DATA, given);
  const attributes = Object.entries(given.node.attributes)
    .map(([name, group]) => [name, withoutMetadata(valuesOf(group))] as const)
    .filter(([, group]) => isSet(group));
  // Uploaded data is complete without `tags`, unless tags were changed by hand later.
  const whole = uploaded !== undefined && isSameSet(given.tags, tagsOfRoles(given.node, catalogue));
  return { ...Object.fromEntries(attributes), ...data, ...(whole ? {} : { tags }) };
}

/**
 * Whether anything in a group of attributes is more than nothing. As in Fuel, tasks see a group such as `hugepages` only
 * when it is in use: one with nothing but zeros would be a change that is none.
 */
const isSet = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.values(value).some(isSet) : !NOTHING.has(value);

/** Parts of forms are not content. */
function withoutMetadata(group: unknown): unknown {
  if (!isMapping(group)) return group;
  const { metadata: _, ...values } = group;
  return values;
}

const NOTHING: ReadonlySet<unknown> = new Set([undefined, null, false, 0, '', '0']);

const only = (fields: Fields, keys: readonly string[]): Fields =>
  Object.fromEntries(keys.flatMap((key) => (Object.hasOwn(fields, key) ? [[key, fields[key]]] : [])));

const SUBSTITUTES = ['nodes', 'network_metadata'];

function withoutSubstitutes(common: Fields, uploaded: Fields): Fields {
  return Object.fromEntries(
    Object.entries(common).filter(([key]) => !(SUBSTITUTES.includes(key) && Object.hasOwn(uploaded, key))),
  );
}

/** The tags for matching tasks, by node, including nodes outside this run, so that every run sees the same. */
function tagsForTasks(
  sources: ClusterSources,
  tagged: readonly TaggedNode[],
  catalogue: Catalogue,
): ReadonlyMap<string, readonly string[]> {
  const tags = new Map(tagged.map((node) => [node.uid, node.tags]));
  for (const node of sources.nodes) {
    if (!tags.has(uidOf(node)))
      tags.set(uidOf(node), withPrimaries(effectiveTags(node, sources, catalogue), node.primaryTags));
  }
  return tags;
}

const isSameSet = (some: readonly string[], others: readonly string[]): boolean =>
  new Set([...some, ...others]).size === new Set(some).size && new Set(some).size === new Set(others).size;
