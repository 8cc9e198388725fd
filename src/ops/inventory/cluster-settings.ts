import { createHash } from 'node:crypto';
import { modelsOf } from '../../clusters/checks/check-cluster.ts';
import { checkRestrictions } from '../../clusters/checks/restrictions.ts';
import type { ExpressionModels } from '../../clusters/checks/settings-expression.ts';
import { given } from '../../core/data/given.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { canonicalJson } from '../../documents/canonical-json.ts';
import type { ClusterDetails, Json, JsonFields, JsonObject } from '../../store/index.ts';
import { problemsOfEnabling } from '../packages/enabling.ts';
import { problem } from '../problem.ts';
import { Service } from '../service.ts';
import { checkSettings } from './check-settings.ts';
import { isObject, mergeDeep, objectOf } from './json-object.ts';
import { finding, refuseIfAny } from './refuse.ts';
import { vmwareAttributes } from './releases.ts';
import { settingChanges } from './setting-changes.ts';
import {
  AS_CREATED,
  defaultSettings,
  type LinkedPlugin,
  linkedPlugins,
  showSettings,
  splitSettings,
} from './settings.ts';
import { unreadSettings, wordsOfReaders } from './unread-settings.ts';

type NetworkProvider = 'neutron' | 'nova_network';

interface SettingsChange {
  readonly number: number;
  readonly at: string;
  readonly by: string;
  readonly changes: ReturnType<typeof settingChanges>;
}

interface WriteOptions {
  /** Store settings that nothing reads, too. */
  readonly keep?: boolean;
  /** Of the plan that was shown. */
  readonly digest?: string | undefined;
  /** For the audit trail. */
  readonly more?: JsonFields;
}

export class ClusterSettingsOperations extends Service {
  readonly #masterIp = this.deps.masterIp ?? '';
  /** Groups of settings, without the cluster's generated passwords. */
  async read(id: number): Promise<JsonObject> {
    return showSettings(await this.store.clusters.get(id), await linkedPlugins(this.store, id));
  }
  /** The current defaults of its release. */
  readonly defaults = async (id: number): Promise<JsonObject> => {
    const { releaseId } = await this.store.clusters.brief(id);
    return defaultSettings(await this.store.releases.get(releaseId), await linkedPlugins(this.store, id), {
      masterIp: this.#masterIp,
    });
  };
  /**
   * Replaces the groups; with `merge` only the given ones. Groups of plugins enable and disable the plugins. A setting
   * that nothing reads is refused, unless `keep` is set.
   */
  readonly write = async (
    id: number,
    sent: unknown,
    merge: boolean,
    actor: string,
    { keep = false, digest, more = {} }: WriteOptions = {},
  ): Promise<JsonObject> => {
    const { shown, split, findings, digest: current } = await this.#checked(id, sent, keep);
    refuseIfAny(findings);
    if (digest !== undefined && digest !== current)
      throw problem('conflict', 'the settings have changed since the plan was shown', {
        hint: `See by whom: sitewright settings history --cluster ${id}`,
      });
    const changed = await this.store.atomically(async (within) => {
      const { attributes } = await within.clusters.get(id);
      const editable = merge ? mergeDeep(objectOf(attributes.editable), split.own) : split.own;
      for (const one of split.plugins)
        await within.plugins.link(id, one.plugin.id, { enabled: one.enabled, attributes: one.attributes });
      return within.clusters.update(id, { attributes: { ...attributes, editable } });
    });
    const now = showSettings(changed, await linkedPlugins(this.store, id));
    const changes = settingChanges(shown, now);
    if (changes.length > 0)
      await this.store.settingsRevisions.add(id, { by: AS_CREATED, editable: shown }, { by: actor, editable: now });
    await this.audit(actor, 'cluster.settings', `cluster/${id}`, { ...more, changes: changes as unknown as Json });
    return now;
  };
  /** What sending them would change, and what they restrict. */
  readonly plan = async (id: number, sent: unknown, merge: boolean, keep: boolean) => {
    const { cluster, plugins, shown, split, findings, digest } = await this.#checked(id, sent, keep);
    const switched = new Map(split.plugins.map((one) => [one.plugin.id, one]));
    const after = showSettings(
      { attributes: { editable: merge ? mergeDeep(objectOf(cluster.attributes.editable), split.own) : split.own } },
      plugins.map((one) => switched.get(one.plugin.id) ?? one),
    );
    const release = await this.store.releases.get(cluster.releaseId);
    const draft = isObject(sent) ? mergeDeep(shown, sent) : shown;
    const models = modelsOf({
      cluster: { ...cluster, settings: draft, networks: cluster.networkConfig },
      release,
    });
    return {
      changes: findings.length > 0 ? [] : settingChanges(shown, after),
      findings,
      restricted: restrictedSettings(draft, models),
      digest,
    };
  };
  /** Resets them to the release's defaults. */
  async reset(id: number, actor: string): Promise<JsonObject> {
    return this.write(id, await this.defaults(id), false, actor);
  }

