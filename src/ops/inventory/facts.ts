import { clusterStates } from '../../clusters/state/cluster-state.ts';
import { given } from '../../core/data/given.ts';
import { calledText } from '../../core/names.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import type { Json, JsonFields, JsonObject, NodeRecord } from '../../store/index.ts';
import { Service } from '../service.ts';
import { readSources } from '../tags/read-sources.ts';
import { isObject, mergeDeep, objectOf } from './json-object.ts';
import { finding, refuseIfAny } from './refuse.ts';

/** Facts of one node, or those that all share. */
type DeploymentFact = JsonObject & { readonly uid: string };

interface FactsQuery {
  /** Only these nodes; default all. */
  readonly nodes?: readonly number[] | undefined;
  /** Whether common data is a separate entry `common`, instead of merged into every node's. */
  readonly split: boolean;
}

/** Facts of the orchestrator for provisioning. */
interface ProvisioningFacts {
  readonly engine: JsonObject;
  readonly nodes: readonly JsonObject[];
}

const COMMON = 'common';
/** Parts that are not nodes of the inventory. */
const VIRTUAL = [COMMON, 'master', 'null'];

/** The facts of a cluster that task expressions read: computed, or uploaded to replace them. */
export class FactsOperations extends Service {
  readonly #namedText = async (id: number): Promise<string> =>
    calledText('cluster', await this.store.clusters.brief(id));

  /** The uploaded facts; empty without an upload. */
  async deployment(id: number, { nodes: wanted, split }: FactsQuery): Promise<readonly DeploymentFact[]> {
    await this.#nodesOf(id, wanted);
    const { deploymentInfo } = await this.store.clusters.get(id);
    return listed(deploymentInfo.common, deploymentInfo.nodes, wanted, split);
  }
  /** The facts computed from settings and nodes, regardless of uploads. */
  async deploymentDefaults(id: number, { nodes: wanted, split }: FactsQuery): Promise<readonly DeploymentFact[]> {
    await this.#nodesOf(id, wanted);
    const sources = await readSources(this.deps, id);
    const bare = { ...sources, cluster: { ...sources.cluster, deploymentInfo: { common: {}, nodes: {} } } };
    const { now } = clusterStates(bare, { states: {}, tasks: [] }, given({ masterIp: this.deps.masterIp }));
    return listed(now.common as JsonObject, now.nodes as Record<string, JsonObject>, wanted, split);
  }
  async uploadDeployment(id: number, facts: readonly JsonFields[], actor: string): Promise<readonly DeploymentFact[]> {
    const { common = {}, ...nodes } = await this.#entriesOf(id, facts);
    const changed = await this.store.clusters.update(id, { deploymentInfo: { common, nodes } });
    await this.audit(actor, 'cluster.deployment-facts', `cluster/${id}`);
    return listed(changed.deploymentInfo.common, changed.deploymentInfo.nodes, undefined, true);
  }
  /** Replaces the entries given, and keeps those of all other nodes. */
  async changeDeployment(id: number, facts: readonly JsonFields[], actor: string): Promise<void> {
    const { deploymentInfo: before } = await this.store.clusters.get(id);
    const { common = before.common, ...nodes } = await this.#entriesOf(id, facts);
    await this.store.clusters.update(id, { deploymentInfo: { common, nodes: { ...before.nodes, ...nodes } } });
    await this.audit(actor, 'cluster.deployment-facts', `cluster/${id}`);
  }
  async deleteDeployment(id: number, actor: string): Promise<void> {
    await this.store.clusters.update(id, { deploymentInfo: { common: {}, nodes: {} } });
    await this.audit(actor, 'cluster.deployment-facts', `cluster/${id}`);
  }

