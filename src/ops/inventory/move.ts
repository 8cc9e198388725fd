import { createHash } from 'node:crypto';
import { pluginFits } from '../../clusters/plugin-fit.ts';
import { type PartVersion, partVersion } from '../../clusters/versions.ts';
import type { ClusterMovePlan } from '../../core/contracts/fuel/versions.ts';
import { type Diagnostic, isError } from '../../core/problems/diagnostic.ts';
import { canonicalJson } from '../../documents/canonical-json.ts';
import { diffGraphs, normaliseTask } from '../../graph/index.ts';
import type {
  ClusterDetails,
  Json,
  JsonFields,
  JsonObject,
  PackageRecord,
  PluginRecord,
  ReleaseRecord,
  StorePorts,
} from '../../store/index.ts';
import { problemsOfEnabling } from '../packages/enabling.ts';
import { compareVersions } from '../packages/version-order.ts';
import { problem } from '../problem.ts';
import { Service } from '../service.ts';
import { refuseWhileBusy } from './busy-cluster.ts';
import { networkOf } from './clusters.ts';
import { generateSettings, withGenerated } from './generate-settings.ts';
import { isObject, mergeDeep, objectOf } from './json-object.ts';
import { movedGroup, movedSettings } from './moved-settings.ts';
import { finding } from './refuse.ts';
import { isDeployable } from './releases.ts';
import { clusterRoles } from './role-catalogue.ts';
import { settingChanges } from './setting-changes.ts';
import {
  AS_CREATED,
  declaredByPlugin,
  type LinkedPlugin,
  linkedPlugins,
  pluginDefaults,
  showSettings,
} from './settings.ts';

/** Where to: another release, other versions of plugins, or both; or back to where the last move came from. */
export interface MoveRequest {
  readonly release?: number | undefined;
  readonly plugins?: readonly number[] | undefined;
  readonly back?: boolean | undefined;
}

/** The action of moves in the audit trail, which is also where a way back is found. */
const MOVE = 'cluster.move';

/** In place of values that are generated when the move is made. */
const GENERATED = '[generated]';

interface PluginSwitch {
  readonly from: LinkedPlugin;
  readonly to: PluginRecord;
}

/** A move with all that it depends on. */
interface Move {
  readonly cluster: ClusterDetails;
  readonly linked: readonly LinkedPlugin[];
  readonly from: ReleaseRecord;
  readonly to: ReleaseRecord;
  readonly plugins: readonly PluginSwitch[];
  readonly packages: ReadonlyMap<number, PackageRecord>;
  readonly earlier: readonly JsonObject[];
  readonly back: boolean;
}

/** Moves clusters to other versions of what they are built of, and back. */
export class MoveOperations extends Service {
  readonly #masterIp = this.deps.masterIp ?? '';

  /** What the move would change; nothing is changed. @throws `not-found`; `invalid` where it names nothing to move */
  async plan(id: number, request: MoveRequest): Promise<ClusterMovePlan> {
    return planOf(this.store, await read(this.store, id, request));
  }

