import { pluginFits } from '../../clusters/plugin-fit.ts';
import type { newClusterBody } from '../../core/contracts/fuel/clusters.ts';
import type { Wire } from '../../core/contracts/wire.ts';
import { given } from '../../core/data/given.ts';
import { calledText } from '../../core/names.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { NO_RELEASES_HINT } from '../../core/problems/refusal.ts';
import { counted } from '../../core/text/text.ts';
import {
  type ClusterDetails,
  type JsonFields,
  type JsonObject,
  type NodeRecord,
  type ReleaseRecord,
  StoreError,
  type StorePorts,
} from '../../store/index.ts';
import { problem } from '../problem.ts';
import { Service } from '../service.ts';
import { generateSettings } from './generate-settings.ts';
import { isObject, objectOf } from './json-object.ts';
import { finding, refuseIfAny, unchangeable } from './refuse.ts';
import { isDeployable } from './releases.ts';
import { pluginDefaults } from './settings.ts';

type ClusterRequest = Wire<typeof newClusterBody>;

/** A change of a cluster. Read-only fields may be sent back unchanged. */
interface ClusterUpdate {
  readonly name?: string | undefined;
  readonly site?: string | null | undefined;
  readonly ui_settings?: JsonFields | undefined;
  readonly components?: readonly string[] | undefined;
  readonly [shown: string]: unknown;
}

/** A cluster with data derived from its nodes and runs. */
export interface ClusterView {
  readonly cluster: ClusterDetails;
  readonly release: ReleaseRecord;
  readonly nodes: readonly NodeRecord[];
  /** Names of its own tags, without those of its release and plugins. */
  readonly tags: readonly string[];
  /** Whether a run works on it. */
  readonly busy: boolean;
}

export class ClusterOperations extends Service {
  readonly #masterIp = this.deps.masterIp ?? '';