  /** Null without an upload. */
  async provisioning(id: number, { nodes: wanted }: FactsQuery): Promise<ProvisioningFacts | null> {
    await this.#nodesOf(id, wanted);
    const { attributes } = await this.store.clusters.get(id);
    if (!isObject(attributes.provisioning_facts)) return null;
    const { engine, nodes } = attributes.provisioning_facts;
    const all = Array.isArray(nodes) ? nodes.filter(isObject) : [];
    return { engine: objectOf(engine), nodes: all.filter(({ uid }) => isWanted(String(uid), wanted)) };
  }
  async provisioningDefaults(id: number, { nodes: wanted }: FactsQuery): Promise<ProvisioningFacts> {
    const nodes = await this.#nodesOf(id, wanted);
    const { name } = await this.store.clusters.brief(id);
    return { engine: { provider: 'maas', environment: name }, nodes: nodes.map(provisioningOf) };
  }
  async uploadProvisioning(
    id: number,
    {
      engine,
      nodes: facts,
    }: { readonly engine?: JsonFields | null | undefined; readonly nodes: readonly JsonFields[] },
    actor: string,
  ): Promise<ProvisioningFacts> {
    const nodes = await this.#nodesOf(id, undefined);
    const uids = facts.map(({ uid }) => (typeof uid === 'number' ? String(uid) : uid));
    refuseIfAny([
      ...nameless(uids),
      ...foreign(uids, nodes, await this.#namedText(id), (index) => `body.nodes[${index}].uid`),
    ]);
    const cluster = await this.store.clusters.get(id);
    const uploaded = { engine: engine ?? {}, nodes: facts };
    await this.store.clusters.update(id, { attributes: { ...cluster.attributes, provisioning_facts: uploaded } });
    await this.audit(actor, 'cluster.provisioning-facts', `cluster/${id}`);
    return uploaded as unknown as ProvisioningFacts;
  }
  async deleteProvisioning(id: number, actor: string): Promise<void> {
    const cluster = await this.store.clusters.get(id);
    const { provisioning_facts: _facts, ...attributes } = cluster.attributes;
    await this.store.clusters.update(id, { attributes });
    await this.audit(actor, 'cluster.provisioning-facts', `cluster/${id}`);
  }

  /** The cluster's nodes, or the requested ones. @throws `invalid` naming nodes outside the cluster */
  async #nodesOf(id: number, wanted: readonly number[] | undefined): Promise<readonly NodeRecord[]> {
    const named = await this.#namedText(id);
    const nodes = await this.store.nodes.list({ clusterId: id });
    if (wanted === undefined) return nodes;
    refuseIfAny(foreign(wanted.map(String), nodes, named, () => 'query.nodes'));
    return nodes.filter((node) => wanted.includes(node.id));
  }

  /** Facts by `uid`, that of the common ones without it. @throws `invalid` naming entries of no node of the cluster */
  async #entriesOf(id: number, facts: readonly JsonFields[]): Promise<Record<string, JsonObject>> {
    const nodes = await this.#nodesOf(id, undefined);
    const uids = facts.map(({ uid }) => (typeof uid === 'number' ? String(uid) : uid));
    refuseIfAny([
      ...nameless(uids),
      ...foreign(uids, nodes, await this.#namedText(id), (index) => `body[${index}].uid`),
    ]);
    const parts = new Map<string, JsonObject>();
    // Older releases have one entry per role of a node; merge them.
    for (const [index, fact] of facts.entries()) {
      const uid = uids[index] as string;
      parts.set(uid, mergeDeep(parts.get(uid) ?? {}, fact as JsonObject));
    }
    const { [COMMON]: common, ...own } = Object.fromEntries(parts);
    if (common === undefined) return own;
    const { uid: _uid, ...data } = common;
    return { ...own, [COMMON]: data };
  }
}

/** Whether a user uploaded facts to replace the computed ones. */
export const hasUploadedFacts = ({
  deploymentInfo: { common, nodes },
}: {
  readonly deploymentInfo: { readonly common: JsonObject; readonly nodes: Readonly<Record<string, JsonObject>> };
}): boolean => Object.keys(common).length > 0 || Object.keys(nodes).length > 0;

const isWanted = (uid: string, wanted: readonly number[] | undefined): boolean =>
  wanted === undefined || wanted.map(String).includes(uid);

function listed(
  common: JsonObject,
  nodes: Readonly<Record<string, JsonObject>>,
  wanted: readonly number[] | undefined,
  split: boolean,
): readonly DeploymentFact[] {
  const own = Object.entries(nodes)
    .filter(([uid]) => uid !== 'null' && (wanted === undefined || isWanted(uid, wanted)))
    .map(([uid, data]): DeploymentFact => ({ ...(split ? data : mergeDeep(common, data)), uid }));
  const apart = split && Object.keys(common).length > 0 ? [{ ...common, uid: COMMON } as DeploymentFact] : [];
  return [...own, ...apart];
}

function provisioningOf(node: NodeRecord): JsonObject {
  const fields: Record<string, Json> = {
    uid: String(node.id),
    name: node.name,
    hostname: node.hostname,
    site: node.site,
    mac: node.mac,
    ip: node.ip,
    status: node.status,
  };
  return fields;
}

const nameless = (uids: readonly unknown[]): readonly Diagnostic[] =>
  uids.flatMap((uid, index) =>
    typeof uid === 'string' && uid !== ''
      ? []
      : [
          finding(
            'facts.nameless',
            `body[${index}].uid`,
            `entry ${index} does not name its node`,
            'Set uid to a node or to common.',
          ),
        ],
  );

function foreign(
  uids: readonly unknown[],
  nodes: readonly NodeRecord[],
  cluster: string,
  path: (index: number) => string,
): readonly Diagnostic[] {
  const known = new Set([...VIRTUAL, ...nodes.map(({ id }) => String(id))]);
  return uids.flatMap((uid, index) =>
    typeof uid !== 'string' || uid === '' || known.has(uid)
      ? []
      : [
          finding(
            'node.foreign',
            path(index),
            `node ${uid} is not in ${cluster}`,
            nodes.length === 0
              ? 'It has no nodes yet.'
              : `It has ${nodes
                  .slice(0, 20)
                  .map(({ id }) => id)
                  .join(', ')}.`,
          ),
        ],
  );
}