  /**
   * Moves it, all or nothing. Nodes get the new version with the next deployment.
   *
   * @throws `conflict` while a run works on it, where the plan has errors, or is no longer that of `digest`
   */
  async move(id: number, request: MoveRequest, digest: string | undefined, actor: string): Promise<ClusterMovePlan> {
    await refuseWhileBusy(this.store, id, 'The cluster cannot move to another version');
    return this.store.atomically(async (within) => {
      const move = await read(within, id, request);
      const plan = await planOf(within, move);
      if (digest !== undefined && digest !== plan.digest)
        throw problem('conflict', 'the plan has changed since it was shown', {
          hint: 'Look at it again with --dry-run and the same options.',
        });
      const errors = plan.findings.filter(isError);
      if (errors.length > 0)
        throw problem('conflict', errors.map(({ message }) => message).join('; '), {
          errors: plan.findings,
          ...(errors[0]!.hint !== undefined && { hint: errors[0]!.hint }),
        });
      await apply(within, move, this.#masterIp, actor);
      await within.audit.append({
        actor,
        action: MOVE,
        target: `cluster/${id}`,
        details: {
          // What the way back needs, and what people read.
          release: move.from.id,
          plugins: move.plugins.map(({ from }) => from.plugin.id),
          parts: plan.parts,
          changes: plan.settings,
        } as unknown as JsonFields,
      });
      return plan;
    });
  }
}

async function read(store: StorePorts, id: number, request: MoveRequest): Promise<Move> {
  const cluster = await store.clusters.get(id);
  const wanted = request.back === true ? await wayBack(store, id, request) : request;
  const [from, linked, installed, packages, revisions] = await Promise.all([
    store.releases.get(cluster.releaseId),
    linkedPlugins(store, id),
    store.plugins.list(),
    store.packages.list(),
    store.settingsRevisions.list(id),
  ]);
  const to = wanted.release === undefined ? from : await store.releases.get(wanted.release);
  const target = { ...to, mode: cluster.mode };
  const plugins = linked.flatMap((one): PluginSwitch[] => {
    if (!one.enabled) return [];
    const versions = installed.filter(({ name }) => name === one.plugin.name);
    const asked = versions.find((version) => wanted.plugins?.includes(version.id));
    if (asked !== undefined) return asked.id === one.plugin.id ? [] : [{ from: one, to: asked }];
    // A plugin that extends the release that is left follows to its newest version that extends the other.
    if (to.id === from.id || pluginFits(one.plugin, target) || !pluginFits(one.plugin, { ...from, mode: cluster.mode }))
      return [];
    const [newest] = versions
      .filter((version) => pluginFits(version, target))
      .sort((a, b) => compareVersions(b.version, a.version));
    return newest === undefined ? [] : [{ from: one, to: newest }];
  });
  for (const asked of wanted.plugins ?? []) {
    const plugin = await store.plugins.get(asked);
    if (linked.some((one) => one.enabled && one.plugin.name === plugin.name)) continue;
    throw problem('invalid', `the plugin ${plugin.name} is not enabled in cluster ${cluster.name}`, {
      hint: `Enable it: sitewright plugin enable ${plugin.name}==${plugin.version} --cluster ${id}`,
    });
  }
  if (to.id === from.id && plugins.length === 0)
    throw problem('invalid', `cluster ${cluster.name} has these versions already`, {
      hint: `What it has, and what there is: sitewright cluster versions ${id}`,
    });
  return {
    cluster,
    linked,
    from,
    to,
    plugins,
    packages: new Map(packages.map((one) => [one.id, one])),
    earlier: revisions.map(({ editable }) => editable),
    back: request.back === true,
  };
}

async function wayBack(store: StorePorts, id: number, request: MoveRequest): Promise<MoveRequest> {
  if (request.release !== undefined || request.plugins !== undefined)
    throw problem('invalid', 'a move back names no versions', { hint: 'Omit release and plugins, or back.' });
  const { items } = await store.audit.list({ action: MOVE, target: `cluster/${id}`, limit: 1 });
  const [last] = items;
  if (last === undefined)
    throw problem('invalid', 'the cluster has not moved yet: there is no way back', {
      hint: `See the installed versions: sitewright cluster versions ${id}`,
    });
  const { release, plugins } = objectOf(last.details);
  return {
    release: Number(release),
    plugins: Array.isArray(plugins) ? plugins.map(Number) : [],
  };
}

async function planOf(store: StorePorts, move: Move): Promise<ClusterMovePlan> {
  const { cluster, linked, from, to, plugins, packages } = move;
  const part = (kind: 'release' | 'plugin', before: PluginRecord | ReleaseRecord, after: typeof before) => ({
    kind,
    from: partVersion(before, packages),
    to: partVersion(after, packages),
  });
  const parts = [
    ...(from.id === to.id ? [] : [part('release', from, to)]),
    ...plugins.map((one) => part('plugin', one.from.plugin, one.to)),
  ];
  const switches = new Set(plugins.map((one) => `${one.to.name}.metadata`));
  const placeholders = (groups: unknown): JsonObject => objectOf(withPlaceholders(objectOf(groups)));
  const after = settingsAfter(move, placeholders);
  return {
    cluster: cluster.id,
    parts,
    settings: settingChanges(
      showSettings(cluster, linked),
      showSettings({ attributes: { editable: after.editable } }, after.linked),
    )
      // Which version is enabled is no setting that anyone chose: the parts say it.
      .filter(({ setting }) => !switches.has(setting))
      .map((one) => ({ ...one })),
    graphs: await changedGraphs(store, move),
    findings: await findingsOf(store, move, after.editable),
    digest: createHash('sha256')
      .update(
        canonicalJson({
          parts,
          stored: [from, to, ...plugins.flatMap((one) => [one.from.plugin, one.to])].map(({ updatedAt }) => updatedAt),
          settings: cluster.attributes,
          linked: linked.map(({ plugin, enabled, attributes }) => ({ id: plugin.id, enabled, attributes })),
        }),
      )
      .digest('hex'),
  };
}

/** The cluster's settings and plugins after the move. */
function settingsAfter(
  { cluster, linked, from, to, plugins, earlier }: Move,
  fill: (groups: unknown) => JsonObject,
): { readonly editable: JsonObject; readonly linked: readonly LinkedPlugin[] } {
  const declared = (release: ReleaseRecord) => objectOf(objectOf(release.metadata.attributes_metadata).editable);
  const now = objectOf(cluster.attributes.editable);
  const editable =
    from.id === to.id ? now : movedSettings({ now, from: declared(from), to: fill(declared(to)), earlier });
  const switched = new Map(plugins.map((one) => [one.from.plugin.id, one]));
  const known = new Set(plugins.map(({ to: plugin }) => plugin.id));
  const stays = linked
    .filter(({ plugin }) => !known.has(plugin.id))
    .map((one) => (switched.has(one.plugin.id) ? { ...one, enabled: false } : one));
  const joins = plugins.map(({ from: before, to: plugin }): LinkedPlugin => {
    const own = earlier.map((groups) => objectOf(groups[plugin.name]));
    const attributes = movedGroup(
      before.attributes,
      declaredByPlugin(before.plugin),
      fill(declaredByPlugin(plugin)),
      own,
    );
    return { plugin, enabled: true, attributes };
  });
  return { editable, linked: [...stays, ...joins].sort((a, b) => a.plugin.id - b.plugin.id) };
}

/** Values that a generator makes, as a word: the plan is the same whenever it is made. */
function withPlaceholders(value: Json): Json {
  if (Array.isArray(value)) return value.map(withPlaceholders);
  if (!isObject(value)) return value;
  if (typeof value.generator === 'string') return GENERATED;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withPlaceholders(one)]));
}

