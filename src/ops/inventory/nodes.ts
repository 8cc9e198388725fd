import { maintenanceOf, noteOf } from '../../clusters/maintenance.ts';
import { mergeOver } from '../../clusters/merge-over.ts';
import { type NodeDefaults, nodeDefaults, partsOfNode, withInterfaceDefaults } from '../../clusters/node-defaults.ts';
import { isNameAlone } from '../../clusters/site-machines.ts';
import { given } from '../../core/data/given.ts';
import { calledText } from '../../core/names.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import type { Json, JsonFields, NodeFilter, NodeRecord } from '../../store/index.ts';
import { problem } from '../problem.ts';
import { Service } from '../service.ts';
import { tagAllocator } from '../tags/tag-extension.ts';
import { refuseWhileBusy } from './busy-cluster.ts';
import { objectOf } from './json-object.ts';
import { type CheckedNodeChange, checkNodeChange, type NodeUpdate, type NodeView } from './node-change.ts';
import { finding, refuseIfAny } from './refuse.ts';
import { roleCatalogue } from './role-catalogue.ts';
import { allRoles, changeTags, type RolesChanged, type TagsChange, tagsChange } from './role-tags.ts';

/** The parts of a node with their own lists. */
type NodePart = 'interfaces' | 'disks';

export class InventoryNodeOperations extends Service {
  readonly #allocate = tagAllocator(this.deps);
  readonly #view = async (node: NodeRecord): Promise<NodeView> => (await this.#views([node]))[0]!;
  readonly #shownAttributes = async (node: NodeRecord): Promise<JsonFields> =>
    mergeOver((await this.#defaultsOf(node)).node, node.attributes);

  async list(filter: NodeFilter = {}): Promise<readonly NodeView[]> {
    return this.#views(await this.store.nodes.list(filter));
  }
  async get(id: number): Promise<NodeView> {
    return this.#view(await this.store.nodes.get(id));
  }
  async register(registration: NodeUpdate, actor: string): Promise<NodeView> {
    const { mac, hostname, name, site } = registration;
    const errors: Diagnostic[] = [];
    if (mac === undefined && hostname === undefined && name === undefined) {
      errors.push(
        finding('node.nameless', 'body.mac', 'No mac address specified, nor name', 'Give mac, hostname or name.'),
      );
    }
    if (site != null && !(await this.store.sites.list()).some((one) => one.name === site))
      errors.push(finding('node.unknown-site', 'body.site', `there is no site '${site}'`, 'Create the site first.'));
    refuseIfAny(errors);
    const entered = await this.#nameAlone(registration);
    const taken = await this.#takenNames([{ ...given({ node: entered }), update: registration, at: 'body' }]);
    if (taken.length > 0)
      throw problem('conflict', taken.map(({ message }) => message).join('; '), {
        errors: taken,
        hint: taken[0]!.hint!,
      });
    const { cluster: _cluster, cluster_id: _clusterId, roles: _roles, pending_roles: _pending, ...own } = registration;
    const wantsCluster = (registration.cluster ?? registration.cluster_id ?? null) !== null;
    if (wantsCluster || (registration.pending_roles ?? registration.roles ?? []).length > 0) {
      refuseIfAny([
        finding(
          'node.assigned-early',
          'body.cluster',
          'a new node cannot be in a cluster yet',
          'Register it first; then POST /api/v1/clusters/ID/assignment.',
        ),
      ]);
    }
    const { change } = await checkNodeChange(this.store, undefined, own, {}, 'body');
    const node = entered
      ? await this.store.nodes.update(entered.id, change)
      : await this.store.nodes.create({
          ...change,
          name: name ?? hostname ?? `Untitled (${mac!.replaceAll(/[:-]/g, '').slice(-4).toLowerCase()})`,
          ...given({ site }),
        });
    await this.audit(actor, 'node.register', `node/${node.id}`, { name: node.name });
    return this.#view(node);
  }
  /** `shown`: a node's current wire form, to detect changes. */
  async update(id: number, update: NodeUpdate, shown: (view: NodeView) => object, actor: string): Promise<NodeView> {
    const before = await this.#view(await this.store.nodes.get(id));
    return (await this.#apply([{ before, update, at: 'body' }], shown, actor))[0]!;
  }
  async updateMany(
    updates: readonly (NodeUpdate & { readonly id: number })[],
    shown: (view: NodeView) => object,
    actor: string,
  ): Promise<readonly NodeView[]> {
    const before = new Map(
      (await this.#views(await this.store.nodes.list({ ids: updates.map(({ id }) => id) }))).map((one) => [
        one.node.id,
        one,
      ]),
    );
    refuseIfAny(
      updates.flatMap(({ id }, index) => {
        if (!before.has(id))
          return [
            finding(
              'node.unknown',
              `body[${index}].id`,
              `there is no node ${id}`,
              'GET /api/v1/nodes lists all nodes.',
            ),
          ];
        if (updates.findIndex((one) => one.id === id) === index) return [];
        return [finding('node.repeated', `body[${index}].id`, `node ${id} is repeated`, 'Name each node once.')];
      }),
    );
    return this.#apply(
      updates.map((update, index) => ({ before: before.get(update.id)!, update, at: `body[${index}]` })),
      shown,
      actor,
    );
  }
  /** Deletes nodes, all or none. `force`: deployed ones too. */
  async delete(ids: readonly number[], force: boolean, actor: string): Promise<void> {
    const records = await this.store.nodes.list({ ids });
    const unknown = ids.filter((id) => !records.some((node) => node.id === id));
    if (unknown.length > 0) {
      throw problem('not-found', ids.length === 1 ? 'Node not found' : `Nodes not found: ${unknown.join(', ')}`, {
        hint: `There is no node ${unknown.join(', ')}: GET /api/v1/nodes lists all nodes. Nothing was deleted.`,
      });
    }
    for (const clusterId of new Set(records.map((node) => node.clusterId))) {
      if (clusterId === null) continue;
      await refuseWhileBusy(this.store, clusterId, 'its nodes cannot be deleted');
    }
    const deployed = force ? [] : records.filter(({ clusterId, status }) => clusterId !== null && status === 'ready');
    if (deployed.length > 0) {
      const ids = [...new Set(deployed.flatMap(({ clusterId }) => clusterId ?? []))];
      const homes = new Map(
        (await this.store.clusters.list({ ids })).map((one) => [one.id, calledText('cluster', one)]),
      );
      const names = deployed.map((node) => `${calledText('node', node)} of ${homes.get(node.clusterId!)}`).join(', ');
      throw problem('conflict', `deployed nodes cannot be deleted: ${names}`, {
        hint: 'Remove them from the environment first, or add --force (API: force=1). Nothing was deleted.',
      });
    }
    for (const { id, name } of records) {
      await this.store.nodes.delete(id, { force: true });
      await this.audit(actor, 'node.delete', `node/${id}`, { name });
    }
  }
  /** Its settings over the defaults of release and plugins. */
  async attributes(id: number): Promise<JsonFields> {
    const node = await this.store.nodes.get(id);
    return this.#shownAttributes(node);
  }
  async replaceAttributes(id: number, attributes: JsonFields, merge: boolean, actor: string): Promise<JsonFields> {
    const node = await this.store.nodes.get(id);
    const groups = Object.entries(attributes).map(([group, sent]) =>
      merge ? [group, { ...objectOf(node.attributes[group]), ...objectOf(sent) }] : [group, sent],
    );
    const changed = await this.store.nodes.update(id, {
      attributes: { ...(merge ? node.attributes : {}), ...Object.fromEntries(groups) },
    });
    await this.audit(actor, 'node.update', `node/${id}`, { fields: ['attributes'] });
    return this.#shownAttributes(changed);
  }
  /** The assigned part, else the discovered one; `discovered` returns only the latter. */
  async part(id: number, part: NodePart, discovered: boolean = false): Promise<readonly unknown[]> {
    const node = await this.store.nodes.get(id);
    return discovered ? listOf(node.meta[part]) : this.#shownPart(node, part);
  }
  /** @throws `conflict` for a node whose machine MAAS manages */
  async replacePart(id: number, part: NodePart, value: readonly unknown[], actor: string): Promise<readonly unknown[]> {
    const node = await this.store.nodes.get(id);
    if (node.site !== null) {
      throw problem(
        'conflict',
        `the ${part} of ${calledText('node', node)} are those of its machine in MAAS: they cannot be set here`,
        {
          hint: `Describe them in the documents of site ${node.site} (${part === 'disks' ? 'storage' : 'interfaces'} of the node or its host profile), commit and deploy. Only nodes without a site have their ${part} here.`,
        },
      );
    }
    const changed = await this.store.nodes.update(id, { meta: { ...node.meta, [`assigned_${part}`]: value } });
    await this.audit(actor, 'node.update', `node/${id}`, { fields: [part] });
    return this.#shownPart(changed, part);
  }

  /** Adds tags, with one request per cluster. */
  async #views(nodes: readonly NodeRecord[]): Promise<readonly NodeView[]> {
    const tags = new Map<number, Set<string>>();
    const primaries = new Map<number, string[]>();
    const sites = new Map<number | null, { readonly id: number; readonly site: string | null }>();
    const clusters = [...new Set(nodes.flatMap(({ clusterId }) => (clusterId === null ? [] : [clusterId])))];
    for (const id of clusters) {
      const ids = nodes.filter(({ clusterId }) => clusterId === id).map((node) => node.id);
      const [cluster, assignments] = await Promise.all([
        this.store.clusters.get(id),
        this.store.tags.assignments(id, { nodeIds: ids }),
      ]);
      sites.set(id, cluster);
      for (const { nodeId, tag } of assignments) tags.set(nodeId, (tags.get(nodeId) ?? new Set<string>()).add(tag));
      for (const [tag, node] of Object.entries(cluster.primaries))
        primaries.set(node, [...(primaries.get(node) ?? []), tag]);
    }
    const kept = await this.store.nodeMaintenance.list();
    return nodes.map((node) => ({
      node,
      tags: [...(tags.get(node.id) ?? [])].sort(),
      primaryTags: (primaries.get(node.id) ?? []).sort(),
      ...given({
        maintenance: noteOf(maintenanceOf(kept, { cluster: sites.get(node.clusterId) ?? null, nodes }, node)),
      }),
    }));
  }

