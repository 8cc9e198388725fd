import { normaliseTask } from '../src/graph/index.ts';
import type { Store } from '../src/store/index.ts';
import { RELEASE_ROLES, RELEASE_TAGS } from '../test/unit/clusters/six-nodes.ts';
import { clusterOf, type Json, recorded } from './recorded-cluster.ts';

/** The graph type under which the recorded library is stored. */
export const LIBRARY = 'default';

/** A stored cluster with the recorded library. */
export interface StoredCluster {
  readonly id: number;
  readonly site: string;
  /** Names of the nodes, as agents have them, and their ids. */
  readonly nodes: readonly string[];
  readonly ids: readonly number[];
}

/**
 * Stores the recorded cluster with this number of nodes and the recorded library as a cluster of an installation, with the
 * recorded data as uploaded. Tasks of the host of the workers are left out: this is their host.
 */
export async function storeRecordedCluster(store: Store, site: string, count: number): Promise<StoredCluster> {
  const { deployment_info, resolver } = clusterOf(count);
  const release = await store.releases.create({
    name: 'recorded',
    version: 'newton-10.0',
    operatingSystem: 'Ubuntu',
    rolesMetadata: RELEASE_ROLES,
    tagsMetadata: RELEASE_TAGS,
  });
  const cluster = await store.clusters.create({ name: 'recorded', releaseId: release.id, site });
  await store.sites.create({ name: site });
  const idOf = new Map<string, number>();
  const names: string[] = [];
  const assigned: { id: number; roles: string[] }[] = [];
  for (const [at, { uid, roles }] of (resolver as Json[]).entries()) {
    const mac = `52:54:00:00:${hex(at >> 8)}:${hex(at & 255)}`;
    const name = `node-${uid}`;
    const { id } = await store.nodes.create({ name, hostname: name, site, mac, status: 'provisioned' });
    idOf.set(uid, id);
    names.push(name);
    assigned.push({ id, roles });
  }
  await store.nodes.assign(cluster.id, assigned);
  await store.clusters.update(cluster.id, { deploymentInfo: withIds(deployment_info, idOf) as never });
  const tasks = (recorded('tasks.normalized.json') as Json[]).filter(({ role, roles = role }) => !isOfWorker(roles));
  const normalised = tasks.map((task) => normaliseTask(task));
  await store.graphs.put({ kind: 'release', id: release.id }, LIBRARY, { tasks: normalised as never });
  return { id: cluster.id, site, nodes: names, ids: assigned.map(({ id }) => id) };
}

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');

const isOfWorker = (roles: unknown): boolean => [roles].flat().includes('master');

/** The recorded data under the ids that the nodes have in the store. */
function withIds({ common, nodes }: Json, idOf: ReadonlyMap<string, number>): Json {
  const renamed = (one: Json): Json => ({ ...one, uid: String(idOf.get(String(one.uid))) });
  const { network_metadata, nodes: listed } = common as Json;
  const known = Object.entries<Json>(network_metadata.nodes).filter(([, { uid }]) => idOf.has(String(uid)));
  return {
    common: {
      ...common,
      nodes: (listed as Json[]).filter(({ uid }) => idOf.has(String(uid))).map(renamed),
      network_metadata: {
        ...network_metadata,
        nodes: Object.fromEntries(known.map(([name, one]) => [name, renamed(one)])),
      },
    },
    nodes: Object.fromEntries(
      Object.entries<Json>(nodes).flatMap(([uid, data]) => {
        const id = idOf.get(uid);
        return id === undefined ? [] : [[String(id), renamed({ uid, ...data })]];
      }),
    ),
  };
}
