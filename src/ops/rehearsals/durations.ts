import type { GraphRunReport } from '../../core/contracts/graph-run.ts';
import type { RunReport } from '../../core/contracts/site-run-report.ts';
import { counted, spanText } from '../../core/text/text.ts';
import { DEPLOYING_KINDS } from '../../core/words.ts';
import type { DeploymentConfiguration } from '../../documents/index.ts';
import type { Store } from '../../store/index.ts';
import { median } from '../usual-times.ts';
import type { Durations } from './order.ts';

/** Seconds, where no earlier run tells. */
const DEFAULTS = { commission: 300, deploy: 600, release: 60, erase: 300, task: 30 } as const;
/** Runs that are looked at, the newest ones. */
const MAX_RUNS = 10;
const MAX_ROWS = 200_000;
/** Machines that a run surely works on at once: the others may have waited for them. */
const AT_ONCE = 8;

/** Of a site's run: seconds that a call may take, and how many machines it works on one after the other. */
interface Limits {
  readonly deploy: number;
  readonly commission: number;
  readonly release: number;
  readonly turns: number;
}

/** What is assumed must not be why a run fails: a call then takes at most three quarters of its time limit. */
function defaultsWithin(limits: Limits | undefined) {
  if (limits === undefined) return DEFAULTS;
  const within = (kind: 'deploy' | 'commission' | 'release'): number => {
    const most = Math.floor((limits[kind] / limits.turns) * 0.75);
    return most < 1 ? DEFAULTS[kind] : Math.min(DEFAULTS[kind], most);
  };
  return {
    ...DEFAULTS,
    ...{ deploy: within('deploy'), commission: within('commission'), release: within('release') },
  };
}

/** The limits of a site whose machines may all be in one group. */
export const limitsOf = ({ physical_provisioner: of }: DeploymentConfiguration, machines: number): Limits => ({
  deploy: of.deploy_timeout,
  commission: of.prepare_node_timeout,
  release: of.destroy_timeout,
  turns: Math.max(1, Math.ceil(machines / Math.max(1, of.max_parallel_nodes))),
});

/** How long things took in earlier runs, in the middle; and in words where that comes from. */
export async function durationsOf(
  store: Store,
  {
    site,
    cluster,
    limits,
  }: { readonly site: string | null; readonly cluster: number | null; readonly limits?: Limits },
): Promise<{ readonly durations: Durations; readonly told: readonly string[] }> {
  const [deploys, tasks] = await Promise.all([
    site === null ? [] : deploymentsOf(store, site),
    cluster === null ? new Map<string, number[]>() : tasksOf(store, cluster),
  ]);
  const deploy = median(deploys);
  const defaults = defaultsWithin(limits);
  const isCut = defaults.deploy < DEFAULTS.deploy || defaults.commission < DEFAULTS.commission;
  const told: string[] = [];
  if (site !== null)
    told.push(
      deploy === undefined
        ? `A deployment takes ${spanText(defaults.deploy)}, and a commissioning ${spanText(defaults.commission)}: no earlier run of the site tells${isCut ? ', and its time limits allow little more' : ''}.`
        : `A deployment takes ${spanText(deploy)}: the median of ${counted(deploys.length, 'earlier deployment')}.`,
    );
  if (cluster !== null)
    told.push(
      tasks.size === 0
        ? `Each task takes ${DEFAULTS.task} seconds: no earlier run of the cluster tells.`
        : `${counted(tasks.size, 'task')} take the median of earlier runs, any other ${DEFAULTS.task} seconds.`,
    );
  const known = [...tasks].map(([task, times]) => [task, median(times)!] as const);
  return { durations: { ...defaults, deploy: deploy ?? defaults.deploy, tasks: Object.fromEntries(known) }, told };
}

async function deploymentsOf(store: Store, site: string): Promise<readonly number[]> {
  const { items } = await store.runs.list({ site, kind: DEPLOYING_KINDS, open: false, limit: MAX_RUNS });
  const reports = await Promise.all(items.map(({ id }) => store.runs.getReport(id)));
  return reports.flatMap((report) => deploymentsIn(report as RunReport | GraphRunReport | undefined));
}

function deploymentsIn(report: RunReport | GraphRunReport | undefined): number[] {
  if (report === undefined || !('site' in report)) return [];
  const { groups = [], nodes = [] } = report.baremetal ?? {};
  return groups.flatMap(({ name, calls }) => {
    const started = calls.find(({ call }) => call === 'deploy')?.started_at;
    if (started === undefined) return [];
    return nodes
      .flatMap(({ group, state, ended_at }) =>
        group === name && state === 'success' && ended_at !== undefined ? [Date.parse(ended_at)] : [],
      )
      .map((end) => (end - Date.parse(started)) / 1000)
      .filter((seconds) => seconds > 0)
      .sort((one, other) => one - other)
      .slice(0, AT_ONCE);
  });
}

async function tasksOf(store: Store, clusterId: number): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>();
  const all = await store.transactions.list({ clusterId });
  const graphs = all.filter(({ parentId, mode, timeEnd }) => parentId !== null && mode === 'apply' && timeEnd !== null);
  let rows = 0;
  for (const { id } of graphs.slice(-MAX_RUNS).reverse()) {
    for (const { task, timeStart, timeEnd } of await store.taskHistory.list(id, { statuses: ['success'] })) {
      if (timeStart === null || timeEnd === null) continue;
      const seconds = (Date.parse(timeEnd) - Date.parse(timeStart)) / 1000;
      const known = times.get(task);
      if (known === undefined) times.set(task, [seconds]);
      else known.push(seconds);
      rows++;
    }
    if (rows > MAX_ROWS) break;
  }
  return times;
}
