import { calledText } from '../../core/names.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import type { NodeRecord, Store } from '../../store/index.ts';
import { Service } from '../service.ts';
import { tagAllocator } from '../tags/tag-extension.ts';
import { checkRoles } from './assignable-roles.ts';
import { refuseWhileBusy } from './busy-cluster.ts';
import { finding, refuseIfAny } from './refuse.ts';
import { roleCatalogue } from './role-catalogue.ts';
import { allRoles, changeTags, tagsChange } from './role-tags.ts';

interface RoleAssignment {
  readonly id: number;
  readonly roles: readonly string[];
}

export class AssignmentOperations extends Service {
  readonly #allocate = tagAllocator(this.deps);

  /** Adds nodes to a cluster with roles, all or none; the roles bring their tags. One whose removal is pending stays. */
  async assign(clusterId: number, nodes: readonly RoleAssignment[], actor: string): Promise<readonly NodeRecord[]> {
    const catalogue = await roleCatalogue(this.store, clusterId);
    const cluster = await this.store.clusters.brief(clusterId);
    const records = await this.store.nodes.list({ ids: nodes.map(({ id }) => id) });
    const byId = new Map(records.map((node) => [node.id, node]));
    const homes = await clustersNamed(this.store, records);
    const here = calledText('cluster', cluster);
    refuseIfAny([
      ...repeated(nodes.map(({ id }) => id)),
      ...nodes.flatMap(({ id, roles }, index): readonly Diagnostic[] => {
        const node = byId.get(id);
        if (node === undefined) return [unknownNode(id, index)];
        const at = `body[${index}]`;
        if (node.clusterId !== null && node.clusterId !== clusterId) {
          return [
            finding(
              'node.foreign',
              `${at}.id`,
              `${calledText('node', node)} is in ${homes.get(node.clusterId)} already`,
              `Remove it there first: POST /api/v1/clusters/${node.clusterId}/unassignment.`,
            ),
          ];
        }
        if (cluster.site !== null && node.site !== null && node.site !== cluster.site) {
          return [
            finding(
              'node.other-site',
              `${at}.id`,
              `${calledText('node', node)} belongs to site ${node.site}, ${here} to site ${cluster.site}`,
              `Choose nodes of site ${cluster.site}.`,
            ),
          ];
        }
        const had = node.clusterId === clusterId ? allRoles(node) : [];
        const twice = roles.filter((role, at_) => roles.indexOf(role) !== at_);
        return [
          ...checkRoles([...had, ...roles], catalogue.roles, `${at}.roles`, `${calledText('node', node)} in ${here}`),
          ...(twice.length === 0
            ? []
            : [finding('role.repeated', `${at}.roles`, `${twice.join(', ')} is repeated`, 'Name each role once.')]),
        ];
      }),
    ]);
    await refuseWhileBusy(this.store, clusterId, 'nodes cannot be added');
    const changes = nodes.map(({ id, roles }) => {
      const node = byId.get(id)!;
      const before = node.clusterId === clusterId ? allRoles(node) : [];
      return { node: id, before, after: [...new Set([...before, ...roles])] };
    });
    const tags = await tagsChange(clusterId, catalogue, changes, this.#allocate);
    const assigned = await this.store.atomically(async (within) => {
      const given = await within.nodes.assign(clusterId, nodes);
      await changeTags(within, tags);
      return given;
    });
    await this.audit(actor, 'cluster.assign', `cluster/${clusterId}`, { nodes });
    return assigned;
  }
  /** Removes nodes, all or none: immediately if nothing is deployed on them, otherwise with the next deployment. */
  async unassign(clusterId: number, ids: readonly number[], actor: string): Promise<readonly NodeRecord[]> {
    const here = calledText('cluster', await this.store.clusters.brief(clusterId));
    const records = await this.store.nodes.list({ ids });
    const homes = await clustersNamed(this.store, records);
    const byId = new Map(records.map((node) => [node.id, node]));
    refuseIfAny([
      ...repeated(ids),
      ...ids.flatMap((id, index): readonly Diagnostic[] => {
        const node = byId.get(id);
        if (node === undefined) return [unknownNode(id, index)];
        if (node.clusterId === clusterId) return [];
        const where = node.clusterId === null ? 'it is in none' : `it is in ${homes.get(node.clusterId)}`;
        return [
          finding(
            'node.foreign',
            `body[${index}].id`,
            `${calledText('node', node)} is not in ${here}`,
            `Nothing to do: ${where}.`,
          ),
        ];
      }),
    ]);
    await refuseWhileBusy(this.store, clusterId, 'nodes cannot be removed');
    const deployed = records.filter(isDeployed);
    const plain = records.filter((node) => !isDeployed(node));
    await this.store.atomically(async (within) => {
      const free = plain.map(({ id }) => id);
      if (free.length > 0) await within.nodes.unassign(clusterId, free);
      await within.nodes.updateMany(deployed.map(({ id }) => ({ id, change: { pendingDeletion: true } })));
    });
    await this.audit(actor, 'cluster.unassign', `cluster/${clusterId}`, {
      nodes: plain.map(({ id }) => id),
      pending_deletion: deployed.map(({ id }) => id),
    });
    return this.store.nodes.list({ ids });
  }
}

/** The clusters of nodes, as messages call them. */
async function clustersNamed(store: Store, nodes: readonly NodeRecord[]): Promise<ReadonlyMap<number, string>> {
  const ids = [...new Set(nodes.flatMap(({ clusterId }) => clusterId ?? []))];
  if (ids.length === 0) return new Map();
  return new Map((await store.clusters.list({ ids })).map((one) => [one.id, calledText('cluster', one)]));
}

/** Whether removing the node must undo a deployment. */
const isDeployed = ({ pendingAddition, status, errorType }: NodeRecord): boolean =>
  !pendingAddition && status !== 'discover' && errorType !== 'provision';

const unknownNode = (id: number, index: number): Diagnostic =>
  finding('node.unknown', `body[${index}].id`, `there is no node ${id}`, 'GET /api/v1/nodes lists all nodes.');

const repeated = (ids: readonly number[]): readonly Diagnostic[] =>
  ids.flatMap((id, index) =>
    ids.indexOf(id) === index
      ? []
      : [finding('node.repeated', `body[${index}].id`, `node ${id} is repeated`, 'Name each node once.')],
  );
