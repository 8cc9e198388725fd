import { isMaasFailure, machinesNamed } from '@sitewright/maas';
import { maintenanceKey, maintenanceOf } from '../clusters/maintenance.ts';
import type { MaintenanceBegun, MaintenanceEnded, Missed, NodeInMaintenance } from '../core/contracts/maintenance.ts';
import { given } from '../core/data/given.ts';
import { maintenanceText } from '../core/maintenance.ts';
import { type ClusterRecord, type Maintenance, type NodeRecord, type Store, unlessNotFound } from '../store/index.ts';
import type { OpsDependencies } from './dependencies.ts';
import type { DeploymentOperations } from './graphs/deployments.ts';
import type { PlanOperations } from './graphs/plans.ts';
import type { NodeOperations } from './nodes.ts';
import { asProblem, problem } from './problem.ts';
import { Service } from './service.ts';
import { compareSites } from './site-difference.ts';
import type { SiteOperations } from './sites.ts';

/** A node of the inventory by its id, or of the documents of a site by its name. */
type NodeReference = { readonly id: number } | { readonly site: string; readonly node: string };

interface Uses {
  readonly plans: PlanOperations;
  readonly deployments: DeploymentOperations;
  readonly sites: SiteOperations;
  readonly nodes: NodeOperations;
}

interface Request {
  readonly reason: string;
  readonly lock?: boolean;
}

/** What the store knows of a node: it may be in the inventory, in the documents of a site, or in both. */
interface Subject {
  readonly key: Pick<Maintenance, 'site' | 'node'>;
  readonly record: NodeRecord | undefined;
  readonly cluster: ClusterRecord | null;
  readonly current: Maintenance | undefined;
}

/**
 * Nodes that people work on: runs, plans and deployments of changes leave them out and say so. Runs under way keep their plans.
 *
 * @throws `not-found`, `conflict`, `invalid`, `maas-failed`
 */
export class MaintenanceOperations extends Service {
  readonly #uses: Uses;

  constructor(deps: OpsDependencies, uses: Uses) {
    super(deps);
    this.#uses = uses;
  }

  async list(): Promise<{ readonly items: readonly NodeInMaintenance[] }> {
    const all = await this.store.nodeMaintenance.list();
    return {
      items: await Promise.all(
        all.map(async (one) => {
          const [byId] = one.site === '' ? await this.store.nodes.list({ ids: [Number(one.node)] }) : [];
          return this.#shown(one, { record: byId ?? (await recordOf(this.store, one.site, one.node)) });
        }),
      ),
    };
  }

