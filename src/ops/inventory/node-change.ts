import type { MaintenanceNote } from '../../core/maintenance.ts';
import { calledText } from '../../core/names.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { camelCase, type SnakeCase } from '../../core/text/casing.ts';
import type { NodeChange, NodeRecord, Store } from '../../store/index.ts';
import { checkRoles } from './assignable-roles.ts';
import { finding, unchangeable } from './refuse.ts';
import { roleCatalogue } from './role-catalogue.ts';

/** A node with the tags it has in its cluster. */
export interface NodeView {
  readonly node: NodeRecord;
  readonly tags: readonly string[];
  readonly primaryTags: readonly string[];
  /** People work on it: runs leave it out. */
  readonly maintenance?: MaintenanceNote;
}

/**
 * A change of a node: the store's fields under their wire names, passed through unless this file has a rule for them.
 * Read-only fields may be sent back unchanged. The contract decides which fields a client may send.
 */
export type NodeUpdate = {
  readonly [Field in keyof NodeChange as SnakeCase<Field>]?: NodeChange[Field] | undefined;
} & {
  readonly mac?: string | undefined;
  readonly cluster?: number | null | undefined;
  /** Alias of `cluster`. */
  readonly cluster_id?: number | null | undefined;
  readonly [shown: string]: unknown;
};

export interface CheckedNodeChange {
  readonly node: NodeRecord;
  readonly errors: readonly Diagnostic[];
  /** The node's new cluster; undefined: no change. */
  readonly cluster: number | null | undefined;
  /** Roles to give it when it joins a cluster. */
  readonly roles: readonly string[] | undefined;
  readonly change: NodeChange;
}

/** Fields with their own rules, below. */
const RULED: readonly string[] = ['cluster', 'cluster_id', 'roles', 'pending_roles'];

const READ_ONLY: readonly string[] = [
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
  'maintenance',
];

/** Checks an update of a node and collects all errors. Without a node: of a new one. */
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
  for (const [wire, value] of Object.entries(update))
    if (value !== undefined && !RULED.includes(wire) && !READ_ONLY.includes(wire)) change[camelCase(wire)] = value;

  const { cluster: named, cluster_id: id } = update;
  if (named !== undefined && id !== undefined && named !== id)
    refuse(
      'node.cluster',
      'cluster_id',
      'cluster and cluster_id name different environments',
      'Give only one of them.',
    );
  const wanted = named === undefined ? id : named;
  const current = view === undefined ? null : node.clusterId;
  const target = wanted === undefined ? current : wanted;
  const moves = target !== current;
  if (moves && current !== null && target !== null) {
    refuse(
      'node.foreign',
      'cluster',
      `${calledText('node', node)} is in ${await clusterText(store, current)} already`,
      'Remove it there first: PUT with cluster null.',
    );
  }
  if (moves && target !== null && !(await store.clusters.list({ ids: [target] })).length)
    refuse('node.unknown-cluster', 'cluster', 'Cluster not found', `There is no environment ${target}.`);

  const roles = update.roles;
  const pending = update.pending_roles;
  const given = [...(roles ?? []), ...(pending ?? [])];
  if (given.length > 0 && target === null)
    refuse('node.unassigned', 'pending_roles', 'a node without an environment has no roles', 'Set its cluster too.');
  if (given.length > 0 && target !== null && errors.length === 0) {
    const catalogue = await roleCatalogue(store, target);
    const all = [...(roles ?? (moves ? [] : node.roles)), ...(pending ?? (moves ? [] : node.pendingRoles))];
    errors.push(
      ...checkRoles(
        all,
        catalogue.roles,
        `${at}.${pending === undefined ? 'roles' : 'pending_roles'}`,
        `${calledText('node', node)} in ${await clusterText(store, target)}`,
      ),
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
      `${calledText('node', node)} has an operating system: its host name stays ${node.hostname}`,
      'Change the host name before provisioning; the name can change at any time.',
    );
  }
  if (moves && target === null) {
    delete change.pendingAddition;
    delete change.pendingDeletion;
  }
  return { node, errors, cluster: moves ? target : undefined, roles: moves ? given : undefined, change };
}

const clusterText = async (store: Pick<Store, 'clusters'>, id: number): Promise<string> =>
  calledText('cluster', await store.clusters.brief(id));

/** Whether an operating system with its host name is installed or being installed. */
const isInstalled = ({ status }: NodeRecord): boolean =>
  ['provisioning', 'provisioned', 'deploying', 'ready'].includes(status);