  /** Each change with its author, newest first: what differs from the revision before. */
  async history(id: number): Promise<readonly SettingsChange[]> {
    await this.store.clusters.brief(id);
    const all = await this.store.settingsRevisions.list(id);
    return all.map(({ number, at, by, editable }, index) => {
      const before = all[index + 1];
      return { number, at, by, changes: before === undefined ? [] : settingChanges(before.editable, editable) };
    });
  }
  /** What differs now from a revision. */
  async difference(id: number, number: number): Promise<SettingsChange> {
    const { at, by, editable } = await this.store.settingsRevisions.get(id, number);
    const now = showSettings(await this.store.clusters.get(id), await linkedPlugins(this.store, id));
    return { number, at, by, changes: settingChanges(editable, now) };
  }
  /** Goes back to a revision, as a new one. Refused where its release or plugins no longer allow a value. */
  async revert(id: number, number: number, actor: string): Promise<JsonObject> {
    const { editable } = await this.store.settingsRevisions.get(id, number);
    const now = showSettings(await this.store.clusters.get(id), await linkedPlugins(this.store, id));
    return this.write(id, withValuesOf(editable, now), false, actor, { more: { reverted_to: number } });
  }
  readonly vmware = async (id: number): Promise<JsonObject> => {
    const { attributes, releaseId } = await this.store.clusters.get(id);
    const release = await this.store.releases.get(releaseId);
    const initial = vmwareAttributes(release);
    if (!isObject(attributes.vmware) && Object.keys(initial).length === 0) {
      throw problem('invalid', `Cluster ${id} doesn't support vmware configuration`, {
        hint: 'Its release has no VMware settings (vmware_attributes_metadata).',
      });
    }
    return objectOf(attributes.vmware ?? initial.editable);
  };
  async writeVmware(id: number, editable: JsonFields, actor: string): Promise<JsonObject> {
    await this.vmware(id);
    const cluster = await this.store.clusters.get(id);
    const changed = await this.store.clusters.update(id, { attributes: { ...cluster.attributes, vmware: editable } });
    await this.audit(actor, 'cluster.vmware', `cluster/${id}`);
    return objectOf(changed.attributes.vmware);
  }
  async network(id: number, provider: NetworkProvider): Promise<JsonObject> {
    return (await this.#readNetwork(id, provider)).networkConfig;
  }
  async writeNetwork(id: number, provider: NetworkProvider, network: JsonFields, actor: string): Promise<JsonObject> {
    const cluster = await this.#readNetwork(id, provider);
    const { networks, networking_parameters: parameters } = network;
    refuseIfAny([
      ...(networks === undefined || (Array.isArray(networks) && networks.every(isObject))
        ? []
        : [
            finding(
              'network.networks',
              'body.networks',
              'networks must be a list of objects',
              'Send the answer of GET back with your changes.',
            ),
          ]),
      ...(parameters === undefined || isObject(parameters)
        ? []
        : [
            finding(
              'network.parameters',
              'body.networking_parameters',
              'networking_parameters must be an object',
              'Send the answer of GET back with your changes.',
            ),
          ]),
    ]);
    const changed = await this.store.clusters.update(id, { networkConfig: { ...cluster.networkConfig, ...network } });
    await this.audit(actor, 'cluster.network', `cluster/${id}`);
    return changed.networkConfig;
  }
  /** The network template; null without one. */
  async template(id: number): Promise<JsonObject | null> {
    const { networkConfig } = await this.store.clusters.get(id);
    const template = objectOf(networkConfig.networking_parameters).configuration_template;
    return isObject(template) ? template : null;
  }
  async writeTemplate(id: number, template: JsonFields | null, actor: string): Promise<JsonObject | null> {
    const { networkConfig } = await this.store.clusters.get(id);
    const parameters = { ...objectOf(networkConfig.networking_parameters), configuration_template: template };
    await this.store.clusters.update(id, { networkConfig: { ...networkConfig, networking_parameters: parameters } });
    await this.audit(actor, 'cluster.network-template', `cluster/${id}`);
    return template as JsonObject | null;
  }

  async #enabling(
    cluster: ClusterDetails,
    sent: JsonObject,
    before: readonly LinkedPlugin[],
    after: readonly LinkedPlugin[],
  ) {
    const states = new Map([...before, ...after].map(({ plugin, enabled }) => [plugin.id, enabled]));
    const enabled = before.map(({ plugin }) => plugin).filter(({ id }) => states.get(id) === true);
    const newly = new Set(enabled.map(({ id }) => id));
    for (const { plugin, enabled: was } of before) if (was) newly.delete(plugin.id);
    const settings = mergeDeep(objectOf(cluster.attributes.editable), sent);
    return problemsOfEnabling(this.store, { releaseId: cluster.releaseId, settings }, enabled, newly);
  }

