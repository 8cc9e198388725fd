import {
  type DeploymentFate,
  deploymentFate,
  type KnownMachine,
  type Machine,
  type MachineContext,
  MachineStatus,
  machineStatusName,
  machinesNamed,
  refusedFate,
  resolveMachine,
} from '@sitewright/maas';
import { maintenanceOfSite } from '../clusters/maintenance.ts';
import type { NodeStatuses } from '../core/contracts/node-in-run.ts';
import { given } from '../core/data/given.ts';
import { checkStrategy, describeStrategyProblem } from '../core/deployment/check-strategy.ts';
import { parseLabelEntry } from '../core/deployment/labels.ts';
import { selectNodes } from '../core/deployment/selectors.ts';
import type { Selector } from '../core/deployment/strategy.ts';
import { type MaintenanceNote, maintenanceText } from '../core/maintenance.ts';
import { outOfServiceOf } from '../core/node-system.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import type { ResolvedNode } from '../documents/index.ts';
import type { NodeHistoryEntry, NodeRecord, Page, PageRequest } from '../store/index.ts';
import { asProblem, problem } from './problem.ts';
import { Service } from './service.ts';
import { SiteOperations } from './sites.ts';

type NodeStatus = NodeStatuses['nodes'][number];

export class NodeOperations extends Service {
  readonly #sites = new SiteOperations(this.deps);

  /**
   * Names of the nodes of a revision that match the selectors; an empty list matches all.
   *
   * @param known refuse what no node has
   */
  async select(
    site: string,
    reference: string,
    selectors: readonly Selector[],
    known = false,
  ): Promise<{ readonly revision: number; readonly nodes: readonly string[] }> {
    const problems = checkStrategy({ groups: [{ name: 'selection', critical: false, depends_on: [], selectors }] });
    if (problems.length > 0)
      throw problem('invalid', problems.map(describeStrategyProblem).join('; '), {
        hint: 'Write labels as key:value.',
      });
    const { record, site: documents } = await this.#sites.documents(site, reference);
    const unknown = known ? unknownCriteria(selectors, documents.nodes) : [];
    if (unknown.length > 0)
      throw problem(
        'invalid',
        `revision ${record.number} of site ${site} has ${unknown.map(({ text }) => text).join(', ')}`,
        {
          hint:
            unknown.flatMap(({ hint }) => hint ?? []).join(' ') ||
            `'sitewright site files ${site} --revision ${record.number}' shows its documents.`,
        },
      );
    const nodes = selectNodes(selectors, documents.nodes).map((index) => documents.nodes[index]!.name);
    return { revision: record.number, nodes };
  }

  async status(site: string, reference: string = 'latest'): Promise<NodeStatuses> {
    const { record, site: documents } = await this.#sites.documents(site, reference);
    const names = documents.nodes.map((node) => node.name);
    const seen_at = new Date().toISOString();
    const kept = await maintenanceOfSite(this.store, site);
    const health = healthByName(await this.store.nodes.list({ site }));
    try {
      const maas = this.deps.maas();
      const me = await maas.client.username();
      const recorded = new Map(
        (await this.store.deployedMachines.list(site)).map((machine) => [machine.node, machine]),
      );
      const nodes = await Promise.all(
        documents.nodes.map(async (node) => {
          const known = recorded.get(node.name);
          // Together, so that both look-ups are one request.
          const [found, deployment] = await Promise.all([
            machinesNamed(maas, node.name, known),
            this.#fateOf(maas, me, site, node, known),
          ]);
          const note = kept.get(node.name);
          return { ...withHealth(fromMaas(node.name, found, seen_at), health), ...inMaintenance(note, deployment) };
        }),
      );
      await this.store.nodeFacts.put(site, nodes.filter((node) => node.status !== null).map(sighting));
      return { site, revision: record.number, stale: false, nodes };
    } catch (error) {
      const { code, message } = asProblem(error);
      if (code !== 'maas-failed' && code !== 'maas-not-configured') throw error;
      const facts = new Map((await this.store.nodeFacts.list(site)).map((fact) => [fact.node, fact]));
      const nodes = names.map<NodeStatus>((node) => {
        const fact = facts.get(node);
        return {
          node,
          system_id: fact?.systemId ?? null,
          hostname: fact?.hostname ?? null,
          status: fact?.status ?? null,
          power: fact?.power ?? null,
          tags: fact?.tags ?? [],
          zone: fact?.zone ?? null,
          seen_at: fact?.seenAt ?? null,
        };
      });
      return {
        site,
        revision: record.number,
        stale: true,
        reason: message,
        nodes: nodes.map((one) => ({ ...withHealth(one, health), ...inMaintenance(kept.get(one.node), undefined) })),
      };
    }
  }

