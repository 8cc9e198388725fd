import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MachineStatus } from '@sitewright/maas';
import { Client } from '@temporalio/client';
import type { Store } from '../../src/store/index.ts';
import { lazyConnection } from '../../worker/parts/lazy-connection.ts';
import { exampleDocuments, exampleHosts } from './living-site.ts';
import { type Backup, type ProcessSystem, processSystem, type Target } from './process-system.ts';
import { random } from './random.ts';

export interface SystemChaosPlan {
  /** Temporal's CLI. */
  readonly binary: string;
  readonly kills: number;
  readonly seed: number;
  /** Agents, each a process; default 4. */
  readonly nodes?: number;
  /** Kills after which a pair of runs is left alone; default 40. */
  readonly killsOfAPair?: number;
  /** Longest pause between two events; default 1.5 s. */
  readonly pauseMs?: number;
  readonly report?: (line: string) => void;
}

export interface SystemChaosResult {
  readonly kills: number;
  /** By the kind of killed process: `agent` covers all agents. */
  readonly killed: Readonly<Record<string, number>>;
  /** Times MAAS could not be reached. */
  readonly cuts: number;
  readonly resets: number;
  readonly restores: number;
  readonly siteRuns: number;
  readonly graphRuns: number;
  /** Deployments of machines, and tasks on nodes, that runs were to do. */
  readonly due: number;
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly withoutReport: readonly string[];
  /** Runs with an outcome other than success. */
  readonly notOk: readonly string[];
  readonly seconds: number;
}

const SITE = 'stl1';
const TASKS = ['t1', 't2', 't3', 't4'];
/** A run takes seconds; with a kill every other second on a busy machine, minutes. */
const RUN_LIMIT_MS = 1_200_000;
/** Then a pair of runs is left alone: many runs show more than long ones. */
const MAX_KILLS_OF_A_PAIR = 40;

/** A run in flight, for resets and to know whether a backup still fits. */
interface Open {
  readonly id: string;
  readonly workflowId: string;
}

/**
 * Runs on a site and runs of graphs on enrolled nodes, side by side, while worker, API, gateway, Temporal's server, agents and
 * the simulated MAAS are killed at random moments, MAAS is cut off, runs are reset, and backups are restored.
 */
export async function systemChaos(plan: SystemChaosPlan): Promise<SystemChaosResult> {
  const began = performance.now();
  const chaos = await Chaos.open(plan);
  try {
    await chaos.run();
    return chaos.result(Math.round((performance.now() - began) / 1000));
  } catch (error) {
    throw new Error(`after ${chaos.kills} kills`, { cause: error });
  } finally {
    await chaos.close();
  }
}