  async begin(reference: NodeReference, request: Request, actor: string): Promise<MaintenanceBegun> {
    const subject = await this.#subjectOf(reference);
    const { key, current } = subject;
    const name = subject.record?.name ?? key.node;
    if (current !== undefined)
      throw problem('conflict', `node ${name} has been ${maintenanceText(current)}`, {
        hint: `To change the reason, end it first: ${offCommand(subject)}`,
      });
    // Whether there is a machine to lock is known before anything changes.
    if (request.lock) await this.#machineOf(subject);
    const begun = await this.store.nodeMaintenance.begin({
      ...key,
      ...{ reason: request.reason, by: actor, since: new Date().toISOString() },
    });
    const notes: string[] = [];
    let lockedMachine: string | null = null;
    if (request.lock) {
      try {
        lockedMachine = await this.#lock(subject, request.reason);
      } catch (error) {
        await this.store.nodeMaintenance.end(key);
        throw error;
      }
      if (lockedMachine === null)
        notes.push('Its machine is locked in MAAS already: the end of the maintenance leaves it so.');
    }
    if (subject.record?.pendingDeletion)
      notes.push('It is pending removal from its cluster: that waits for the end of the maintenance, too.');
    await this.#audit('node.maintenance-on', subject, actor, request.reason, {
      node: name,
      locked: lockedMachine !== null,
    });
    return {
      maintenance: this.#shown({ ...begun, lockedMachine }, subject),
      runs: await this.#underWay(subject),
      notes,
    };
  }

  async end(reference: NodeReference, actor: string): Promise<MaintenanceEnded> {
    const subject = await this.#subjectOf(reference);
    const { current } = subject;
    const name = subject.record?.name ?? subject.key.node;
    if (current === undefined)
      throw problem('conflict', `node ${name} is not in maintenance`, {
        hint: "'sitewright node maintenance list' shows the nodes that are.",
      });
    const unlocked = current.lockedMachine !== null && (await this.#unlock(current.lockedMachine));
    await this.store.nodeMaintenance.end(current);
    const { reason, since, by } = current;
    await this.#audit('node.maintenance-off', subject, actor, reason, { node: name, since, by, unlocked });
    return { maintenance: this.#shown(current, subject), unlocked, missed: await this.#missedBy(subject) };
  }

  #audit(action: string, of: Subject, actor: string, reason: string, details: Record<string, unknown>) {
    return this.store.audit.append({
      actor,
      action,
      target: of.record === undefined ? `node/${of.key.site}/${of.key.node}` : `node/${of.record.id}`,
      reason,
      details,
    });
  }

  async #subjectOf(reference: NodeReference): Promise<Subject> {
    const all = await this.store.nodeMaintenance.list();
    if ('id' in reference) return this.#ofInventory(await this.store.nodes.get(reference.id), all);
    const { site, node } = reference;
    const own = await recordOf(this.store, site, node);
    if (own !== undefined) return this.#ofInventory(own, all);
    const key = { site, node };
    const current = all.find((one) => one.site === site && one.node === node);
    // A node that has left the documents since can still end its maintenance.
    if (current === undefined) await this.#uses.sites.checkNode(site, node);
    return { key, record: undefined, cluster: null, current };
  }

  async #ofInventory(record: NodeRecord, all: readonly Maintenance[]): Promise<Subject> {
    const cluster = record.clusterId === null ? null : await this.store.clusters.get(record.clusterId);
    const nodes = record.clusterId === null ? [record] : await this.store.nodes.list({ clusterId: record.clusterId });
    const members = { cluster, nodes };
    return {
      key: maintenanceKey(members, record),
      record,
      cluster,
      current: maintenanceOf(all, members, record),
    };
  }

  #shown(one: Maintenance, { record }: Pick<Subject, 'record'>): NodeInMaintenance {
    const { site, node, reason, since, by, lockedMachine } = one;
    return {
      node: site === '' ? (record?.name ?? node) : node,
      site: site === '' ? null : site,
      id: record?.id ?? null,
      cluster: record?.clusterId ?? null,
      ...{ reason, since, by, locked: lockedMachine !== null },
    };
  }

  /** The machine of a node in MAAS; why it cannot be locked otherwise. */
  async #machineOf({ key: { site, node } }: Subject) {
    if (site === '')
      throw problem('invalid', `node ${node} belongs to no site, so MAAS has no machine of it to lock`, {
        hint: 'Leave out --lock (API: "lock").',
      });
    const maas = this.deps.maas();
    const found = await machinesNamed(maas, node, await this.store.deployedMachines.get(site, node));
    const [machine, ...others] = found;
    if (machine !== undefined && others.length === 0) return { maas, machine };
    throw problem(
      'conflict',
      `MAAS knows ${found.length === 0 ? 'no machine' : `${found.length} machines`} named ${node}`,
      {
        hint: 'Leave out --lock (API: "lock"), or lock the machine in MAAS.',
      },
    );
  }

  async #lock(of: Subject, reason: string): Promise<string | null> {
    const { maas, machine } = await this.#machineOf(of);
    if (machine.locked) return null;
    await maas.client.machines.lock(machine.systemId, `sitewright: ${reason}`);
    await this.store.nodeMaintenance.locked(of.key, machine.systemId);
    return machine.systemId;
  }

  /** Whether MAAS has unlocked it: a machine that is gone, or that someone else has unlocked, needs nothing. */
  async #unlock(systemId: string): Promise<boolean> {
    const { client } = this.deps.maas();
    try {
      if (!(await client.machines.read(systemId)).locked) return false;
      await client.machines.unlock(systemId, 'sitewright: end of maintenance');
      return true;
    } catch (error) {
      if (isMaasFailure(error, 'not-found')) return false;
      throw error;
    }
  }

  /** The runs that have a claim on the node's site or cluster. */
  async #underWay({ key: { site }, cluster }: Subject): Promise<MaintenanceBegun['runs']> {
    const holders = await Promise.all([
      site === '' ? null : this.store.claims.holder({ site }),
      cluster === null ? null : this.store.claims.holder({ cluster: cluster.id }),
    ]);
    const ids = new Set(holders.flatMap((one) => one?.runId ?? []));
    const runs = await Promise.all(
      [...ids].map((id) =>
        this.store.runs.get(id).then(
          ({ number, kind }) => [{ id, number, kind }],
          (error: unknown) => {
            // One that is being opened, or no run.
            unlessNotFound(error);
            return [];
          },
        ),
      ),
    );
    return runs.flat();
  }

  async #missedBy({ key, record, cluster }: Subject): Promise<Missed> {
    const machine = key.site === '' ? null : await this.#machineMissed(key);
    if (cluster === null || record === undefined) return { machine, graphs: [] };
    const { graphs } = await this.#uses.deployments.changes(cluster.id);
    const plans = await Promise.all(
      graphs.map(async (type): Promise<Missed['graphs'][number]> => {
        try {
          const plan = await this.#uses.plans.explain(cluster.id, { type, nodes: [record.id] });
          const own = plan.nodes.find(({ node }) => node === String(record.id));
          const left = plan.left_out.find(({ node }) => node === record.id);
          const tasks = (own?.runs ?? []).map(({ task, first_time, changed }) => ({ task, first_time, changed }));
          return { type, tasks, ...given({ problem: left?.reason }) };
        } catch (error) {
          return { type, tasks: [], problem: asProblem(error).message };
        }
      }),
    );
    return { machine, graphs: plans };
  }

  async #machineMissed({ site, node }: Subject['key']): Promise<Missed['machine']> {
    const deployed = await this.store.deployedMachines.get(site, node);
    try {
      const { nodes, reason } = await this.#uses.nodes.status(site);
      const fate = nodes.find((one) => one.node === node)?.deployment;
      const fields = deployed === undefined ? [] : await this.#changedFields(site, node, deployed.revision);
      if (fate !== undefined) return { ...fate, fields };
      return { does: 'unknown', why: reason ?? 'the latest documents do not have it', fields };
    } catch (error) {
      return { does: 'unknown', why: asProblem(error).message, fields: [] };
    }
  }

  async #changedFields(site: string, node: string, revision: number): Promise<readonly string[]> {
    const [before, after] = await Promise.all(
      [String(revision), 'latest'].map(async (reference) => (await this.#uses.sites.documents(site, reference)).site),
    );
    return compareSites(before!, after!).nodes.find(({ name }) => name === node)?.fields ?? [];
  }
}

const offCommand = ({ key, record }: Subject): string =>
  record === undefined
    ? `sitewright node maintenance off ${key.node} --site ${key.site}`
    : `sitewright node maintenance off ${record.id}`;

/** The node of the inventory that documents of a site mean by a name: by host name, which is unique there, else by name. */
async function recordOf(store: Store, site: string, name: string): Promise<NodeRecord | undefined> {
  if (site === '') return undefined;
  const [named] = await store.nodes.list({ site, hostnames: [name] });
  if (named !== undefined) return named;
  const clusters = await store.clusters.list({ site });
  const own = await store.nodes.list({ site });
  const members = (await Promise.all(clusters.map(({ id }) => store.nodes.list({ clusterId: id })))).flat();
  return [...own, ...members].find((one) => one.name === name || one.hostname === name);
}
