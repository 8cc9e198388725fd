import type { ClusterNode, ClusterSources, StoredLayer } from '../../../src/clusters/sources.ts';
import { type Fields, normaliseTask } from '../../../src/graph/index.ts';
import { type Json, recorded } from '../graph/recorded.ts';

/** Roles and tags of the release the recorded clusters were made with. */
export const RELEASE_ROLES: Fields = {
  controller: { name: 'Controller', tags: ['controller', 'rabbitmq', 'database', 'keystone', 'neutron'] },
  compute: { name: 'Compute', tags: ['compute'] },
  'ceph-osd': { name: 'Ceph OSD', tags: ['ceph-osd'] },
};

export const RELEASE_TAGS: Fields = Object.fromEntries(
  ['controller', 'rabbitmq', 'database', 'keystone', 'neutron'].map((tag) => [tag, { has_primary: true }]),
);

export const node = (id: number, roles: readonly string[], more: Partial<ClusterNode> = {}): ClusterNode => ({
  id,
  name: `node-${id - 7}`,
  hostname: `node-${id}`,
  fqdn: null,
  ip: null,
  status: 'provisioned',
  online: true,
  pendingAddition: false,
  pendingDeletion: false,
  errorType: null,
  roles,
  pendingRoles: [],
  tags: [],
  primaryTags: [],
  attributes: {},
  labels: {},
  ...more,
});

/** The recorded cluster of six nodes as rows of a store, its data uploaded. */
export function sixNodes(more: Partial<ClusterSources['cluster']> = {}): ClusterSources {
  const { deployment_info } = recorded('cluster.six.json') as Json;
  return {
    cluster: {
      id: 3,
      name: 'six',
      mode: 'ha_compact',
      status: 'new',
      site: null,
      settings: { editable: {}, generated: {} },
      networks: {},
      primaries: {},
      anyChoices: {},
      roles: {},
      tags: {},
      placesByTags: false,
      deploymentInfo: deployment_info,
      ...more,
    },
    release: {
      id: 1,
      name: 'Newton',
      operatingSystem: 'Ubuntu',
      version: 'newton-10.0',
      roles: RELEASE_ROLES,
      tags: RELEASE_TAGS,
    },
    plugins: [],
    nodes: [
      ...[8, 9, 10].map((id) => node(id, ['controller'])),
      ...[11, 12].map((id) => node(id, ['compute'])),
      node(13, ['ceph-osd']),
    ],
  };
}

export const layer = (
  name: StoredLayer['layer'],
  tasks: readonly Fields[],
  more: Partial<StoredLayer> = {},
): StoredLayer => ({
  layer: name,
  nodeFilter: null,
  onSuccess: null,
  onError: null,
  onStop: null,
  tasks: tasks.map((task) => normaliseTask(task)),
  ...more,
});
