import { createHash } from 'node:crypto';
import { openRegion } from '@sitewright/maas-simulator';
import type { GraphRunReport } from '../../../src/core/graph-run/index.ts';
import { normaliseTask } from '../../../src/graph/index.ts';
import { graphWorkflowId } from '../../../workflows/protocol.ts';
import { type Execution, NotFound, Random, type VirtualTime, type WorkflowCode } from '../temporal/index.ts';
import { Installation, type Observer, QUEUE } from './installation.ts';
import { SimulatedNode } from './node-agent.ts';
import { inVirtualTime, openWorld } from './open-world.ts';
import type { Verdict } from './verdict.ts';
import { CALM, type Weather } from './world.ts';

const SITE = 'dc1';
const HOUR = 3_600_000;
const ENDS_WITHIN_MS = 48 * HOUR;

/** Lives through one seed: runs of graphs on the nodes of a cluster. */
export async function simulateCluster(seed: number, code: WorkflowCode): Promise<Verdict> {
  const random = new Random(`cluster ${seed}`);
  return inVirtualTime(random, Date.parse('2026-02-05T08:00:00Z') + seed * 1000, (time) =>
    live(seed, random, time, code),
  );
}

async function live(seed: number, random: Random, time: VirtualTime, code: WorkflowCode): Promise<Verdict> {
  const wanted = random.fork('wanted');
  const rough = wanted.chance(0.7);
  const rare = (most: number): number => (rough && wanted.chance(0.6) ? wanted.next() * most : 0);
  const weather: Weather = {
    ...CALM,
    turnLost: rare(0.08),
    cacheLost: rare(0.2),
    turnLate: rare(0.05),
    storeFails: rare(0.03),
    storeLosesAnswers: rare(0.02),
    temporalFails: rare(0.03),
  };
  const pausedSince = new Map<string, number>();
  const world = await openWorld(seed, random, time, weather, () => undefined);
  const { store, temporal, story } = world;

  // A cluster, and a graph of tasks on its nodes.
  const { id: release } = await store.releases.create({
    name: 'Newton',
    version: 'newton-10.0',
    operatingSystem: 'Ubuntu',
    rolesMetadata: { compute: { name: 'compute' }, control: { name: 'control' } },
    tagsMetadata: {},
  });
  await store.sites.create({ name: SITE });
  const { id: cluster } = await store.clusters.create({ name: 'one', releaseId: release, site: SITE });
  const names: string[] = [];
  for (let at = 0, count = wanted.int(1, 4); at < count; at++) {
    const name = `rack-${at + 1}`;
    const roles = [at === 0 ? 'control' : 'compute'];
    const { id } = await store.nodes.create({ name, status: 'provisioned' });
    await store.nodes.assign(cluster, [{ id, roles }]);
    await store.nodes.update(id, { roles, pendingRoles: [], pendingAddition: false, status: 'provisioned' });
    names.push(name);
  }
  const tasks = Array.from({ length: wanted.int(1, 7) }, (_, at) => ({
    id: `t${at + 1}`,
    type: 'shell',
    version: '2.1.0',
    roles: [wanted.pick(['compute', 'control', '/.*/'])],
    requires: Array.from({ length: at }, (_before, before) => `t${before + 1}`).filter(() => wanted.chance(0.3)),
    parameters: {
      cmd: `echo ${at}`,
      timeout: wanted.pick([60, 300, 3600]),
      ...(wanted.chance(0.3) ? { retries: wanted.int(1, 2), interval: 5 } : {}),
    },
  }));
  await store.graphs.put({ kind: 'release', id: release }, 'default', {
    tasks: tasks.map((task) => normaliseTask(task)),
  });

  const askedWhilePaused = new Set<string>();
  const tryOf = (by: { runId: string; activity: string; attempt: number }): string =>
    `${by.runId} ${by.activity} ${by.attempt}`;
  const observer: Observer = {
    store: () => undefined,
    beforeMaasChange: () => undefined,
    afterMaasChange: () => undefined,
    askedHold(by, workflowId) {
      if (by !== null && pausedSince.has(workflowId)) askedWhilePaused.add(tryOf(by));
    },
  };
  const region = await openRegion({});
  const installation = new Installation(world, region, code, observer, {
    max_parallel_nodes: 8,
    heartbeat_seconds: 30,
    offline_wait_seconds: 60,
  });
  installation.startWorker();
  installation.startWorker();
  const failing = random.fork('failing');
  const bad = new Set(tasks.filter(() => wanted.chance(0.2)).map(({ id }) => id));
  const limits = new Map(tasks.map(({ id, parameters }) => [id, parameters.timeout]));
  const model = {
    fails: (task: string) => bad.has(task) && failing.chance(0.6),
    limit: (task: string) => limits.get(task) ?? 3600,
  };
  let effects = 0;
  const nodes = names.map((name) => {
    const node = new SimulatedNode(world, observer, SITE, name, model);
    node.started = (by, task) => {
      effects++;
      if (by !== null && askedWhilePaused.has(tryOf(by)))
        world.violated(`${name} started ${task} of ${by.workflowId} while the run is paused`);
    };
    if (!wanted.chance(0.1)) node.startAgent();
    return node;
  });

  const actions: Record<string, number> = {};
  const count = (name: string): void => void (actions[name] = (actions[name] ?? 0) + 1);
  let started = 0;
  const start = (): void => {
    const input = {
      cluster,
      started_by: 'ann',
      ...(wanted.chance(0.3) ? { hold_on_failure: true } : {}),
      ...(wanted.chance(0.1) ? { mode: 'noop' } : {}),
      ...(wanted.chance(0.2) ? { force: true } : {}),
    };
    const workflowId = graphWorkflowId(cluster, `r${++started}`);
    temporal.start({ type: 'execute_graph', workflowId, taskQueue: QUEUE, args: [input], memo: { help: 'simulated' } });
  };
  const open = (): Execution[] =>
    temporal.executions.filter(({ status, parent }) => status === 'RUNNING' && parent === undefined);
  const people = random.fork('people');
  const act = (): void => {
    const run = open().length === 0 ? undefined : people.pick(open());
    const action = people.weighed<string>([
      [5, 'pause'],
      [5, 'resume'],
      [1.5, 'stop'],
      [1, 'cancel'],
      [1, 'terminate'],
      [2, 'reset'],
      [4, 'retry_task'],
      [3, 'skip_task'],
      [1, 'query'],
      [2, 'start'],
    ]);
    count(action);
    world.tell(`--- a person: ${action} ${run?.workflowId ?? ''}`);
    if (action === 'start') start();
    if (action === 'start') return;
    if (run === undefined) return;
    try {
      if (action === 'pause' || action === 'resume' || action === 'stop') {
        if (action !== 'pause') pausedSince.delete(run.workflowId);
        temporal.signal(run, action, [{ by: 'ann' }]);
        if (action === 'pause') pausedSince.set(run.workflowId, time.now);
      } else if (action === 'cancel' || action === 'terminate') {
        pausedSince.delete(run.workflowId);
        temporal[action](run, 'by a person');
      } else if (action === 'reset') {
        pausedSince.delete(run.workflowId);
        if (run.turns.length > 1) temporal.reset(run, people.int(1, run.turns.length - 1), 'by a person');
      } else if (action === 'query') {
        void temporal.query(run, people.pick(['status', 'report', 'tree', 'plan'])).catch(() => undefined);
      } else {
        const request = { task: people.pick(tasks).id, node: String(people.int(1, names.length)) };
        void temporal
          .update(run, action, [request])
          .catch((error: Error) => world.tell(`${action} was refused: ${error.message}`));
      }
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
    }
  };

  const plan = random.fork('plan');
  const faultsEndAt = plan.int(1, 4) * HOUR;
  time.after(1, start);
  for (let at = 0, times = plan.int(0, 2); at < times; at++) time.after(plan.int(1, 7_200) * 1000, start);
  for (let at = 0, times = plan.chance(0.7) ? plan.int(0, 7) : 0; at < times; at++)
    time.after((plan.chance(0.8) ? plan.int(1, 900) : plan.int(1, faultsEndAt / 1000)) * 1000, act);
  const disasters = random.fork('disasters');
  for (let at = 0, times = rough ? plan.int(0, 6) : 0; at < times; at++) {
    time.after((plan.chance(0.8) ? plan.int(1, 900) : plan.int(1, faultsEndAt / 1000)) * 1000, () => {
      const what = disasters.pick(['kill', 'agent', 'agent', 'agent leaves', 'stall', 'store', 'temporal']);
      count(what);
      const { workers } = installation;
      if (what === 'agent') disasters.pick(nodes).killAgent(disasters.int(1, 600) * 1000);
      else if (what === 'agent leaves') disasters.pick(nodes).agent?.shutDown();
      else if (what === 'kill' && workers.length > 0)
        installation.kill(disasters.pick(workers), disasters.int(1, 300) * 1000);
      else if (what === 'stall' && workers.length > 0)
        installation.stall(disasters.pick(workers), disasters.int(1, 600) * 1000);
      else world.outages.begin(what, disasters.int(5, 600) * 1000);
    });
  }
  let isCalm = false;
  const letGo = (): void => {
    for (const run of open()) {
      temporal.signal(run, 'resume', [{}]);
      // One that is held by failed tasks ends when someone says so.
      if (time.now > time.start + faultsEndAt + 12 * HOUR) temporal.signal(run, 'stop', [{}]);
    }
    time.after(HOUR, letGo);
  };
  time.after(faultsEndAt, () => {
    isCalm = true;
    world.tell('--- all faults end; operators let every run go on');
    world.weather = CALM;
    world.outages.endAll();
    for (const worker of installation.workers) worker.host.stalledUntil = 0;
    for (const node of nodes) node.startAgent();
    pausedSince.clear();
    letGo();
  });

  const limit = time.now + faultsEndAt + ENDS_WITHIN_MS;
  const isOver = (): boolean => isCalm && temporal.executions.every(({ status }) => status !== 'RUNNING');
  while (world.violation === null && !isOver() && (await time.step())) {
    if (time.now > limit)
      world.violated(`${open()[0]?.workflowId} did not end within ${ENDS_WITHIN_MS / HOUR} hours after the last fault`);
  }
  if (world.violation === null) await checkEnd();

  async function checkEnd(): Promise<void> {
    const claim = await store.claims.holder({ cluster });
    if (claim !== null && temporal.current(temporal.find(claim.workflowId, claim.runId)).status !== 'TERMINATED')
      world.violated(`${claim.workflowId} has ended and still has the cluster`);
    for (const row of (await store.runs.list({ kind: 'execute_graph', limit: 100 })).items) {
      const now = temporal.current(temporal.find(row.workflowId, row.temporalRunId ?? row.id));
      if (now.status === 'TERMINATED') continue;
      const report = (await store.runs.getReport(row.id)) as unknown as GraphRunReport | undefined;
      if (row.outcome === null || report === undefined) {
        world.violated(`${row.workflowId} has ended (${now.status}), and its row or report is open`);
        continue;
      }
      // A reset takes back what the run knows of tasks: one that is stopped since asks for none of them again.
      if (now.runId === row.id) compare(row.workflowId, row.id, report);
    }
  }

  /** What the report says of tasks, against the journals of their nodes. */
  function compare(workflowId: string, runId: string, report: GraphRunReport): void {
    const text = JSON.stringify(report);
    for (const node of nodes) {
      for (const [key, { end }] of node.journal) {
        const [run = '', task = '', generation = ''] = key.split(' ');
        if (!run.includes(runId)) continue;
        const newest = [...node.journal.keys()].filter((one) => one.startsWith(`${run} ${task} `)).length;
        if (end?.outcome === 'failed' && Number(generation) === newest && !text.includes(task))
          world.violated(`${task} failed on ${node.name}, and the report of ${workflowId} does not say so`);
      }
    }
  }

  for (const worker of installation.workers) worker.kill();
  for (const node of nodes) node.agent?.kill();
  await store.close();
  return {
    seed,
    story,
    violation: world.violation,
    digest: createHash('sha256').update(story.join('\n')).digest('hex').slice(0, 16),
    events: time.events,
    turns: temporal.turnsDone,
    replays: temporal.workers.reduce((sum, { replays }) => sum + replays, 0),
    changes: effects,
    simulatedMs: time.now - time.start,
    outcomes: temporal.executions
      .filter(({ parent }) => parent === undefined)
      .map(({ type, status }) => `${type} ${status}`),
    actions,
  };
}