  async list(): Promise<readonly ClusterView[]> {
    const clusters = await this.store.clusters.list();
    return Promise.all(clusters.map(async ({ id }) => this.#view(await this.store.clusters.get(id))));
  }
  async get(id: number): Promise<ClusterView> {
    return this.#view(await this.store.clusters.get(id));
  }
  async create(request: ClusterRequest, actor: string): Promise<ClusterView> {
    if (request.release !== undefined && request.release_id !== undefined && request.release !== request.release_id)
      refuseIfAny([
        finding(
          'cluster.release',
          'body.release',
          'release and release_id name different releases',
          'Give only one of them.',
        ),
      ]);
    const release = await this.#releaseFor(request.release_id ?? request.release);
    const taken = await Promise.all((request.nodes ?? []).map((id) => this.#freeNode(id)));
    refuseIfAny([...(await this.#siteFaults(request.site)), ...taken.flat()]);
    await this.#refuseTaken(request.name);
    const { editable, generated } = generateSettings(release.metadata.attributes_metadata, {
      masterIp: this.#masterIp,
    });
    const netProvider = request.net_provider ?? 'neutron';
    const cluster = await this.store.atomically(async (within) => {
      const created = await within.clusters.create({
        name: request.name,
        releaseId: release.id,
        netProvider,
        attributes: { editable, generated },
        networkConfig: startingNetworks(release, netProvider, request),
        ...given({ mode: request.mode, site: request.site, components: request.components }),
      });
      for (const plugin of await within.plugins.list()) {
        if (pluginFits(plugin, { ...release, mode: created.mode }))
          await within.plugins.link(created.id, plugin.id, {
            attributes: pluginDefaults(plugin, { masterIp: this.#masterIp }),
          });
      }
      const nodes = (request.nodes ?? []).map((id) => ({ id, roles: [] }));
      if (nodes.length > 0) await within.nodes.assign(created.id, nodes);
      await audit(within, actor, 'cluster.create', created.id, { name: created.name, release: release.id });
      return created;
    });
    return this.#view(cluster);
  }
  /** `shown`: the cluster's current wire form, to detect changes. */
  async update(
    id: number,
    update: ClusterUpdate,
    shown: (view: ClusterView) => object,
    actor: string,
  ): Promise<ClusterView> {
    const before = await this.#view(await this.store.clusters.get(id));
    refuseIfAny([
      ...unchangeable(update, { ...shown(before) }, [
        'id',
        'status',
        'release_id',
        'fuel_version',
        'mode',
        'net_provider',
        'is_customized',
        'is_locked',
        'changes',
        'extensions',
      ]),
      ...(update.site === before.cluster.site ? [] : await this.#siteFaults(update.site)),
    ]);
    if (update.site !== undefined && update.site !== before.cluster.site && before.nodes.length > 0)
      throw problem('conflict', 'a cluster with nodes cannot move to another site', {
        hint: `Remove its ${counted(before.nodes.length, 'node')} first.`,
      });
    if (update.name !== undefined) await this.#refuseTaken(update.name, id);
    const cluster = await this.store.clusters.update(id, {
      ...given({
        name: update.name,
        site: update.site,
        uiSettings: update.ui_settings,
        components: update.components,
      }),
    });
    await audit(this.store, actor, 'cluster.update', id, { fields: Object.keys(update) });
    return this.#view(cluster);
  }
  async delete(id: number, actor: string): Promise<void> {
    const { name } = await this.store.clusters.brief(id);
    await this.store.clusters.delete(id);
    await audit(this.store, actor, 'cluster.delete', id, { name });
  }

  async #view(cluster: ClusterDetails): Promise<ClusterView> {
    const [release, nodes, tags, holder] = await Promise.all([
      this.store.releases.get(cluster.releaseId),
      this.store.nodes.list({ clusterId: cluster.id }),
      this.store.tags.list({ kind: 'cluster', id: cluster.id }),
      this.store.claims.holder({ cluster: cluster.id }),
    ]);
    const run = holder === null ? null : await this.store.transactions.findRun(holder.workflowId, holder.runId);
    // Stored is the status that the last run left, which the tasks of this one read.
    const shown = run?.run.mode === 'apply' ? { ...cluster, status: 'deployment' } : cluster;
    return { cluster: shown, release, nodes, tags: tags.map(({ name }) => name), busy: holder !== null };
  }

  async #refuseTaken(name: string, id?: number): Promise<void> {
    const other = await this.store.clusters.find(name);
    if (other === null || other.id === id) return;
    throw problem('conflict', 'Environment with this name already exists', {
      hint: `It is cluster ${other.id}: choose another name.`,
    });
  }

  async #siteFaults(site: string | null | undefined): Promise<readonly Diagnostic[]> {
    if (site === undefined || site === null) return [];
    try {
      await this.store.sites.get(site);
      return [];
    } catch (error) {
      if (!(error instanceof StoreError) || !['not-found', 'invalid'].includes(error.failure.kind)) throw error;
      return [
        finding(
          'cluster.unknown-site',
          'body.site',
          `there is no site '${site}'`,
          `Create it first: 'sitewright site create ${site}'.`,
        ),
      ];
    }
  }

  async #releaseFor(id: number | undefined): Promise<ReleaseRecord> {
    const releases = await this.store.releases.list();
    if (releases.length === 0)
      throw problem('conflict', `There are no releases available. ${NO_RELEASES_HINT}`, { hint: NO_RELEASES_HINT });
    const usable = releases.filter(isDeployable).map((one) => `${one.id} (${one.name}, ${one.version})`);
    const hint = usable.length === 0 ? NO_RELEASES_HINT : `Available: ${usable.slice(0, 10).join('; ')}.`;
    const refuse = (message: string) =>
      problem('invalid', message, { hint, errors: [finding('cluster.release', 'body.release_id', message, hint)] });
    if (id === undefined) throw refuse('Release ID is required');
    const release = releases.find((one) => one.id === id);
    if (release === undefined) throw refuse('Invalid release ID');
    if (!isDeployable(release)) throw refuse(`Release with ID '${id}' is not deployable.`);
    return release;
  }

  async #freeNode(id: number): Promise<readonly Diagnostic[]> {
    const [node] = await this.store.nodes.list({ ids: [id] });
    if (node === undefined)
      return [finding('node.unknown', 'body.nodes', `there is no node ${id}`, 'GET /api/v1/nodes lists all nodes.')];
    if (node.clusterId === null) return [];
    return [
      finding(
        'node.foreign',
        'body.nodes',
        `${calledText('node', node)} is in ${calledText('cluster', await this.store.clusters.brief(node.clusterId))}`,
        `Remove it there first: POST /api/v1/clusters/${node.clusterId}/unassignment.`,
      ),
    ];
  }
}

function audit(store: Pick<StorePorts, 'audit'>, actor: string, action: string, id: number, details: unknown) {
  return store.audit.append({ actor, action, target: `cluster/${id}`, details });
}

/** A cluster's initial network configuration, from its release. */
function startingNetworks(
  release: ReleaseRecord,
  provider: string,
  { net_segment_type: segmentation, networks: places = {} }: ClusterRequest,
): JsonFields {
  const { networks, config } = objectOf(objectOf(release.metadata.networks_metadata)[provider]);
  const parameters = {
    ...objectOf(config),
    ...given({ segmentation_type: segmentation }),
  };
  const groups = Array.isArray(networks) ? networks.filter(isObject) : [];
  return {
    networking_parameters: parameters,
    networks: [
      ...groups.map(networkOf),
      // After those of the release, so that they decide.
      ...Object.entries(places).map(([name, place]) => ({ name, place })),
    ],
    vips: {},
  };
}

/** A network of a cluster, as its release declares it. */
export const networkOf = (meta: JsonObject): JsonObject => ({
  name: meta.name ?? null,
  cidr: meta.cidr ?? null,
  gateway: meta.gateway ?? null,
  vlan_start: meta.vlan_start ?? null,
  ip_ranges: Array.isArray(meta.ip_range) ? [meta.ip_range] : [],
  meta,
});
