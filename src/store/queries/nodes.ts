import { randomUUID } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import { hasSystem, isNewSystem } from '../../core/node-system.ts';
import { conflict, inUse, StoreError } from '../failure.ts';
import { InputCheck, storable } from '../input.ts';
import type { Session } from '../session.ts';
import type { Change, New, Row, Stored, Tables } from '../tables.ts';
import { matching } from './conditions.ts';
import { changedColumns, newRow, recordOf } from './conversion.ts';
import { deleteRow, holdRow, insertRow, listRows, lockRow, readRow, updateRow } from './identified-row.ts';
import { endMaintenance } from './maintenance.ts';
import { forgetMembership, forgetTaskStates, releaseNodes } from './node-release.ts';

/** A machine of the inventory, in a cluster or not. */
export type NodeRecord = Stored<'node'>;

type NewNode = New<'node'>;

/** An absent field keeps its value; a given list or mapping replaces the stored one. `assign` changes the cluster. */
export type NodeChange = Change<'node'>;

/** All given conditions must hold. An empty list matches nothing. */
export interface NodeFilter {
  readonly ids?: readonly number[];
  /** Null: nodes without a cluster. */
  readonly clusterId?: number | null;
  readonly site?: string | null;
  readonly groupId?: number | null;
  readonly statuses?: readonly string[];
  readonly online?: boolean;
  readonly hostnames?: readonly string[];
  readonly macs?: readonly string[];
  /** Matches roles and pending roles. */
  readonly roles?: readonly string[];
  /** For each name: has the label, with one of the values if any are given. */
  readonly labels?: Readonly<Record<string, readonly (string | null)[] | undefined>>;
}

/**
 * Inventory of machines. An unknown id is `not-found` for every call but `list`.
 *
 * Locks nodes in order of their ids, so that two changes cannot deadlock.
 */