  /** Attributes of a node from the release and plugins of its cluster. */
  async #defaultsOf({ clusterId }: NodeRecord): Promise<NodeDefaults> {
    if (clusterId === null) return { node: {}, nic: {}, bond: {} };
    const { releaseId } = await this.store.clusters.brief(clusterId);
    const plugins = await this.store.plugins.ofCluster(clusterId, { enabled: true });
    return nodeDefaults(
      await this.store.releases.get(releaseId),
      plugins.map(({ plugin }) => plugin),
    );
  }

  async #shownPart(node: NodeRecord, part: NodePart): Promise<readonly unknown[]> {
    const found = partsOfNode(node.meta, part);
    return part === 'interfaces' ? withInterfaceDefaults(found, await this.#defaultsOf(node)) : found;
  }

  async #apply(
    updates: readonly { readonly before: NodeView; readonly update: NodeUpdate; readonly at: string }[],
    shown: (view: NodeView) => object,
    actor: string,
  ): Promise<readonly NodeView[]> {
    const checked = await Promise.all(
      updates.map(({ before, update, at }) => checkNodeChange(this.store, before, update, { ...shown(before) }, at)),
    );
    refuseIfAny([
      ...checked.flatMap(({ errors }) => errors),
      ...(await this.#takenNames(updates.map(({ before, update, at }) => ({ node: before.node, update, at })))),
    ]);
    for (const { node, cluster, change } of checked) {
      const touched = cluster !== undefined || change.roles !== undefined || change.pendingRoles !== undefined;
      for (const one of new Set(touched ? [node.clusterId, cluster] : []))
        if (typeof one === 'number')
          await refuseWhileBusy(this.store, one, `the roles of ${calledText('node', node)} cannot change`);
    }
    const tags: TagsChange[] = [];
    for (const [cluster, changes] of rolesByCluster(checked)) {
      tags.push(await tagsChange(cluster, await roleCatalogue(this.store, cluster), changes, this.#allocate));
    }
    const changed = await this.store.atomically(async (within) => {
      for (const { node, cluster, roles } of checked) {
        if (cluster === undefined || cluster === node.clusterId) continue;
        if (node.clusterId !== null) await within.nodes.unassign(node.clusterId, [node.id]);
        if (cluster !== null) await within.nodes.assign(cluster, [{ id: node.id, roles: roles ?? [] }]);
      }
      const nodes = await within.nodes.updateMany(checked.map(({ node, change }) => ({ id: node.id, change })));
      for (const one of tags) await changeTags(within, one);
      return nodes;
    });
    for (const { before, update } of updates)
      await this.audit(actor, 'node.update', `node/${before.node.id}`, { fields: Object.keys(update) });
    return this.#views(changed);
  }

  /** Host names are unique within a site, MACs everywhere. */
  async #takenNames(
    wanted: readonly { readonly node?: NodeRecord; readonly update: NodeUpdate; readonly at: string }[],
  ): Promise<readonly Diagnostic[]> {
    const faults = await Promise.all(
      wanted.map(async ({ node, update, at }): Promise<readonly Diagnostic[]> => {
        const { hostname, mac } = update;
        const site = node?.site ?? update.site ?? null;
        const named = hostname === undefined ? [] : await this.store.nodes.list({ hostnames: [hostname], site });
        const wired = mac === undefined ? [] : await this.store.nodes.list({ macs: [canonicalMac(mac)] });
        return [
          ...named
            .filter(({ id }) => id !== node?.id)
            .map((other) =>
              finding(
                'node.taken',
                `${at}.hostname`,
                `Duplicate hostname '${hostname}': ${calledText('node', other)} has it`,
                'Choose another.',
              ),
            ),
          ...wired
            .filter(({ id }) => id !== node?.id)
            .map((other) =>
              finding(
                'node.taken',
                `${at}.mac`,
                `Node with mac '${mac}' already exists: it is ${calledText('node', other)}`,
                'Change the existing one.',
              ),
            ),
        ];
      }),
    );
    return faults.flat();
  }

  /** The node that the documents of its site have entered by this name, while nothing else is known of it. */
  async #nameAlone({ name, hostname = name, site }: NodeUpdate): Promise<NodeRecord | undefined> {
    if (site == null || hostname === undefined) return undefined;
    return (await this.store.nodes.list({ site, hostnames: [hostname] })).find(isNameAlone);
  }
}

/** Lower case, with colons: the stored form. */
const canonicalMac = (mac: string): string => mac.toLowerCase().replaceAll('-', ':');

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

/** Role changes by the node's new cluster, without nodes whose roles stay the same. */
function rolesByCluster(checked: readonly CheckedNodeChange[]): ReadonlyMap<number, readonly RolesChanged[]> {
  const found = new Map<number, RolesChanged[]>();
  for (const { node, cluster: wanted, roles, change } of checked) {
    const cluster = wanted === undefined ? node.clusterId : wanted;
    if (cluster === null) continue;
    const stays = cluster === node.clusterId;
    const before = stays ? allRoles(node) : [];
    const start = stays ? node : { roles: [], pendingRoles: roles ?? [] };
    const after = allRoles({
      roles: change.roles ?? start.roles,
      pendingRoles: change.pendingRoles ?? start.pendingRoles,
    });
    if (before.length === after.length && before.every((role) => after.includes(role))) continue;
    found.set(cluster, [...(found.get(cluster) ?? []), { node: node.id, before, after }]);
  }
  return found;
}
