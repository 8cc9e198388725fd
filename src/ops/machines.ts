import type { Machine } from '../core/contracts/machine.ts';
import { given } from '../core/data/given.ts';
import { healthOf } from '../core/machine-health.ts';
import { compareText, someOf } from '../core/text/text.ts';
import type { NodeRecord } from '../store/index.ts';
import type { OpsDependencies } from './dependencies.ts';
import type { VersionOperations } from './inventory/versions.ts';
import type { MaintenanceOperations } from './maintenance.ts';
import type { RunOperations } from './runs.ts';
import { Service } from './service.ts';
import type { SiteOperations } from './sites.ts';

interface Sources {
  readonly sites: SiteOperations;
  readonly runs: RunOperations;
  readonly versions: VersionOperations;
  readonly maintenance: Pick<MaintenanceOperations, 'list'>;
}

/** What the documents of a site say about its machines. */
interface Documented {
  readonly racks: ReadonlyMap<string, string>;
  /** How machines differ from the newest documents, by name. */
  readonly behind: ReadonlyMap<string, string>;
}

/** So many sites and their revisions are remembered. */
const MOST_KEPT = 200;

/** The machines of the fleet, each with one health. */
export class MachineOperations extends Service {
  readonly #of: Sources;
  readonly #kept = new Map<string, Promise<Documented>>();

  constructor(deps: OpsDependencies, of: Sources) {
    super(deps);
    this.#of = of;
  }

  async list(site?: string): Promise<readonly Machine[]> {
    const nodes = await this.store.nodes.list(given({ site }));
    const siteNames = [...new Set(nodes.flatMap((node) => node.site ?? []))];
    const clusters = [...new Set(nodes.flatMap(({ clusterId }) => clusterId ?? []))];
    const [documents, behind, open, notes] = await Promise.all([
      Promise.all(siteNames.map(async (name) => [name, await this.#documented(name).catch(() => NOTHING)] as const)),
      Promise.all(clusters.map((id) => this.#behindIn(id).catch(() => new Map<number, string>()))),
      this.#of.runs.list({ open: true, limit: 100 }),
      this.#of.maintenance.list(),
    ]);
    const bySite = new Map(documents);
    const byId = new Map(behind.flatMap((one) => [...one]));
    const noted = new Map(notes.items.flatMap((one) => (one.id === null ? [] : [[one.id, one] as const])));
    const shown = await Promise.all(
      open.items.flatMap((run) =>
        run.site !== null && bySite.has(run.site) && run.kind !== 'test_site'
          ? [
              this.#of.runs.shownNodes(run.id).then(
                (all) => ({ run, all }),
                () => ({ run, all: [] }),
              ),
            ]
          : [],
      ),
    );
    const inRuns = new Map(
      shown.flatMap(({ run, all }) => all.map((one) => [JSON.stringify([run.site, one.name]), { run, one }] as const)),
    );
    const machineOf = (node: NodeRecord): Machine => {
      const known = node.site === null ? NOTHING : (bySite.get(node.site) ?? NOTHING);
      const at = inRuns.get(JSON.stringify([node.site, node.name]));
      const inRun = at && {
        running: at.one.running,
        failed: at.one.state === 'failed' ? (at.one.reason ?? 'failed') : undefined,
      };
      const note = noted.get(node.id);
      const about = {
        inRun,
        maintenance: note && { reason: note.reason, since: note.since, by: note.by },
        behind: known.behind.get(node.name) ?? byId.get(node.id),
      };
      return {
        ...{ id: node.id, name: node.name, site: node.site, cluster: node.clusterId },
        rack: known.racks.get(node.name) ?? node.labels.rack ?? null,
        ...healthOf(node, about),
        ...given({ run: at?.run.id }),
      };
    };
    return nodes
      .map(machineOf)
      .sort(
        (a, b) =>
          compareText(a.site ?? '', b.site ?? '') ||
          compareText(a.rack ?? '', b.rack ?? '') ||
          compareText(a.name, b.name),
      );
  }

  async #documentedNow(site: string, revisions: ReadonlyMap<string, number>): Promise<Documented> {
    const { record, site: documents } = await this.#of.sites.documents(site, 'latest');
    const behind = new Map<string, string>();
    for (const revision of new Set(revisions.values())) {
      if (revision === record.number) continue;
      const { nodes } = await this.#of.sites.difference(site, 'latest', String(revision));
      for (const { name, change, fields } of nodes)
        if (change === 'changed' && revisions.get(name) === revision)
          behind.set(name, `deployed by revision ${revision}; changed since: ${someOf(fields, 4)}`);
    }
    return { racks: new Map(documents.nodes.flatMap(({ name, rack }) => (rack ? [[name, rack]] : []))), behind };
  }

  /** Revisions never change: what they say is worked out once. */
  async #documented(site: string): Promise<Documented> {
    const { latestRevision } = await this.store.sites.get(site);
    if (latestRevision === null) return NOTHING;
    const deployed = await this.store.deployedMachines.list(site);
    const revisions = new Map(deployed.flatMap(({ node, revision }) => (revision ? [[node, revision]] : [])));
    const key = JSON.stringify([site, latestRevision, [...revisions]]);
    const found = this.#kept.get(key) ?? this.#documentedNow(site, revisions);
    this.#kept.set(key, found);
    found.catch(() => this.#kept.delete(key));
    for (const oldest of this.#kept.keys()) if (this.#kept.size > MOST_KEPT) this.#kept.delete(oldest);
    return found;
  }

  /** Nodes that do not have what their cluster is built of. */
  async #behindIn(cluster: number): Promise<ReadonlyMap<number, string>> {
    const { nodes } = await this.#of.versions.ofCluster(cluster);
    return new Map(
      nodes.flatMap(({ id, behind, missed }) => {
        const gaps = behind.filter((gap) => gap !== 'never');
        const how = [
          ...(gaps.length > 0 ? [`its cluster has other ${someOf(gaps, 4)}`] : []),
          ...(missed.length > 0
            ? [
                `not run since they changed: ${someOf(
                  missed.map(({ task }) => task),
                  4,
                )}`,
              ]
            : []),
        ];
        return how.length === 0 ? [] : [[id, how.join('; ')] as const];
      }),
    );
  }
}

const NOTHING: Documented = { racks: new Map(), behind: new Map() };