export class NodeStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** @throws `conflict` when uuid, MAC, or hostname within the site are taken. */
  async create(node: NewNode): Promise<NodeRecord> {
    const now = new Date().toISOString();
    const check = new InputCheck();
    const { uuid = randomUUID(), timestamp = now } = node;
    // The default hostname contains the id, which is known only after the insert.
    const { hostname = uuid } = node;
    const row = newRow('node', check, node, { uuid, hostname, timestamp, createdAt: now, updatedAt: now });
    check.done();
    return this.#session.write(async (transaction) => {
      await assertUnused(transaction, row);
      const stored = await insertRow(transaction, 'node', row);
      if (node.hostname !== undefined) return recordOf('node', stored);
      const usual = `node-${stored.id}`;
      await assertUnused(transaction, { site: row.site, hostname: usual }, stored.id);
      return recordOf('node', await updateRow(transaction, 'node', stored.id, { hostname: usual }));
    });
  }

  get(id: number): Promise<NodeRecord> {
    return this.#session.read(async (db) => recordOf('node', await readRow(db, 'node', id)));
  }

  /** By id, ascending. */
  list(filter: NodeFilter = {}): Promise<readonly NodeRecord[]> {
    return this.#session.read((db) => listNodes(db, filter));
  }

  /** Names of a cluster's nodes by their ids. */
  names(clusterId: number): Promise<Readonly<Record<string, string>>> {
    return this.#session.read(async (db) => {
      const found = db.selectFrom('node').select(['id', 'name', 'hostname']).where('clusterId', '=', clusterId);
      const rows = await found.orderBy('id').execute();
      return Object.fromEntries(rows.map(({ id, name, hostname }) => [id, name || (hostname ?? String(id))]));
    });
  }

  async update(id: number, change: NodeChange): Promise<NodeRecord> {
    const [node] = await this.updateMany([{ id, change }]);
    return node as NodeRecord;
  }

  /** Several nodes, all or none; each id once. A node that is said to be bare, or newly installed, loses its task states. */
  async updateMany(
    changes: readonly { readonly id: number; readonly change: NodeChange }[],
  ): Promise<readonly NodeRecord[]> {
    const check = new InputCheck();
    const wanted = new Map<number, Partial<Row<'node'>>>();
    for (const [index, { id, change }] of changes.entries()) {
      const path = changes.length === 1 ? '' : `changes[${index}].`;
      if (wanted.has(id)) check.refuse(`${path}id`, `Node ${id} is named twice.`, 'Name it once with all its changes.');
      wanted.set(id, changedColumns('node', check, change, path));
    }
    check.done();
    return this.#session.write(async (transaction) => {
      const renewed = await renewedByCluster(transaction, wanted);
      const changed = new Map<number, NodeRecord>();
      for (const [id, columns] of [...wanted].sort(([one], [other]) => one - other)) {
        const present = await holdRow(transaction, 'node', id);
        const { uuid, mac, site = present.site, hostname = present.hostname } = columns;
        if ((uuid ?? mac ?? columns.site ?? columns.hostname) !== undefined) {
          await assertUnused(transaction, { uuid, mac, site, hostname }, id);
        }
        const updatedAt = new Date().toISOString();
        changed.set(id, recordOf('node', await updateRow(transaction, 'node', id, { ...columns, updatedAt })));
      }
      for (const [clusterId, ids] of renewed) await forgetTaskStates(transaction, clusterId, ids);
      return changes.map(({ id }) => changed.get(id) as NodeRecord);
    });
  }

  /**
   * Adds nodes to the cluster, all or none. A new node gets the roles as pending roles and is pending addition, unless
   * it has an operating system (`provisioned`, `ready`: MAAS deployed it, or it was registered so). A node of the
   * cluster gets the roles it lacks as pending roles, and loses none; its removal, if it is pending, is taken back.
   * @throws `conflict` with `users` when nodes belong to another cluster; `not-found` for the first unknown id.
   */
  async assign(
    clusterId: number,
    nodes: readonly { readonly id: number; readonly roles: readonly string[] }[],
  ): Promise<readonly NodeRecord[]> {
    const rolesOf = new Map<number, Set<string>>();
    for (const { id, roles } of nodes) {
      const known = rolesOf.get(id) ?? new Set();
      for (const role of roles) known.add(storable(role));
      rolesOf.set(id, known);
    }
    return this.#session.write(async (transaction) => {
      await lockRow(transaction, 'cluster', clusterId);
      const held: Row<'node'>[] = [];
      for (const id of [...rolesOf.keys()].sort((one, other) => one - other)) {
        held.push(await holdRow(transaction, 'node', id));
      }
      const elsewhere = held.filter((node) => node.clusterId !== null && node.clusterId !== clusterId);
      if (elsewhere.length > 0) {
        throw new StoreError({
          kind: 'conflict',
          users: elsewhere.map(({ id, name }) => ({ kind: 'node', id, name })),
          message: `Already in another cluster: ${elsewhere.map((node) => `node ${node.name ?? node.hostname ?? node.id} of cluster ${node.clusterId}`).join(', ')}.`,
          hint: 'Remove these nodes from their cluster first.',
        });
      }
      const updatedAt = new Date().toISOString();
      for (const node of held) {
        const { roles: has, pendingRoles } = recordOf('node', node);
        const isNew = node.clusterId === null;
        const pending = new Set([...pendingRoles, ...(rolesOf.get(node.id) ?? [])]);
        for (const role of has) pending.delete(role);
        await updateRow(transaction, 'node', node.id, {
          clusterId,
          pendingRoles: JSON.stringify([...pending]),
          pendingAddition: isNew ? (hasSystem(node) ? 0 : 1) : node.pendingAddition,
          pendingDeletion: 0,
          updatedAt,
        });
      }
      return readNodes(transaction, nodes);
    });
  }

  /**
   * Removes nodes from the cluster, all or none, with their roles, pending marks, tags, task states and primary tags.
   * Those with the operating system of a deployment become `provisioned`, all others and `erased` ones `discover`.
   * @throws `invalid` naming the nodes outside the cluster.
   */
  async unassign(
    clusterId: number,
    ids: readonly number[],
    options: { readonly erased?: boolean } = {},
  ): Promise<readonly NodeRecord[]> {
    const wanted = [...new Set(ids)].sort((one, other) => one - other);
    return this.#session.write(async (transaction) => {
      await lockRow(transaction, 'cluster', clusterId);
      const check = new InputCheck();
      for (const id of wanted) {
        const node = await holdRow(transaction, 'node', id);
        if (node.clusterId === clusterId) continue;
        check.refuse('ids', `Node ${id} is not in cluster ${clusterId}.`, 'Name nodes of this cluster only.');
      }
      check.done();
      await releaseNodes(transaction, clusterId, wanted, options.erased);
      return readNodes(
        transaction,
        wanted.map((id) => ({ id })),
      );
    });
  }

  /** Deletes the node. @throws `conflict` with `users` while it is in a cluster, unless `force`. */
  delete(id: number, options: { readonly force?: boolean } = {}): Promise<void> {
    return this.#session.write(async (transaction) => {
      const node = await holdRow(transaction, 'node', id);
      if (node.clusterId !== null) {
        const cluster = await readRow(transaction, 'cluster', node.clusterId);
        if (options.force !== true) {
          const users = [{ kind: 'cluster', id: cluster.id, name: cluster.name } as const];
          throw inUse(`The node "${node.name}" (${id})`, users, 'Remove it from the cluster first.');
        }
        await forgetMembership(transaction, node.clusterId, [id]);
      }
      await deleteRow(transaction, 'node', id);
      if (node.site === null) await endMaintenance(transaction, { site: '', node: String(id) });
    });
  }

  /** Number of nodes by whether their agents are recorded as online. */
  async countOnline(): Promise<{ readonly online: number; readonly offline: number }> {
    const rows = await this.#session.read((db) =>
      db
        .selectFrom('node')
        .select(({ fn }) => ['online', fn.countAll().as('count')])
        .groupBy('online')
        .execute(),
    );
    const countOf = (online: number): number => Number(rows.find((row) => row.online === online)?.count ?? 0);
    return { online: countOf(1), offline: countOf(0) };
  }
}

