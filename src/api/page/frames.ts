import type { ListsFrame, RunFrame } from '../../core/contracts/run-tasks.ts';
import { runSchema } from '../../core/contracts/runs.ts';
import { siteSchema } from '../../core/contracts/sites.ts';
import { given } from '../../core/data/given.ts';
import type { Operations } from '../../ops/index.ts';
import { shown } from '../shown.ts';
import type { Seen } from './watches.ts';

const viewRun = shown(runSchema);
const viewSite = shown(siteSchema);

/**
 * A run as its page shows it: the run, its status, its nodes as the store has them; of a run of graphs also counts of
 * tasks by graph, by node and by task.
 */
export async function lookAtRun(
  { runs, runTasks }: Pick<Operations, 'runs' | 'runTasks'>,
  id: string,
): Promise<Seen<RunFrame>> {
  const { run, status, report, nodes, needed } = await runs.shown(id);
  const frame = { run: viewRun(run), status: { ...status } };
  const ended = run.outcome !== null;
  if (report !== null && 'site' in report) {
    const { baremetal, released: _, ...outline } = report;
    const groups = Object.fromEntries(
      (baremetal?.groups ?? []).map((one, place) => [
        String(place),
        { ...one, ...given({ needed: needed[one.name] }) },
      ]),
    );
    const byName = Object.fromEntries(nodes.map((one) => [one.name, one]));
    return { ended, frame: { ...frame, report: outline, site_groups: groups, nodes: byName } };
  }
  const [counted, names] = await Promise.all([runTasks.counts(id), runTasks.nodeNames(id)]);
  const keyed = (of: 'nodes' | 'tasks') =>
    Object.fromEntries(
      counted.flatMap((graph) =>
        Object.entries(graph[of]).map(([name, counts]) => [
          `${graph.transaction}/${name}`,
          { transaction: graph.transaction, name, counts },
        ]),
      ),
    );
  const graphs = counted.map(({ nodes: _, tasks: __, ...graph }) => [String(graph.transaction), graph] as const);
  return {
    ended,
    frame: {
      ...{ ...frame, graphs: Object.fromEntries(graphs), node_names: names },
      ...{ node_tasks: keyed('nodes'), tasks: keyed('tasks') },
    },
  };
}

/** Data of lists: the newest runs, all sites, clusters in short. */
export async function lookAtLists({
  runs,
  sites,
  inventory,
}: Pick<Operations, 'runs' | 'sites' | 'inventory'>): Promise<Seen<ListsFrame>> {
  const [newest, open, allSites, clusters] = await Promise.all([
    runs.list({ limit: 50 }),
    runs.list({ open: true, limit: 50 }),
    sites.list(),
    inventory.clusters.list(),
  ]);
  const listed = [...newest.items, ...open.items];
  return {
    ended: false,
    frame: {
      runs: Object.fromEntries(listed.map((run) => [run.id, viewRun(run)])),
      sites: Object.fromEntries(allSites.map((site) => [site.name, viewSite(site)])),
      clusters: Object.fromEntries(
        clusters.map(({ cluster, busy, nodes }) => [
          String(cluster.id),
          {
            status: cluster.status,
            busy,
            nodes: nodes.map(({ id, status, online }) => `${id}:${status}:${online}`).join(),
          },
        ]),
      ),
    },
  };
}
