import type { Diagnostic } from '../../core/diagnostic.js';
import type { JsonFields, NodeChange, NodeRecord, Store } from '../../store/index.js';
import { checkRoles } from './assignable-roles.js';
import type { NodeView } from './nodes.js';
import { finding, unchangeable } from './refuse.js';
import { roleCatalogue } from './role-catalogue.js';

/** What is sent of a node, by names of the wire; fields that cannot be changed may come back as they were shown. */
export interface NodeUpdate {
  readonly name?: string | undefined;
  readonly hostname?: string | undefined;
  readonly mac?: string | undefined;
  readonly ip?: string | null | undefined;
  readonly meta?: JsonFields | undefined;
  readonly labels?: Readonly<Record<string, string | null>> | undefined;
  readonly os_platform?: string | null | undefined;
  readonly manufacturer?: string | null | undefined;
  readonly platform_name?: string | null | undefined;
  readonly online?: boolean | undefined;
  readonly status?: string | undefined;
  readonly error_type?: string | null | undefined;
  readonly error_msg?: string | null | undefined;
  readonly progress?: number | undefined;
  readonly group_id?: number | null | undefined;
  readonly cluster?: number | null | undefined;
  /** The same as `cluster`. */
  readonly cluster_id?: number | null | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly pending_roles?: readonly string[] | undefined;
  readonly pending_addition?: boolean | undefined;
  readonly pending_deletion?: boolean | undefined;
  readonly [shown: string]: unknown;
}

export interface CheckedNodeChange {
  readonly node: NodeRecord;
  readonly errors: readonly Diagnostic[];
  /** The cluster the node is to be in; undefined: as it is. */
  readonly cluster: number | null | undefined;
  /** Roles to give it when it comes to a cluster. */
  readonly roles: readonly string[] | undefined;
  readonly change: NodeChange;
}

/** Wire name → field of the store, of what is taken as it is. */
const PLAIN = {
  name: 'name',
  hostname: 'hostname',
  ip: 'ip',
  meta: 'meta',
  labels: 'labels',
  os_platform: 'osPlatform',
  manufacturer: 'manufacturer',
  platform_name: 'platformName',
  online: 'online',
  status: 'status',
  error_type: 'errorType',
  error_msg: 'errorMsg',
  progress: 'progress',
  group_id: 'groupId',
  pending_addition: 'pendingAddition',
  pending_deletion: 'pendingDeletion',
} as const satisfies Readonly<Record<string, keyof NodeChange>>;

const READ_ONLY = [
  'id',
  'site',
  'uuid',
  'fqdn',
  'tags',
  'primary_tags',
  'network_data',
  'extensions',
  'agent_checksum',
  'kernel_params',
];

/** What an update asks of a node, with everything that speaks against it. Without a node: of one that is to be made. */
export async function checkNodeChange(
  store: Pick<Store, 'clusters' | 'releases' | 'plugins' | 'tags'>,
  view: NodeView | undefined,
  update: NodeUpdate,
  shown: Readonly<Record<string, unknown>>,
  at: string,
): Promise<CheckedNodeChange> {
  const node = view?.node as NodeRecord;
  const errors: Diagnostic[] = view === undefined ? [] : [...unchangeable(update, shown, READ_ONLY, at)];
  const refuse = (code: string, field: string, message: string, hint: string) =>
    errors.push(finding(code, `${at}.${field}`, message, hint));
  const change: Record<string, unknown> = {};
  for (const [wire, field] of Object.entries(PLAIN)) if (update[wire] !== undefined) change[field] = update[wire];
  if (update.mac !== undefined) change.mac = update.mac.toLowerCase().replaceAll('-', ':');

  const { cluster: named, cluster_id: id } = update;
  if (named !== undefined && id !== undefined && named !== id)
    refuse('node.cluster', 'cluster_id', 'cluster and cluster_id name two environments', 'Give one of the two.');
  const wanted = named === undefined ? id : named;
  const current = view === undefined ? null : node.clusterId;
  const target = wanted === undefined ? current : wanted;
  const moves = target !== current;
  if (moves && current !== null && target !== null) {
    refuse(
      'node.foreign',
      'cluster',
      `node ${node.id} is in environment ${current} already`,
      'Take it out there first: PUT with cluster null.',
    );
  }
  if (moves && target !== null && !(await store.clusters.list({ ids: [target] })).length)
    refuse('node.unknown-cluster', 'cluster', 'Cluster not found', `There is no environment ${target}.`);

  const roles = update.roles;
  const pending = update.pending_roles;
  const given = [...(roles ?? []), ...(pending ?? [])];
  if (given.length > 0 && target === null)
    refuse('node.unassigned', 'pending_roles', 'a node without environment has no roles', 'Give its cluster, too.');
  if (given.length > 0 && target !== null && errors.length === 0) {
    const catalogue = await roleCatalogue(store, target);
    const all = [...(roles ?? (moves ? [] : node.roles)), ...(pending ?? (moves ? [] : node.pendingRoles))];
    errors.push(
      ...checkRoles(all, catalogue.roles, `${at}.${pending === undefined ? 'roles' : 'pending_roles'}`, {
        cluster: target,
        node: node.id,
      }),
    );
  }
  if (!moves && target !== null) {
    if (roles !== undefined) change.roles = [...new Set(roles)];
    if (pending !== undefined) change.pendingRoles = [...new Set(pending)];
  }
  if (view !== undefined && update.hostname !== undefined && update.hostname !== node.hostname && isInstalled(node)) {
    refuse(
      'node.hostname',
      'hostname',
      `node ${node.id} has its system: its host name stays ${node.hostname}`,
      'Change it before it is provisioned; name can be changed at any time.',
    );
  }
  if (moves && target === null) {
    delete change.pendingAddition;
    delete change.pendingDeletion;
  }
  return { node, errors, cluster: moves ? target : undefined, roles: moves ? given : undefined, change };
}

/** Whether a system is on it, or being put on it, under its host name. */
const isInstalled = ({ status }: NodeRecord): boolean =>
  ['provisioning', 'provisioned', 'deploying', 'ready'].includes(status);