/** The nodes whose systems are new, by cluster. Locks the clusters, which come before their nodes. */
async function renewedByCluster(
  transaction: Transaction<Tables>,
  changes: ReadonlyMap<number, Partial<Row<'node'>>>,
): Promise<ReadonlyMap<number, readonly number[]>> {
  const ids = [...changes].flatMap(([id, { status }]) => (isNewSystem(status) ? [id] : []));
  if (ids.length === 0) return new Map();
  const byCluster = new Map<number, number[]>();
  for (const { id, clusterId } of await listRows(transaction, 'node', { id: ids }))
    if (clusterId !== null) byCluster.set(clusterId, [...(byCluster.get(clusterId) ?? []), id]);
  const ordered = [...byCluster].sort(([one], [other]) => one - other);
  for (const [clusterId] of ordered) await lockRow(transaction, 'cluster', clusterId);
  return new Map(ordered);
}

async function listNodes(db: Kysely<Tables>, filter: NodeFilter): Promise<NodeRecord[]> {
  const { ids, clusterId, groupId, site, statuses, hostnames, macs, online, roles, labels } = filter;
  if (roles?.length === 0) return [];
  const wanted = { id: ids, clusterId, groupId, site, status: statuses, hostname: hostnames, online };
  const mac = macs?.map((one) => one.toLowerCase());
  const query = matching(db.selectFrom('node').selectAll(), { ...wanted, mac });
  const rows = await query.orderBy('id').execute();
  const nodes = rows.map((row) => recordOf('node', row));
  return nodes.filter((node) => hasRole(node, roles) && hasLabels(node, labels));
}

const hasRole = (node: NodeRecord, roles: readonly string[] | undefined): boolean =>
  roles === undefined || roles.some((role) => node.roles.includes(role) || node.pendingRoles.includes(role));

const hasLabels = (node: NodeRecord, labels: NodeFilter['labels'] = {}): boolean =>
  Object.entries(labels).every(
    ([name, values]) =>
      Object.hasOwn(node.labels, name) && (values === undefined || values.includes(node.labels[name] ?? null)),
  );

/** Nodes in the requested order. */
async function readNodes(db: Kysely<Tables>, wanted: readonly { readonly id: number }[]): Promise<NodeRecord[]> {
  const nodes = await listNodes(db, { ids: wanted.map(({ id }) => id) });
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return wanted.map(({ id }) => byId.get(id) as NodeRecord);
}

interface UniqueValues {
  readonly uuid?: string | undefined;
  readonly mac?: string | null | undefined;
  readonly site: string | null;
  readonly hostname: string;
}

/** @throws StoreError of kind `conflict` naming the node that has one of the values */
async function assertUnused(transaction: Transaction<Tables>, values: UniqueValues, self = 0): Promise<void> {
  const { uuid, mac, site, hostname } = values;
  const other = await transaction
    .selectFrom('node')
    .select(['id', 'uuid', 'mac', 'site', 'hostname'])
    .where('id', '!=', self)
    .where((eb) =>
      eb.or([
        ...(uuid === undefined ? [] : [eb('uuid', '=', uuid)]),
        ...(mac == null ? [] : [eb('mac', '=', mac)]),
        ...(site === null ? [] : [eb.and([eb('site', '=', site), eb('hostname', '=', hostname)])]),
      ]),
    )
    .executeTakeFirst();
  if (other === undefined) return;
  const what =
    uuid !== undefined && other.uuid === uuid
      ? `UUID ${uuid}`
      : mac != null && other.mac === mac
        ? `MAC ${mac}`
        : `hostname "${hostname}" on the site "${site}"`;
  throw conflict(`Node ${other.id} has ${what} already.`, 'Change that node instead, or correct the value.');
}