class Chaos {
  readonly #plan: SystemChaosPlan;
  readonly #system: ProcessSystem;
  readonly #client: Client;
  readonly #counts: string;
  readonly #cluster: number;
  readonly #nodes: readonly string[];
  readonly #next: () => number;
  readonly #open: { site?: Open; graph?: Open } = {};
  readonly #killed: Record<string, number> = {};
  readonly #found = {
    lost: [] as string[],
    doubled: [] as string[],
    withoutReport: [] as string[],
    notOk: [] as string[],
  };
  readonly #events = { cuts: 0, resets: 0, restores: 0, siteRuns: 0, graphRuns: 0, due: 0 };
  kills = 0;

  private constructor(
    plan: SystemChaosPlan,
    system: ProcessSystem,
    counts: string,
    cluster: number,
    nodes: readonly string[],
  ) {
    this.#plan = plan;
    this.#system = system;
    this.#client = new Client({ connection: lazyConnection(system.temporalAddress, 1_000) });
    this.#counts = counts;
    this.#cluster = cluster;
    this.#nodes = nodes;
    this.#next = random(plan.seed);
  }

  static async open(plan: SystemChaosPlan): Promise<Chaos> {
    const counts = mkdtempSync(join(tmpdir(), 'sitewright-counts-'));
    let [cluster, nodes] = [0, [] as string[]];
    const system = await processSystem({
      hosts: exampleHosts,
      commissionMs: 700,
      deployMs: 1_200,
      binary: plan.binary,
      async nodes(store) {
        ({ cluster, nodes } = await createCluster(store, plan.nodes ?? 4, counts));
        return { site: `cluster-${cluster}`, nodes };
      },
    });
    await system.post('/api/v1/sites', { name: SITE });
    await system.post(`/api/v1/sites/${SITE}/revisions`, { files: await exampleDocuments() });
    return new Chaos(plan, system, counts, cluster, nodes);
  }

  async close(): Promise<void> {
    await this.#client.connection.close();
    await this.#system.stop();
    rmSync(this.#counts, { recursive: true, force: true });
  }

  result(seconds: number): SystemChaosResult {
    return { kills: this.kills, killed: this.#killed, ...this.#events, ...this.#found, seconds };
  }

  /** Pairs of runs, one on the site and one of graphs, until there were enough kills. */
  async run(): Promise<void> {
    for (let pair = 1; this.kills < this.#plan.kills; pair += 1) {
      // Now and then from a backup that knows nothing of the last pair of runs.
      const older = pair % 4 === 2 ? await this.#system.backUp() : undefined;
      await this.#pair(pair);
      if (older === undefined) continue;
      this.#events.restores += 1;
      await older.restore();
      await this.#pair(pair + 0.5);
    }
  }

  async #pair(pair: number): Promise<void> {
    let isOver = false;
    const both = Promise.all([this.#siteRun(pair), this.#graphRun(pair)]).finally(() => {
      isOver = true;
    });
    // Its failure is thrown below.
    both.catch(() => undefined);
    let backup: { readonly of: Backup; readonly runs: string } | undefined;
    const most = Math.min(this.#plan.kills, this.kills + (this.#plan.killsOfAPair ?? MAX_KILLS_OF_A_PAIR));
    while (!isOver && this.kills < most) {
      await Promise.race([this.#system.after(this.#next() * (this.#plan.pauseMs ?? 1_500)), both]);
      if (isOver) break;
      const draw = this.#next();
      const runs = JSON.stringify(this.#open);
      if (draw < 0.03 && backup === undefined) backup = { of: await this.#system.backUp(), runs };
      else if (draw < 0.1 && backup?.runs === runs) {
        await backup.of.restore();
        this.#events.restores += 1;
        backup = undefined;
      } else if (draw < 0.16) await this.#reset();
      else if (draw < 0.22) await this.#cut();
      else await this.#kill();
      this.#plan.report?.(`pair ${pair}: ${this.kills} kills ${JSON.stringify({ ...this.#killed, ...this.#events })}`);
    }
    await both;
  }

  /** One to four together; a killed process may be killed again while it starts. */
  async #kill(): Promise<void> {
    const left = [...this.#system.targets];
    const chosen: Target[] = [];
    for (let count = 1 + Math.floor(this.#next() * 4); count > 0; count -= 1)
      chosen.push(...left.splice(Math.floor(this.#next() * left.length), 1));
    await Promise.all(chosen.map((target) => this.#system.kill(target)));
    await Promise.all(chosen.map((target) => this.#system.restart(target, false)));
    for (const target of chosen) {
      const what = target.replace(/-.*/, '');
      this.#killed[what] = (this.#killed[what] ?? 0) + 1;
      this.kills += 1;
    }
  }

  async #cut(): Promise<void> {
    this.#system.maasCable.cut();
    await this.#system.after(this.#next() * 3_000);
    this.#system.maasCable.restore();
    this.#events.cuts += 1;
  }

  /** Resets one of the open runs to before any of its workflow tasks. */
  async #reset(): Promise<void> {
    const run = this.#next() < 0.5 ? this.#open.site : this.#open.graph;
    const share = this.#next();
    if (run === undefined) return;
    const { workflowId } = run;
    const { runId, status } = await this.#client.workflow.getHandle(workflowId).describe();
    if (status.name !== 'RUNNING') return;
    const { events } = await this.#client.workflow.getHandle(workflowId, runId).fetchHistory();
    const points = (events ?? [])
      .filter((event) => event.workflowTaskCompletedEventAttributes)
      .map((event) => event.eventId!);
    const point = points[Math.floor(share * points.length)];
    if (point === undefined) return;
    await this.#client.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId, runId },
      reason: 'chaos',
      requestId: randomUUID(),
      workflowTaskFinishEventId: point,
    });
    this.#events.resets += 1;
  }

  async #siteRun(pair: number): Promise<void> {
    const before = await this.#deployed();
    const body = pair === 1 ? { kind: 'deploy_site' } : { kind: 'redeploy_nodes', nodes: exampleHosts };
    await this.#follow('site', `/api/v1/sites/${SITE}/runs`, body, `site-${pair}`);
    const after = await this.#deployed();
    this.#events.siteRuns += 1;
    for (const host of exampleHosts) this.#judge(`${host} in run ${pair}`, (after[host] ?? 0) - (before[host] ?? 0));
  }

  async #graphRun(pair: number): Promise<void> {
    const before = this.#done();
    const body = { cluster: this.#cluster, graphs: [{ type: 'custom' }] };
    await this.#follow('graph', '/api/v1/graphs/execute/', body, `graph-${pair}`);
    const after = this.#done();
    this.#events.graphRuns += 1;
    for (const task of after.keys())
      this.#judge(`${task} in run ${pair}`, (after.get(task) ?? 0) - (before.get(task) ?? 0));
  }

  #judge(what: string, times: number): void {
    this.#events.due += 1;
    if (times < 1) this.#found.lost.push(what);
    if (times > 1) this.#found.doubled.push(`${what}: ${times} times`);
  }

  /** Starts a run, whichever answers are lost, and waits for its report. */
  async #follow(lane: 'site' | 'graph', path: string, body: object, mark: string): Promise<void> {
    const limit = performance.now() + RUN_LIMIT_MS;
    const until = async <T>(work: () => Promise<T | undefined>): Promise<T | undefined> => {
      while (performance.now() < limit) {
        const answer = await work().catch(() => undefined);
        if (answer !== undefined) return answer;
        await this.#system.after(200);
      }
      return undefined;
    };
    const find = async () => {
      const { items } = (await this.#system.get(`/api/v1/runs?label=mark:${mark}`)) as {
        items: { id: string; workflow_id: string; outcome: string | null; reason: string | null }[];
      };
      // A start whose answer was lost, and which no list showed yet, was repeated: the later run is refused, because the first is open.
      return items.at(-1);
    };
    const started = await until(async () => {
      // The answer to an earlier start may have been lost.
      const found = await find();
      if (found === undefined) await this.#system.post(path, { ...body, labels: { mark } });
      return found;
    });
    if (started === undefined) {
      this.#found.withoutReport.push(`${mark}: could not be started`);
      return;
    }
    this.#open[lane] = { id: started.id, workflowId: started.workflow_id };
    const ended = await until(async () => {
      const found = await find();
      if (found !== undefined) this.#open[lane] = { id: found.id, workflowId: found.workflow_id };
      return found?.outcome ? found : undefined;
    });
    delete this.#open[lane];
    const report = ended && (await until(() => this.#system.get(`/api/v1/runs/${ended.id}/report`)));
    const { outcome } = (report ?? {}) as { outcome?: string };
    if (ended === undefined || outcome !== ended.outcome)
      this.#found.withoutReport.push(`${mark} (${(ended ?? started).id}): ${JSON.stringify(ended)}, report ${outcome}`);
    else if (outcome !== 'success')
      this.#found.notOk.push(`${mark}: ${outcome}: ${ended.reason} ${JSON.stringify(report).slice(0, 2_000)}`);
  }

  /** How often each machine began to be deployed; waits while the simulator is being killed. */
  async #deployed(): Promise<Record<string, number>> {
    for (;;) {
      const counts = await this.#system.entered(MachineStatus.Deploying).catch(() => undefined);
      if (counts !== undefined) return counts;
      await this.#system.after(100);
    }
  }

  /** How often each task ran on each node. */
  #done(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const node of this.#nodes) {
      const lines = linesOf(join(this.#counts, node));
      for (const task of TASKS) counts.set(`${task}@${node}`, lines.filter((line) => line === task).length);
    }
    return counts;
  }
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** A cluster of ready nodes with a graph whose tasks each add a line to a file of their node. */
async function createCluster(store: Store, count: number, folder: string) {
  const release = await store.releases.create({
    name: 'chaos',
    version: '1',
    operatingSystem: 'Ubuntu',
    rolesMetadata: { worker: { name: 'worker' } },
    tagsMetadata: { worker: { has_primary: false } },
  });
  const { id: cluster } = await store.clusters.create({ name: 'chaos', releaseId: release.id, mode: 'multinode' });
  const nodes: string[] = [];
  for (let at = 1; at <= count; at += 1) {
    const { id } = await store.nodes.create({ name: `chaos-${at}`, status: 'ready' });
    nodes.push(String(id));
  }
  const worker = ['worker'];
  await store.nodes.assign(
    cluster,
    nodes.map((id) => ({ id: Number(id), roles: worker })),
  );
  for (const id of nodes)
    await store.nodes.update(Number(id), { status: 'ready', roles: worker, pendingRoles: [], pendingAddition: false });
  await store.graphs.put({ kind: 'cluster', id: cluster }, 'custom', {
    tasks: TASKS.map((id, at) => ({
      id,
      type: 'shell',
      version: '2.1.0',
      role: worker,
      ...(at === 0 ? {} : { requires: [TASKS[at - 1]!] }),
      // Half of them after the same task of all nodes.
      ...(at % 2 === 0 || at === 0 ? {} : { 'cross-depends': [{ name: TASKS[at - 1]!, role: 'worker' }] }),
      parameters: {
        cmd: { yaql_exp: `'sleep 0.3; echo ${id} >>${folder}/' + $.uid` },
        timeout: 60,
        retries: 0,
        interval: 0,
      },
    })),
  });
  return { cluster, nodes };
}
