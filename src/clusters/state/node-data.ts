import { isMapping } from '../../core/data/plain-value.ts';
import type { Fields } from '../../graph/index.ts';
import { type ClusterNode, uidOf } from '../sources.ts';
import { allRoles } from '../tags/of-sources.ts';
import { identityOf } from './common-data.ts';
import { ALWAYS_EMPTY, type DataKeys } from './data-key.ts';
import type { NodeNetworks } from './node-networks.ts';

/** Sources of the data of a node. */
export interface NodeGiven {
  readonly node: ClusterNode;
  /** Its tags for matching tasks, with `primary-TAG` where it is primary. */
  readonly matching: readonly string[];
  readonly tags: readonly string[];
  readonly networks: NodeNetworks | undefined;
}

/** Content of a node's own data. The groups of its attributes are next to these keys, with values only. */
export const NODE_DATA: DataKeys<NodeGiven> = {
  uid: { holds: 'id of the node as text', origin: 'the node', value: ({ node }) => uidOf(node) },
  fqdn: { holds: 'full host name', origin: 'the hardware report, else the host name', value: identity('fqdn') },
  user_node_name: { holds: 'the name users gave it', origin: 'the node', value: identity('user_node_name') },
  ip: { holds: 'its address', origin: 'the node, if known', value: ({ node }) => node.ip ?? undefined },
  roles: {
    holds: 'its tags for matching tasks, `primary-TAG` instead of a tag for which it is primary',
    origin: 'the tags of the node, or of its roles',
    value: ({ matching }) => matching,
  },
  tags: { holds: 'its tags', origin: 'the tags of the node, or of its roles', value: ({ tags }) => tags },
  configuration: {
    holds: 'OpenStack configuration, by file: `nova_config` …; empty without such facts',
    origin: 'the facts that users gave, if any',
    value: () => ({}),
  },
  network_scheme: {
    holds: '`interfaces`, `endpoints` with `IP` and `gateway`, `roles` of networks, no `transformations`',
    origin: 'MAAS, once it has deployed the node',
    value: ({ networks }) => networks?.scheme,
  },
  configuration_options: ALWAYS_EMPTY,
};

function identity(key: 'fqdn' | 'user_node_name') {
  return ({ node }: NodeGiven) => identityOf(node)[key];
}

/** Sources of a fact of a node: its own data, including uploaded data. */
interface NodeFactGiven extends Omit<NodeGiven, 'networks'> {
  readonly content: Fields;
}

const STORED = 'the node';

/** Facts of a node: read by name on `$` and on its rows in `$.nodes`, without being content. */
export const NODE_FACTS: DataKeys<NodeFactGiven> = {
  id: { holds: 'id of the node as number', origin: STORED, value: ({ node }) => node.id },
  hostname: { holds: 'host name', origin: STORED, value: ({ node }) => node.hostname },
  status: {
    holds: '`discover`, `provisioned`, `ready`, `error`, `stopped` …, before the run',
    origin: STORED,
    value: ({ node }) => node.status,
  },
  online: { holds: 'whether it answers', origin: STORED, value: ({ node }) => node.online },
  pending_addition: {
    holds: 'whether it is new in the cluster and not deployed yet',
    origin: STORED,
    value: ({ node }) => node.pendingAddition,
  },
  pending_deletion: {
    holds: 'whether it is to be removed',
    origin: STORED,
    value: ({ node }) => node.pendingDeletion,
  },
  pending_roles: { holds: 'roles it will have after this run', origin: STORED, value: ({ node }) => node.pendingRoles },
  error_type: { holds: 'what failed last, or null', origin: STORED, value: ({ node }) => node.errorType },
  roles: {
    holds: 'only on rows: its roles, pending ones too, and its tags for matching tasks',
    origin: STORED,
    value: ({ node, content }) => union(allRoles(node), content.roles),
  },
  all_roles: { holds: 'its roles, pending ones too', origin: STORED, value: ({ node }) => allRoles(node) },
  primary_tags: { holds: 'tags for which it is primary', origin: STORED, value: ({ node }) => node.primaryTags },
  tags: { holds: 'its tags, also where users gave its data', origin: STORED, value: ({ tags }) => tags },
  labels: { holds: 'its labels, by name', origin: STORED, value: ({ node }) => node.labels },
  label: {
    holds: 'equals each name, each value and each `name: value` of its labels: `$.label = testing`',
    origin: 'its labels',
    value: ({ node }) => textsOf(node.labels),
  },
  attributes: {
    holds: 'its attributes in their stored groups: `$.attributes.GROUP.NAME.value`',
    origin: STORED,
    value: ({ node }) => node.attributes,
  },
  attribute: {
    holds: 'equals each name, each value and each `name: value` of its attributes: `$.attribute = r1`',
    origin: 'its attributes',
    value: ({ node }) => textsOf(settingsOf(node.attributes)),
  },
  interfaces: {
    holds: 'its interfaces, each with its `attributes` in their stored groups',
    origin: 'the interfaces users set, else those found; attributes of the release and plugins under its own',
    value: ({ node }) => node.interfaces,
  },
  disks: { holds: 'its disks', origin: 'the disks users set, else those found', value: ({ node }) => node.disks },
  provision: {
    holds: 'its provisioning facts: `$.provision.kernel_options` …',
    origin: 'the provisioning facts that users gave, if any',
    value: ({ node }) => node.provision,
  },
  configs: {
    holds:
      '`$.configuration` by service: `$.configs.nova` and `$.configs.nova_config`; empty for a service without any',
    origin: 'as `$.configuration`',
    value: ({ content }) => byService(content.configuration),
  },
};

/** Under the names of its files, and under the services' own: `nova_config` and `nova`. */
function byService(configuration: unknown): Fields {
  const files = isMapping(configuration) ? configuration : {};
  const services = Object.entries(files).flatMap(([name, file]) =>
    name.endsWith('_config') ? [[name.slice(0, -'_config'.length), file]] : [],
  );
  return { ...Object.fromEntries(services), ...files };
}

const union = (some: readonly string[], others: unknown): readonly unknown[] => [
  ...new Set([...some, ...(Array.isArray(others) ? others : [])]),
];

/** Names, values and `name: value` of a mapping, of simple values. */
function textsOf(values: Fields): readonly string[] {
  const texts = Object.entries(values).flatMap(([name, value]) => {
    const simple = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    return simple && value !== '' ? [name, String(value), `${name}: ${value}`] : [name];
  });
  return [...new Set(texts)].sort();
}

/** The settings in groups of attributes by their names, and attributes without a group. */
function settingsOf(attributes: Fields): Fields {
  const found = Object.entries(attributes).flatMap(([name, one]): (readonly [string, unknown])[] => {
    if (!isMapping(one)) return [[name, one]];
    if (Object.hasOwn(one, 'value')) return [[name, one.value]];
    return Object.entries(one)
      .filter(([key]) => key !== 'metadata')
      .map(([key, setting]) => [key, isMapping(setting) && Object.hasOwn(setting, 'value') ? setting.value : setting]);
  });
  return Object.fromEntries(found);
}