async function changedGraphs(store: StorePorts, { from, to, plugins }: Move): Promise<ClusterMovePlan['graphs']> {
  const pairs = [
    ...(from.id === to.id ? [] : [{ kind: 'releases' as const, from, to }]),
    ...plugins.map((one) => ({ kind: 'plugins' as const, from: one.from.plugin, to: one.to })),
  ];
  const found = await Promise.all(
    pairs.map(async ({ kind, from: before, to: after }) => {
      const [old, now] = await Promise.all(
        [before, after].map(async ({ id }) => {
          const graphs = await store.graphs.list({ [kind]: [id] });
          return new Map(graphs.map((graph) => [graph.type ?? '', graph.tasks.map((task) => normaliseTask(task))]));
        }),
      );
      return [...new Set([...old!.keys(), ...now!.keys()])].sort().flatMap((type) => {
        const { added, removed, changed } = diffGraphs(old!.get(type) ?? [], now!.get(type) ?? []);
        if (added.length + removed.length + changed.length === 0) return [];
        return [{ type, owner: after.name, added, removed, changed: changed.map(({ task }) => task) }];
      });
    }),
  );
  return found.flat();
}

async function findingsOf(store: StorePorts, move: Move, editable: JsonObject): Promise<readonly Diagnostic[]> {
  const { cluster, linked, from, to, plugins } = move;
  const found: Diagnostic[] = [];
  const versionText = ({ name, version }: Pick<PartVersion, 'name' | 'version'>) => `${name} ${version}`;
  if (!isDeployable(to))
    found.push(
      finding('move.release', 'release', `release ${versionText(to)} is not deployable`, 'Choose another version.'),
    );
  const target = { ...to, mode: cluster.mode };
  const switched = new Map(plugins.map((one) => [one.from.plugin.id, one.to]));
  const enabled = linked.filter((one) => one.enabled).map(({ plugin }) => switched.get(plugin.id) ?? plugin);
  for (const plugin of enabled) {
    const isNew = plugins.some((one) => one.to.id === plugin.id);
    // A plugin that was enabled without extending the release stays so.
    if (pluginFits(plugin, target) || (!isNew && !pluginFits(plugin, { ...from, mode: cluster.mode }))) continue;
    found.push(
      finding(
        'move.plugin',
        'plugins',
        `plugin ${versionText(plugin)} does not extend release ${versionText(to)}`,
        `Install a version that does, or disable it: sitewright plugin disable ${plugin.name} --cluster ${cluster.id}`,
      ),
    );
  }
  const roles = new Set(
    [
      to.rolesMetadata,
      clusterRoles(cluster.attributes),
      ...enabled.map(({ metadata }) => objectOf(metadata.roles_metadata)),
    ].flatMap(Object.keys),
  );
  for (const { id, name, ...node } of await store.nodes.list({ clusterId: cluster.id })) {
    const gone = [...new Set([...node.roles, ...node.pendingRoles])].filter((role) => !roles.has(role));
    if (gone.length === 0) continue;
    found.push(
      finding(
        'move.role',
        'release',
        `node ${name} has ${gone.length === 1 ? 'the role' : 'roles'} ${gone.join(', ')}, which the new version does not have`,
        `Remove the node first: sitewright cluster remove-nodes ${cluster.id} --node ${id}`,
      ),
    );
  }
  const newly = new Set(plugins.map((one) => one.to.id));
  found.push(...(await problemsOfEnabling(store, { releaseId: to.id, settings: editable }, enabled, newly)));
  return found;
}