  /** What is stored, what was sent, and why it cannot be stored. */
  async #checked(id: number, sent: unknown, keep: boolean) {
    const cluster = await this.store.clusters.get(id);
    const plugins = await linkedPlugins(this.store, id);
    const shown = showSettings(cluster, plugins);
    const wrong = checkSettings(sent, shown);
    const findings = [...wrong, ...(keep || !isObject(sent) ? [] : await this.#unread(cluster, sent, shown, plugins))];
    const split = findings.length > 0 ? { own: {}, plugins: [] } : splitSettings(sent as JsonObject, plugins);
    if (findings.length === 0) findings.push(...(await this.#enabling(cluster, split.own, plugins, split.plugins)));
    const digest = createHash('sha256').update(canonicalJson({ shown, sent })).digest('hex');
    return { cluster, plugins, shown, split, findings, digest };
  }

  async #unread(
    cluster: ClusterDetails,
    sent: JsonObject,
    shown: JsonObject,
    plugins: readonly LinkedPlugin[],
  ): Promise<readonly Diagnostic[]> {
    const known = [shown, await this.defaults(cluster.id)];
    // Mostly everything is known, and no graph is read.
    if (unreadSettings(cluster.id, sent, known, new Set()).length === 0) return [];
    const release = await this.store.releases.get(cluster.releaseId);
    const words = await wordsOfReaders(
      this.store,
      cluster.id,
      release,
      plugins.map(({ plugin }) => plugin),
    );
    return unreadSettings(cluster.id, sent, known, words);
  }

  async #readNetwork(id: number, provider: NetworkProvider) {
    const cluster = await this.store.clusters.get(id);
    if (cluster.netProvider === provider) return cluster;
    const message = `Can't handle ${provider} requests for cluster ${id}, whose network provider is ${cluster.netProvider}`;
    throw problem('invalid', message, {
      hint: `Use /api/v1/clusters/${id}/network_configuration/${cluster.netProvider}.`,
    });
  }
}

/** Earlier values under today's declarations, which then check them; what was declared since stays as it is. */
function withValuesOf(earlier: JsonObject, now: JsonObject): JsonObject {
  const groups = [...new Set([...Object.keys(now), ...Object.keys(earlier)])];
  return Object.fromEntries(
    groups.flatMap((group) => {
      const [old, current] = [objectOf(earlier[group]), objectOf(now[group])];
      const names = [...new Set([...Object.keys(current), ...Object.keys(old)])];
      const settings = names.flatMap((name) => {
        const [was, is] = [old[name], current[name]];
        if (!isObject(is) || !isObject(was)) return was === undefined && !isDeclared(is) ? [] : [[name, was ?? is]];
        if (name === 'metadata')
          return [[name, { ...is, ...given({ enabled: was.enabled, chosen_id: was.chosen_id }) }]];
        return [[name, was.value === undefined ? was : { ...is, value: was.value }]];
      });
      return settings.length === 0 ? [] : [[group, Object.fromEntries(settings) as Json]];
    }),
  );
}

const isDeclared = (setting: Json | undefined): boolean => isObject(setting) && setting.type !== undefined;

/** A setting, a group, or one value of a setting, that a condition of a release or plugin restricts. */
interface RestrictedSetting {
  readonly setting: string;
  readonly choice?: Json;
  readonly action: string;
  readonly message?: string;
}

/** What the declared restrictions of these settings forbid, by the values of these settings. */
function restrictedSettings(editable: JsonObject, models: ExpressionModels): readonly RestrictedSetting[] {
  const under = (restrictions: unknown, at: Pick<RestrictedSetting, 'setting' | 'choice'>): RestrictedSetting[] =>
    checkRestrictions(restrictions, models).holding.map(({ action = 'disable', message }) => ({
      ...at,
      action,
      ...given({ message }),
    }));
  return Object.entries(editable).flatMap(([group, settings]) =>
    Object.entries(objectOf(settings)).flatMap(([name, setting]) => {
      if (!isObject(setting)) return [];
      if (name === 'metadata') return under(setting.restrictions, { setting: group });
      const choices = Array.isArray(setting.values) ? setting.values.filter(isObject) : [];
      const at = `${group}.${name}`;
      return [
        ...under(setting.restrictions, { setting: at }),
        ...choices.flatMap((one) => under(one.restrictions, { setting: at, choice: one.data ?? null })),
      ];
    }),
  );
}
