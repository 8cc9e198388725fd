import { type ClusterVersions, type PartVersion, partVersion, versionsOfCluster } from '../../clusters/versions.ts';
import type { ClusterVersionsAnswer } from '../../core/contracts/fuel/versions.ts';
import type { GraphRequest } from '../../core/graph-run/input.ts';
import { actionOf } from '../../core/graph-types.ts';
import { isTransactionOpen, type TaskStatus, type VersionGap } from '../../core/words.ts';
import type { NodeRecord, StorePorts, TransactionRecord } from '../../store/index.ts';
import { Service } from '../service.ts';
import { missedTasks } from './missed-tasks.ts';

type Deployed = NonNullable<ClusterVersionsAnswer['nodes'][number]['deployed']>;

interface FoundDeployment extends Deployed {
  /** All tasks of the node have ended well. */
  readonly whole: boolean;
}

/** Maximum number of graphs searched for what a node was deployed with. */
const RUNS = 100;
const MISSED = 100;

/** What clusters are built of, and what their nodes were deployed with. */
export class VersionOperations extends Service {
  async ofCluster(id: number): Promise<ClusterVersionsAnswer> {
    const cluster = await this.store.clusters.brief(id);
    const now = await versionsOfCluster(this.store, id);
    const nodes = await this.store.nodes.list({ clusterId: id });
    const graphs = (await this.store.transactions.list({ clusterId: id }))
      .filter(isDeployment)
      .reverse()
      .slice(0, RUNS);
    const [deployed, missed, machines, revision, others] = await Promise.all([
      deployments(this.store, graphs, nodes),
      missedTasks(this.store, id, graphs),
      cluster.site === null ? [] : this.store.deployedMachines.list(cluster.site),
      cluster.site === null ? null : this.store.sites.get(cluster.site).then((site) => site.lastGoodRevision),
      otherVersions(this.store, now),
    ]);
    const revisions = new Map(machines.map((one) => [one.node, one.revision]));
    return {
      cluster: id,
      ...now,
      revision,
      others,
      nodes: nodes.map((node) => {
        const found = deployed.get(String(node.id));
        const left = missed.get(String(node.id)) ?? [];
        const own = revisions.get(node.name) ?? null;
        const isOld = own !== null && revision !== null && own !== revision;
        const behind: VersionGap[] = [
          ...gaps(now, found),
          ...(isOld ? ['documents' as const] : []),
          ...(left.length > 0 ? ['tasks' as const] : []),
        ];
        return {
          id: node.id,
          name: node.name,
          deployed: found === undefined ? null : shown(found),
          revision: own,
          missed: left.slice(0, MISSED),
          behind,
        };
      }),
    };
  }
}

/** By node, the newest whole graph that deployed it. A run of some tasks only says nothing about the others. */
async function deployments(
  store: StorePorts,
  graphs: readonly TransactionRecord[],
  nodes: readonly NodeRecord[],
): Promise<ReadonlyMap<string, FoundDeployment>> {
  const found = new Map<string, FoundDeployment>();
  const wanted = new Set(nodes.filter((node) => !node.pendingAddition).map(({ id }) => String(id)));
  for (const graph of graphs) {
    if (found.size === wanted.size) break;
    const text = await store.transactions.getSnapshot(graph.id, 'versions');
    if (text === undefined) continue;
    // Written by `plan_graph` only.
    const versions = JSON.parse(text) as ClusterVersions;
    const about = { run: graph.parentId!, graph: graph.graphType!, at: graph.timeStart! };
    for (const [node, counts] of Object.entries(await store.taskHistory.countByNode(graph.id))) {
      if (!wanted.has(node) || found.has(node)) continue;
      const ended = Object.keys(counts) as TaskStatus[];
      if (ended.some((status) => DONE.has(status)))
        found.set(node, { ...about, ...versions, whole: ended.every((status) => DONE.has(status)) });
    }
  }
  return found;
}

const DONE: ReadonlySet<TaskStatus> = new Set(['success', 'ignored', 'skipped']);

function isDeployment({ parentId, mode, graphType, status, timeStart, planHash, input }: TransactionRecord): boolean {
  if (parentId === null || mode !== 'apply' || graphType === null || timeStart === null || planHash === null)
    return false;
  const { tasks, missed } = (input ?? {}) as Partial<GraphRequest>;
  const isWhole = tasks === undefined && missed === undefined;
  return actionOf(graphType) === 'deploy' && !isTransactionOpen(status) && isWhole;
}

function gaps(now: ClusterVersions, deployed: FoundDeployment | undefined): VersionGap[] {
  if (deployed === undefined) return ['never'];
  const found: VersionGap[] = [];
  if (!deployed.whole) found.push('unfinished');
  if (textOf(deployed.release) !== textOf(now.release)) found.push('release');
  if (deployed.plugins.map(textOf).sort().join() !== now.plugins.map(textOf).sort().join()) found.push('plugins');
  // The first revision is what was there before the first change.
  if ((deployed.settings ?? 1) !== (now.settings ?? 1)) found.push('settings');
  return found;
}

const textOf = ({ name, version, package: from }: PartVersion): string =>
  [name, version, from?.name ?? '', from?.version ?? ''].join('\n');

const shown = ({ whole: _, ...deployed }: FoundDeployment): Deployed => deployed;

async function otherVersions(store: StorePorts, now: ClusterVersions): Promise<readonly PartVersion[]> {
  const [releases, plugins, packages] = await Promise.all([
    store.releases.list(),
    store.plugins.list(),
    store.packages.list(),
  ]);
  const byId = new Map(packages.map((one) => [one.id, one]));
  const names = new Set(now.plugins.map(({ name }) => name));
  const used = new Set(now.plugins.map(({ id }) => id));
  return [
    ...releases.filter((one) => one.name === now.release.name && one.id !== now.release.id),
    ...plugins.filter((one) => names.has(one.name) && !used.has(one.id)),
  ].map((one) => partVersion(one, byId));
}