async function apply(store: StorePorts, move: Move, masterIp: string, actor: string): Promise<void> {
  const { cluster, linked, to, plugins } = move;
  const before = showSettings(cluster, linked);
  const context = { masterIp };
  const after = settingsAfter(move, (groups) => withGenerated(objectOf(groups), context));
  const { generated } = generateSettings(to.metadata.attributes_metadata, context);
  const attributes = {
    ...cluster.attributes,
    editable: after.editable,
    generated: mergeDeep(generated, objectOf(cluster.attributes.generated)),
  };
  await store.clusters.update(cluster.id, {
    releaseId: to.id,
    attributes,
    networkConfig: { ...cluster.networkConfig, ...networksAfter(move) },
  });
  for (const { plugin, enabled, attributes: own } of after.linked)
    await store.plugins.link(cluster.id, plugin.id, { enabled, attributes: own });
  const known = new Set([...linked.map(({ plugin }) => plugin.id), ...plugins.map((one) => one.to.id)]);
  for (const plugin of await store.plugins.list()) {
    if (known.has(plugin.id) || !pluginFits(plugin, { ...to, mode: cluster.mode })) continue;
    await store.plugins.link(cluster.id, plugin.id, { attributes: pluginDefaults(plugin, context) });
  }
  const now = showSettings({ attributes }, after.linked);
  if (settingChanges(before, now).length > 0)
    await store.settingsRevisions.add(cluster.id, { by: AS_CREATED, editable: before }, { by: actor, editable: now });
}

/** With the networks that only the new release has; the cluster's own stay as they are. */
function networksAfter({ cluster, from, to }: Move): JsonFields {
  const { networks } = cluster.networkConfig;
  if (from.id === to.id || !Array.isArray(networks)) return {};
  const known = new Set(networks.filter(isObject).map(({ name }) => name));
  const declared = objectOf(objectOf(to.metadata.networks_metadata)[cluster.netProvider]).networks;
  const added = (Array.isArray(declared) ? declared.filter(isObject) : []).filter(
    ({ name }) => !known.has(name ?? null),
  );
  return added.length === 0 ? {} : { networks: [...networks, ...added.map(networkOf)] };
}