  /** @throws `not-found` for a node that neither was in a run nor is in the documents */
  async history(site: string, node: string, page?: PageRequest): Promise<Page<NodeHistoryEntry>> {
    const found = await this.store.runs.listNodeHistory(site, node, page);
    if (found.items.length === 0 && page?.before === undefined) await this.#sites.checkNode(site, node);
    return found;
  }

  /** @param me the MAAS user of our key */
  async #fateOf(
    maas: MachineContext,
    me: string,
    site: string,
    node: ResolvedNode,
    known: KnownMachine | undefined,
  ): Promise<DeploymentFate> {
    const { name, boot_mac: bootMac, domain, distro_series: distroSeries = this.deps.distroSeries, layout } = node;
    const found = await resolveMachine(maas, { hostname: name, bootMac, domain, known });
    if (!found.ok) return refusedFate(found.failure);
    return deploymentFate(maas.client, found.machine, me, { site, layout, ...(distroSeries && { distroSeries }) });
  }
}

/** What selectors name and no node has, each with a suggestion. */
function unknownCriteria(selectors: readonly Selector[], nodes: readonly ResolvedNode[]) {
  const unknownIn = (what: string, named: readonly string[], all: readonly string[]) => {
    const known = new Set(all);
    return named
      .filter((name) => !known.has(name))
      .map((name) => ({ text: `no ${what} '${name}'`, hint: didYouMean(name, known) }));
  };
  const labelText = ([key, value]: readonly [string, string]): string => `${key}:${value}`;
  return selectors.flatMap(({ node_names = [], node_tags = [], rack_names = [], node_labels = [] }) => [
    ...unknownIn(
      'node',
      node_names,
      nodes.map(({ name }) => name),
    ),
    ...unknownIn(
      'tag',
      node_tags,
      nodes.flatMap(({ tags }) => tags),
    ),
    ...unknownIn(
      'rack',
      rack_names,
      nodes.flatMap(({ rack }) => rack ?? []),
    ),
    ...unknownIn(
      'label',
      node_labels.flatMap((entry) => {
        const parsed = parseLabelEntry(entry);
        return parsed.ok ? parsed.labels.map(({ key, value }) => labelText([key, value])) : [];
      }),
      nodes.flatMap(({ labels }) => Object.entries(labels).map(labelText)),
    ),
  ]);
}

/** A run leaves out what is in maintenance, whatever it would do with it otherwise. */
const inMaintenance = (note: MaintenanceNote | undefined, deployment: DeploymentFate | undefined) => ({
  ...given({
    maintenance: note,
    deployment: note === undefined ? deployment : { does: 'leave' as const, why: maintenanceText(note) },
  }),
});

type Health = Pick<NodeStatus, 'health' | 'reason'>;

/** By every name that documents may have for a node, why it does not serve. */
const healthByName = (nodes: readonly NodeRecord[]): ReadonlyMap<string, Health> =>
  new Map(
    nodes.flatMap((node) => {
      const health = outOfServiceOf(node);
      if (health === null) return [];
      const why = { health, ...given({ reason: node.errorMsg ?? undefined }) };
      return [node.hostname, node.name].map((one) => [one ?? '', why] as const);
    }),
  );

/** Someone may have deployed the machine since, in MAAS; of one that failed its run knows more. */
function withHealth(node: NodeStatus, all: ReadonlyMap<string, Health>): NodeStatus {
  const found = all.get(node.node);
  if (found === undefined || node.status === DEPLOYING) return node;
  if (found.health !== 'failed' && node.status === DEPLOYED) return node;
  return { ...node, ...found };
}

const [DEPLOYED, DEPLOYING] = [MachineStatus.Deployed, MachineStatus.Deploying].map(machineStatusName);

function fromMaas(node: string, found: readonly Machine[], seen_at: string): NodeStatus {
  const [machine] = found;
  if (!machine)
    return { node, system_id: null, hostname: null, status: null, power: null, tags: [], zone: null, seen_at };
  const status =
    found.length > 1 ? `ambiguous: ${found.length} machines have this name` : machineStatusName(machine.status);
  return {
    node,
    system_id: machine.systemId,
    hostname: machine.hostname,
    status,
    power: machine.powerState,
    tags: machine.tags,
    zone: machine.zone,
    owner: machine.owner,
    seen_at,
  };
}

function sighting(node: NodeStatus) {
  return {
    node: node.node,
    seenAt: node.seen_at ?? '',
    tags: node.tags,
    ...(node.system_id === null ? {} : { systemId: node.system_id }),
    ...(node.hostname === null ? {} : { hostname: node.hostname }),
    ...(node.status === null ? {} : { status: node.status }),
    ...(node.power === null ? {} : { power: node.power }),
    ...(node.zone === null ? {} : { zone: node.zone }),
  };
}
