import { createHash } from 'node:crypto';
import { openRegion } from '@sitewright/maas-simulator';
import { type Execution, NotFound, Random, type VirtualTime, type WorkflowCode } from '@sitewright/temporal-simulator';
import type { GraphRunReport } from '../../../src/core/contracts/graph-run.ts';
import { doneOf } from '../../../src/core/graph-run/task-counts.ts';
import { graphRunName } from '../../../src/core/graph-run/title.ts';
import { isTransactionOpen } from '../../../src/core/words.ts';
import { normaliseTask } from '../../../src/graph/index.ts';
import { Installation, type Observer, QUEUE } from '../../../worker/parts/rehearsals/installation.ts';
import { inVirtualTime, openWorld } from '../../../worker/parts/rehearsals/open-world.ts';
import { CALM, caller, type Weather } from '../../../worker/parts/rehearsals/world.ts';
import { graphWorkflowId } from '../../../workflows/protocol.ts';
import { ClaimTrace } from './claim-trace.ts';
import { openCopiedStore } from './copied-store.ts';
import { garbageFrom } from './garbage.ts';
import { FAIR, type GatewayWeather, SimulatedGateway } from './gateway-port.ts';
import { goalOf } from './goal.ts';
import { GraphRolloutChecks } from './graph-rollout-checks.ts';
import { Hosts } from './hosts.ts';
import { LimitedNodes } from './limited-nodes.ts';
import { WITH_LIMITS, WITH_OVERRIDES } from './limits.ts';
import { processOf } from './machine.ts';
import { mixOf, overridesIn } from './mix.ts';
import { hasSucceeded, SimulatedNode } from './node-agent.ts';
import { beginOf, ENDS_WITHIN_MS, notEnded, Script, stateOf, stillOpen, wokenForNothing } from './script.ts';
import { nodeChecksFrom, rolloutFrom } from './site-seed.ts';
import { takeOverSystemCalls } from './system-calls.ts';
import type { Verdict } from './verdict.ts';

const SITE = 'dc1';
/** In the middle of which people and faults come. */
const STEPS = [
  [8, 'task'],
  [1, 'open_run'],
  [1, 'record_tasks'],
  [1, 'close_graph'],
  [1, 'close_run'],
] as const;
/** From this seed on, some clusters have a role with a rollout. */
const WITH_ROLLOUTS = 300_000;
/** The id of an activity that runs a task on a node. */
const TASK_STEP = /@(\d+)(?::\d+)?(?:\/\d+)?$/;
/** What people do, by weight. */
const PEOPLE: readonly (readonly [weight: number, what: string])[] = [
  [5, 'pause'],
  [5, 'resume'],
  [1.5, 'stop'],
  [1, 'cancel'],
  [1, 'terminate'],
  [2, 'reset'],
  [4, 'retry_task'],
  [3, 'skip_task'],
  [1, 'query'],
  [1, 'garbage'],
  [2, 'start'],
  [0.7, 'two starts'],
  [1, 'cancel of a part'],
  [1, 'terminate of a part'],
  [2, 'reset of a part'],
  [1, 'reset of one that ended'],
];
/** What they also do to rollouts. */
const ROLLOUT_PEOPLE: typeof PEOPLE = [
  [4, 'promote'],
  [2, 'hold'],
  [0.5, 'abort_rollout'],
];
/** What they also do where nodes ask the checks of rollouts. */
const CHECKS_PEOPLE: typeof PEOPLE = [[3, 'retry_node']];
/** What they also do where a site has limits. */
const LIMITS_PEOPLE: typeof PEOPLE = [
  [2, 'maintenance'],
  [1, 'limits'],
];
const FAULTS = [
  ...['kill', 'stall', 'store', 'temporal', 'gateway', 'gateway is killed'],
  ...[
    'agent',
    'agent leaves',
    'agent restarts over and over',
    'agent dies at a call',
    'supervisor',
    'power',
    'power at a call',
  ],
  ...['reboot', 'reinstalled', 'disk full', 'clock', 'revoked', 'slow'],
];
const HOUR = 3_600_000;
const ORDERED_BEFORE_MS = 180_000;

/** Lives through one seed: runs of graphs on the nodes of a cluster. */
export async function simulateCluster(
  seed: number,
  code: WorkflowCode,
  without: readonly string[] = [],
): Promise<Verdict> {
  const random = new Random(`cluster ${seed}`);
  return inVirtualTime(random, beginOf('2026-02-05T08:00:00Z', seed), async (time) => {
    const giveBack = takeOverSystemCalls(() => processOf(time.hosts.getStore()));
    try {
      return await live(seed, random, time, code, without);
    } finally {
      giveBack();
    }
  });
}

async function live(
  seed: number,
  random: Random,
  time: VirtualTime,
  code: WorkflowCode,
  without: readonly string[],
): Promise<Verdict> {
  const wanted = random.fork('wanted');
  const rough = wanted.chance(0.7);
  const rare = (most: number): number => (rough && wanted.chance(0.6) ? wanted.next() * most : 0);
  const script = new Script(time, random.fork('script'), without, () =>
    stateOf(temporal, (workflowId) => pausedSince.has(workflowId)),
  );
  const weather: Weather = script.weather({
    ...CALM,
    turnLost: rare(0.08),
    cacheLost: rare(0.2),
    turnLate: rare(0.05),
    storeFails: rare(0.03),
    storeLosesAnswers: rare(0.02),
    temporalFails: rare(0.03),
  });
  const pausedSince = new Map<string, number>();
  /** Runs that people have stopped, cancelled, or ended a part of. */
  const ended = new Set<string>();
  const mix = mixOf('cluster', seed);
  const copied = await openCopiedStore();
  const begins = (workflowId: string, type: string, detail: string): void => {
    // A server hands over signals before updates, also those that came later.
    if (type === 'WorkflowExecutionUpdateAccepted' && detail === 'resume') pausedSince.delete(workflowId);
    if (type !== 'ActivityTaskScheduled') return;
    const task = TASK_STEP.exec(detail);
    rollouts.begins(workflowId, detail);
    script.begins(task === null ? detail : 'task', task === null ? null : (names[Number(task[1]) - 1] ?? null));
  };
  const names: string[] = [];
  const world = await openWorld(seed, random, time, weather, begins, copied.store);
  const { store, temporal, story } = world;
  const hosts = new Hosts(world, random.fork('hosts'));
  const nodeOf = (id: string) => {
    const name = names[Number(id) - 1] ?? '';
    return { name, rack: limited?.rackOf(name) ?? '' };
  };
  const waves = random.fork('waves');
  const isLimited = seed >= WITH_LIMITS && random.fork('limited').chance(0.8);
  const asked = isLimited && seed >= WITH_OVERRIDES ? nodeChecksFrom(random.fork('checks')) : undefined;
  const rollout = seed >= WITH_ROLLOUTS && waves.chance(0.5) ? { ...rolloutFrom(waves), ...asked } : undefined;
  const rollouts = new GraphRolloutChecks(world, nodeOf, hosts.answers, rollout?.order);

  // A cluster, and a graph of tasks on its nodes.
  const { id: release } = await store.releases.create({
    name: 'Newton',
    version: 'newton-10.0',
    operatingSystem: 'Ubuntu',
    rolesMetadata: { compute: { name: 'compute', ...(rollout && { rollout }) }, control: { name: 'control' } },
    tagsMetadata: {},
  });
  await store.sites.create({ name: SITE });
  const clusters: number[] = [];
  const addCluster = async (called: string, count: number): Promise<void> => {
    const { id: cluster } = await store.clusters.create({ name: called, releaseId: release, site: SITE });
    clusters.push(cluster);
    for (let at = 0; at < count; at++) {
      const name = `rack-${names.length + 1}`;
      const roles = [names.length === 0 ? 'control' : 'compute'];
      const { id } = await store.nodes.create({ name, status: 'provisioned', ...(limited && { site: SITE }) });
      await store.nodes.assign(cluster, [{ id, roles }]);
      await store.nodes.update(id, { roles, pendingRoles: [], pendingAddition: false, status: 'provisioned' });
      names.push(name);
    }
  };
  const limited = isLimited
    ? new LimitedNodes(world, SITE, random.fork('limits'), rollout === undefined ? [] : (asked?.checks ?? []))
    : null;
  await addCluster('one', wanted.int(1, 4));
  // Its runs go on beside those of the first.
  if (limited !== null) await addCluster('two', limited.random.int(1, 4));
  const tasks = Array.from({ length: wanted.int(1, wanted.pick([4, 7, 11])) }, (_, at) => ({
    id: `t${at + 1}`,
    type: 'shell',
    version: '2.1.0',
    roles: [wanted.pick(['compute', 'control', '/.*/'])],
    requires: Array.from({ length: at }, (_before, before) => `t${before + 1}`).filter(() => wanted.chance(0.3)),
    parameters: {
      cmd: `echo ${at}`,
      timeout: wanted.pick([60, 300, 900]),
      ...(wanted.chance(0.3) ? { retries: wanted.int(1, 2), interval: 5 } : {}),
    },
  }));
  // A graph with a rollout has to fit into one workflow.
  if (rollout !== undefined) tasks.splice(4);
  await store.graphs.put({ kind: 'release', id: release }, 'default', {
    tasks: tasks.map((task) => normaliseTask(task)),
  });

  await limited?.open(names);
  const askedWhilePaused = new Set<string>();
  const askedWhileStopped = new Set<string>();
  const stopped = new Set<string>();
  /** Run and task: its failure is ignored since. */
  const skipped = new Set<string>();
  /** Runs a part of which people have ended: what it knows of its tasks is lost with it. */
  const partsTouched = new Set<string>();
  const proven = new Set<string>();
  /** When runs have closed themselves in the store. */
  const closedAt = new Map<string, number>();
  const tryOf = (by: { runId: string; activity: string; attempt: number }): string =>
    `${by.runId} ${by.activity} ${by.attempt}`;
  const observer: Observer = {
    store(call) {
      limited?.checks.store(call);
      const { port, method, args, result } = call;
      const by = caller();
      if (by === null) return;
      if (port === 'claims' && method === 'holder') proven.add(tryOf(by));
      if (port === 'runs' && method === 'end' && result !== null)
        closedAt.set((args[0] as { id: string }).id, time.now);
      if (port === 'taskHistory' && method === 'record' && !proven.has(tryOf(by)))
        world.violated(`${by.activity} of ${by.workflowId} recorded tasks without proof that its run has the cluster`);
    },
    beforeMaasChange: () => undefined,
    afterMaasChange: () => undefined,
    askedHold(by, workflowId) {
      if (by === null) return () => undefined;
      const since = pausedSince.get(workflowId);
      if (since !== undefined) askedWhilePaused.add(tryOf(by));
      if (stopped.has(workflowId)) askedWhileStopped.add(tryOf(by));
      // Who asks in the last moment of a pause may be told that it is over; who gets no answer begins nothing.
      return () => {
        if (since === undefined || pausedSince.get(workflowId) !== since) askedWhilePaused.delete(tryOf(by));
        if (!stopped.has(workflowId)) askedWhileStopped.delete(tryOf(by));
      };
    },
  };
  const region = await openRegion({});
  const claims = new ClaimTrace(temporal, 'cluster');
  const settings = { max_parallel_nodes: 8, heartbeat_seconds: 30, offline_wait_seconds: 60 };
  const installation = new Installation(world, region, code, claims.beside(observer), settings, { askHost: hosts.ask });
  installation.startWorker();
  installation.startWorker();
  const failing = random.fork('failing');
  const bad = new Set(tasks.filter(() => wanted.chance(0.2)).map(({ id }) => id));
  const model = {
    fails: (task: string) => bad.has(task) && failing.chance(0.6),
    answerTo: (script: string, node: string) => hosts.toScript(script, node),
  };
  let gatewayWeather: GatewayWeather = {
    gatewayLost: rare(0.05),
    gatewayLosesAnswers: rare(0.05),
    gatewayDoubled: rare(0.1),
    gatewayLate: rare(0.05),
    gatewayGarbled: rare(0.05),
  };
  const gateway = new SimulatedGateway(world, observer, SITE, () => gatewayWeather);
  /** The run of a graph, by the name that nodes know. */
  const ownerOf = (run: string): Execution | undefined =>
    temporal.executions.find(({ runId }) => run.endsWith(`.${runId}`));
  gateway.signed = ({ run, task, node }, askedAt) => {
    const owner = ownerOf(run);
    const since = owner === undefined ? undefined : pausedSince.get(owner.workflowId);
    if (since !== undefined && since < askedAt)
      world.violated(`the gateway signed the order of ${task} for ${node}, and ${owner!.workflowId} is paused`);
  };
  const nodes: SimulatedNode[] = [];
  for (const name of names) {
    const node = new SimulatedNode(world, gateway, SITE, name, model);
    node.started = (by, task, run, asks) => {
      const owner = ownerOf(run);
      const since = owner === undefined ? undefined : pausedSince.get(owner.workflowId);
      // An order that its node had before may still wait there, and longer on a slow machine.
      if (since !== undefined && time.now - since > ORDERED_BEFORE_MS + node.startsLaterBy(since))
        world.violated(`${name} started ${task} of ${owner?.workflowId}, which is paused since long before`);
      if (by !== null && askedWhilePaused.has(tryOf(by)))
        world.violated(`${name} started ${task} of ${by.workflowId} while the run is paused`);
      if (by !== null && askedWhileStopped.has(tryOf(by)))
        world.violated(`${name} started ${task} of ${by.workflowId} while the run is being stopped`);
      if (!asks) limited?.starts(name, task, run, nodes);
    };
    await node.enrol();
    if (!wanted.chance(0.1)) node.startAgent();
    nodes.push(node);
  }
  limited?.watch(nodes);

  let started = 0;
  const start = async (): Promise<void> => {
    const wanted = random.fork(`start ${started + 1}`);
    const cluster = wanted.fork('cluster').pick(clusters);
    const workflowId = graphWorkflowId(cluster, `r${++started}`);
    const beyond =
      limited !== null && overridesIn('cluster', seed, wanted) ? await limited.checks.beyond(wanted, workflowId) : null;
    const input = {
      cluster,
      started_by: 'ann',
      ...(wanted.chance(0.3) ? { hold_on_failure: true } : {}),
      ...(wanted.chance(0.1) ? { mode: wanted.pick(['noop_run', 'dry_run']) } : {}),
      ...(wanted.chance(0.2) ? { force: true } : {}),
      ...beyond?.input,
    };
    const memo = { help: 'simulated', ...beyond?.memo };
    const execution = temporal.start({ type: 'execute_graph', workflowId, taskQueue: QUEUE, args: [input], memo });
    beyond?.started(execution);
  };
  const open = (): Execution[] =>
    temporal.executions.filter(({ status, parent }) => status === 'RUNNING' && parent === undefined);
  const reset = (run: Execution): void => {
    const last = run.turns.length - 1;
    if (last >= 1) temporal.reset(run, people.int(1, last), 'by a person');
  };
  /** When people last let a run go on, by workflow id. */
  const resumedAt = new Map<string, number>();
  const letGoOn = ({ workflowId }: Execution): void => {
    pausedSince.delete(workflowId);
    resumedAt.set(workflowId, time.now);
  };
  let people = random.fork('people');
  const usual = [
    ...PEOPLE,
    ...(rollout === undefined ? [] : ROLLOUT_PEOPLE),
    ...(rollout?.checks === undefined ? [] : CHECKS_PEOPLE),
    ...(limited === null ? [] : LIMITS_PEOPLE),
  ];
  const act = (own: Random, named?: string): void => {
    people = own;
    const run = open().length === 0 ? undefined : people.pick(open());
    const action = named ?? mix.weighed<string>(people, usual);
    script.happens(action);
    script.again(people, (next) => act(next));
    world.tell(`--- a person: ${action} ${run?.workflowId ?? ''}`);
    if (action === 'maintenance' || action === 'limits') {
      void limited?.[action](people);
      return;
    }
    if (action === 'two starts') void start();
    if (action === 'start' || action === 'two starts') {
      void start();
      return;
    }
    if (action.endsWith('of a part')) {
      const parts = temporal.executions.filter(({ parent, status }) => parent !== undefined && status === 'RUNNING');
      if (parts.length === 0) return;
      const part = people.pick(parts);
      world.tell(`    ${part.workflowId}`);
      if (action.startsWith('reset')) {
        const last = part.turns.length - 1;
        if (last >= 1) temporal.reset(part, people.int(1, last), 'by a person');
        return;
      }
      ended.add(part.parent!.workflowId);
      partsTouched.add(part.parent!.workflowId);
      if (action.startsWith('cancel')) temporal.cancel(part);
      else temporal.terminate(part, 'by a person');
      return;
    }
    if (action === 'reset of one that ended') {
      const closed = temporal.executions.filter(
        ({ parent, status, turns }) => parent === undefined && status !== 'RUNNING' && turns.length > 1,
      );
      if (closed.length === 0) return;
      const one = people.pick(closed);
      // A pause of a later execution is not in this one's history.
      if (temporal.newest(one.workflowId) !== one) letGoOn(one);
      reset(one);
      return;
    }
    if (run === undefined) return;
    try {
      if ((action === 'pause' || action === 'resume') && people.chance(0.5)) {
        if (action === 'resume') letGoOn(run);
        const sentAt = time.now;
        void temporal.update(run, action, [{ by: 'ann' }]).then(
          () => {
            const isOver =
              (resumedAt.get(run.workflowId) ?? -1) >= sentAt || run.status !== 'RUNNING' || run.cancelRequested;
            if (action === 'pause' && !isOver && !pausedSince.has(run.workflowId))
              pausedSince.set(run.workflowId, time.now);
          },
          (error: Error) => world.tell(`${action} was refused: ${error.message}`),
        );
      } else if (action === 'pause' || action === 'resume' || action === 'stop') {
        if (action !== 'pause') letGoOn(run);
        temporal.signal(run, action, [{ by: 'ann' }]);
        if (action === 'stop') {
          ended.add(run.workflowId);
          stopped.add(run.workflowId);
        }
        // Of one that is cancelled, there is nothing to pause.
        if (action === 'pause' && !run.cancelRequested) pausedSince.set(run.workflowId, time.now);
      } else if (action === 'cancel' || action === 'terminate') {
        letGoOn(run);
        ended.add(run.workflowId);
        temporal[action](run, 'by a person');
        // Who ends a run starts another.
        script.again(people.fork('instead'), start);
      } else if (action === 'reset') {
        letGoOn(run);
        stopped.delete(run.workflowId);
        reset(run);
      } else if (action === 'garbage') {
        const parts = temporal.executions.filter((one) => one.status === 'RUNNING' && one.parent !== undefined);
        const to = parts.length > 0 && people.chance(0.3) ? people.pick(parts) : run;
        const { name, payload } = garbageFrom(people, to !== run);
        world.tell(`    ${name} ${JSON.stringify(payload)}`);
        // Its name alone lets the run go on, or end.
        if (['stop', 'reject', 'resume'].includes(name)) letGoOn(run);
        if (['stop', 'reject'].includes(name)) ended.add(run.workflowId);
        if (people.chance(0.7)) temporal.signal(to, name, payload);
        else void temporal.update(to, name, payload).catch(() => undefined);
      } else if (action === 'promote' || action === 'hold' || action === 'abort_rollout') {
        const limit = action === 'promote' && people.chance(0.4) ? { limit: people.int(1, 3) } : {};
        if (people.chance(0.5)) temporal.signal(run, action, [limit]);
        else
          void temporal
            .update(run, action, [limit])
            .catch((error: Error) => world.tell(`${action} was refused: ${error.message}`));
      } else if (action === 'query') {
        void temporal.query(run, people.pick(['status', 'report', 'tree', 'plan'])).catch(() => undefined);
      } else if (action === 'retry_node') {
        const request = { node: String(people.int(1, names.length)), tasks: people.chance(0.3) };
        void temporal
          .update(run, action, [request])
          .catch((error: Error) => world.tell(`${action} was refused: ${error.message}`));
      } else {
        const about = people.pick(tasks).id;
        if (action === 'skip_task') skipped.add(`${run.workflowId} ${about}`);
        const request = { task: about, node: String(people.int(1, names.length)) };
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
  /** In the middle of a step, or at a time. */
  const beside = (kind: 'person' | 'fault' | 'restore', when: number, happen: Parameters<Script['plan']>[2]): void => {
    if (plan.chance(0.6)) script.plan(kind, when, happen);
    else
      script.planBeside(
        kind,
        plan.weighed(STEPS),
        plan.int(1, 6),
        plan.int(0, plan.pick([100, 5_000, 60_000])),
        happen,
      );
  };
  time.after(1, start);
  for (let at = 0, times = plan.int(0, 2); at < times; at++) script.plan('start', plan.int(1, 7_200) * 1000, start);
  // Soon: one that comes later finds nobody to share with.
  for (let at = 0, own = limited?.random, times = own?.int(1, 4) ?? 0; at < times; at++)
    script.plan('start', own!.int(1, own!.pick([60, 900])) * 1000, start);
  for (let at = 0, times = plan.chance(0.8) ? plan.int(0, plan.pick([6, 10, 16])) : 0; at < times; at++)
    beside('person', (plan.chance(0.8) ? plan.int(1, 900) : plan.int(1, faultsEndAt / 1000)) * 1000, (own) => act(own));
  const fail = (disasters: Random, about: string | null, named?: string): void => {
    const what =
      named ??
      mix.weighed(
        disasters,
        FAULTS.map((kind) => [1, kind] as const),
      );
    script.happens(what);
    // Who sees it does something.
    script.again(disasters, (next) => act(next));
    const { workers } = installation;
    const node = nodes.find(({ name }) => name === about) ?? disasters.pick(nodes);
    const downMs = disasters.int(1, 600) * 1000;
    if (what === 'agent') node.killAgent(downMs);
    else if (what === 'agent leaves') node.restartAgent();
    else if (what === 'agent restarts over and over')
      for (let at = 0, ms = 0, times = disasters.int(3, 8); at < times; at++, ms += disasters.int(5, 15) * 1000)
        time.after(ms, () => node.restartAgent());
    else if (what === 'agent dies at a call') node.killWithin(disasters.int(0, 60), disasters.int(1, 20) * 1000);
    else if (what === 'supervisor') node.killSupervisor();
    else if (what === 'power') node.losePower(downMs);
    else if (what === 'power at a call') node.losePowerWithin(disasters.int(0, 60), downMs);
    else if (what === 'reboot') node.reboot(downMs);
    else if (what === 'reinstalled') node.reinstall(downMs);
    else if (what === 'disk full') node.fillDisk(disasters.pick([0, 1_000, 20_000, 2_000_000]), downMs);
    else if (what === 'clock') node.jumpClock(disasters.pick([-1, 1]) * disasters.pick([5, 300, 3_600, 90_000]) * 1000);
    else if (what === 'slow') node.becomeSlow(downMs);
    else if (what === 'revoked') void node.revoke(downMs);
    else if (what === 'gateway is killed') gateway.kill(downMs);
    else if (what === 'kill' && workers.length > 0)
      installation.kill(disasters.pick(workers), disasters.int(1, 300) * 1000);
    else if (what === 'stall' && workers.length > 0)
      installation.stall(disasters.pick(workers), disasters.int(1, 600) * 1000);
    else world.outages.begin(what, disasters.int(5, 600) * 1000);
  };
  for (let at = 0, times = rough ? plan.int(0, plan.pick([6, 10, 16])) : 0; at < times; at++) {
    // Most while the first tasks run.
    const latest = plan.weighed([
      [5, 90],
      [3, 900],
      [2, faultsEndAt / 1000],
    ]);
    const when = plan.int(1, latest) * 1000;
    beside('fault', when, (own, about) => fail(own, about));
  }
  if (rough && plan.chance(0.25))
    script.planRestore(
      plan,
      faultsEndAt,
      claims.copying(
        limited?.checks.copying(
          copied,
          clusters.map((cluster) => ({ cluster })),
        ) ?? copied,
      ),
      (downMs) => {
        world.tell('--- workers and gateway are stopped, and the store is brought back to its copy');
        for (const worker of installation.workers) installation.kill(worker, downMs);
        gateway.kill(downMs);
        for (const node of nodes) node.revocationIsLost(script.copiedAt ?? 0);
      },
      beside,
    );
  /** Whether the end that the run wrote may be lost with the store: its workflow may complete after that, and writes nothing more. */
  const isForgotten = (run: Execution): boolean =>
    (closedAt.get(run.originalRunId) ?? run.closedAt ?? 0) <= (script.restoredAt ?? -1);

  const goal = goalOf('cluster', seed, random.fork('goal'));
  if (goal !== null) {
    const { state, what } = goal;
    script.planIn(state, (own, about) => (FAULTS.includes(what) ? fail(own, about, what) : act(own, what)));
  }
  let isCalm = false;
  const letGo = (): void => {
    // Also a pause that was under way when they did so last.
    pausedSince.clear();
    void limited?.checks.repair();
    for (const run of open()) {
      temporal.signal(run, 'resume', [{}]);
      // One that is held by failed tasks ends when someone says so.
      if (time.now <= time.start + faultsEndAt + 12 * HOUR) continue;
      ended.add(run.workflowId);
      temporal.signal(run, 'stop', [{}]);
    }
    time.after(HOUR, letGo);
  };
  time.after(faultsEndAt, () => {
    isCalm = true;
    script.ends();
    world.tell('--- all faults end; operators let every run go on');
    world.weather = CALM;
    gatewayWeather = FAIR;
    world.outages.endAll();
    hosts.isCalm = true;
    for (const worker of installation.workers) worker.host.stalledUntil = 0;
    for (const node of nodes) node.recover();
    gateway.start();
    letGo();
  });

  const limit = time.now + faultsEndAt + ENDS_WITHIN_MS;
  const isOver = (): boolean => isCalm && script.isReconciled && stillOpen(temporal).length === 0;
  while (world.violation === null && !isOver() && (await time.step())) {
    if (time.now > limit) world.violated(notEnded(temporal));
  }
  if (world.violation === null) await checkEnd();
  if (world.violation === null) await limited?.checks.checkRecords(script.restoredAt);
  const idle = wokenForNothing(temporal);
  if (idle !== null) world.violated(idle);

  async function checkEnd(): Promise<void> {
    for (const cluster of clusters) {
      const claim = await store.claims.holder({ cluster });
      if (claim === null) continue;
      const holder = temporal.current(temporal.find(claim.workflowId, claim.runId));
      // Of one that was terminated, or that ended after the copy that was restored, the next run takes it over.
      if (holder.status !== 'TERMINATED' && !isForgotten(holder))
        world.violated(`${claim.workflowId} has ended and still has the cluster`);
    }
    for (const row of (await store.runs.list({ kind: 'execute_graph', limit: 100 })).items) {
      const now = temporal.current(temporal.find(row.workflowId, row.temporalRunId ?? row.id));
      if (now.status === 'TERMINATED') continue;
      const report = (await store.runs.getReport(row.id)) as unknown as GraphRunReport | undefined;
      if (row.outcome === null || report === undefined) {
        world.violated(`${row.workflowId} has ended (${now.status}), and its row or report is open`);
        continue;
      }
      await checkSuccesses(row.id, report);
      if (!isForgotten(now)) await checkRecords(row.id, report);
      // A reset takes back what the run knows of tasks: one that is stopped since asks for none of them again.
      if (now.runId === row.id && !isForgotten(now)) compare(row.workflowId, row.id, report);
    }
    await checkGraphs();
  }

  async function transactionsOfAll() {
    return (await Promise.all(clusters.map((clusterId) => store.transactions.list({ clusterId })))).flat();
  }

  /** The graphs of a run that has ended have ended, and as its report says. */
  async function checkGraphs(): Promise<void> {
    for (const { id, parentId, temporalRunId, status, mode } of await transactionsOfAll()) {
      if (parentId === null || temporalRunId === null) continue;
      const { outcome, workflowId } = await store.runs.get(temporalRunId);
      if (outcome === null) continue;
      if (isTransactionOpen(status))
        world.violated(`${workflowId} has ended (${outcome}), and its graph ${id} is open`);
      const now = temporal.current(temporal.find(workflowId, temporalRunId));
      // Graphs that only ask checks are not in the report.
      if (now.status === 'TERMINATED' || isForgotten(now) || mode === 'check') continue;
      const { graphs } = (await store.runs.getReport(temporalRunId)) as unknown as GraphRunReport;
      const said = graphs.find(({ transaction }) => transaction === id)?.state;
      // One that was reset to before its graph, and ended before it came there again, does not know how that graph had ended.
      const isUnknown = (said === undefined || said === 'not_reached') && now.runId !== temporalRunId;
      if (said !== status && !isUnknown)
        world.violated(`${workflowId} reports that its graph ${id} is ${said}, and the store that it is ${status}`);
    }
  }

  /** The store has how each task ended that the run counts as ended, or the report says that it does not. */
  async function checkRecords(runId: string, { graphs, warnings }: GraphRunReport): Promise<void> {
    if (warnings.some((text) => text.includes('the store has lost how'))) return;
    for (const { transaction, type, counts } of graphs) {
      const kept = doneOf(await store.taskHistory.count(transaction));
      if (kept < doneOf(counts))
        world.violated(`run ${runId} ended ${doneOf(counts)} tasks of ${type}, and the store has ${kept} of them`);
    }
  }

  /** A task counts as a success only if it came to its end with success on its node. */
  async function checkSuccesses(runId: string, { mode }: GraphRunReport): Promise<void> {
    if (mode !== 'apply') return;
    for (const { id, temporalRunId, parentId } of await transactionsOfAll()) {
      if (temporalRunId !== runId || parentId !== null) continue;
      for (const graph of (await store.transactions.getRun(id)).graphs)
        for (const { task, node: uid, status } of await store.taskHistory.list(graph.id)) {
          const node = nodes[Number(uid) - 1];
          if (status !== 'success' || node === undefined) continue;
          const name = graphRunName(graph.id, runId);
          if (!node.effects.some((one) => one.run === name && one.task === task && hasSucceeded(one)))
            world.violated(`${task} counts as a success on ${node.name} in run ${name}, and never succeeded there`);
        }
    }
  }

  /** What the report says of tasks, against the journals of their nodes. */
  function compare(workflowId: string, runId: string, report: GraphRunReport): void {
    // Of a run that changes nothing, failures are forgiven.
    if (report.mode !== 'apply') return;
    const text = JSON.stringify(report);
    // The reset of a part takes back what that part knows of tasks.
    const takenBack = Math.max(
      0,
      ...temporal.executions
        .filter(({ parent }) => parent?.workflowId === workflowId)
        .flatMap(({ events }) => events.filter(({ detail }) => detail.startsWith('reset: ')).map(({ at }) => at)),
    );
    for (const { counts, failed_tasks, offline, type, rollouts = [] } of report.graphs) {
      const { failed = 0, not_reached = 0, blocked = 0 } = counts as Partial<Record<string, number>>;
      // A silent node counts for the limit of a rollout, too, and people end rollouts.
      const isEndedByUs =
        ended.has(workflowId) ||
        ['cancelled', 'stopped'].includes(report.outcome ?? '') ||
        rollouts.some(({ state }) => state === 'stopped');
      if (not_reached > 0 && failed === 0 && !isEndedByUs && report.reason === undefined)
        world.violated(`${workflowId}: ${not_reached} tasks of ${type} were not reached, and no one stopped it`);
      if (not_reached > 0 && failed === 0 && offline.length > 0 && blocked > 0 && !isEndedByUs)
        world.violated(
          `${workflowId}: ${offline.join(', ')} stopped the others: ${not_reached} tasks were not reached`,
        );
      for (const { task, node, attempts, reason } of failed_tasks) {
        const on = nodes[Number(node) - 1];
        if (on === undefined) continue;
        const tries = on.effects.filter(
          (one) => one.run.includes(runId) && one.task === task && one.generation === attempts,
        );
        const said = `the report of ${workflowId} says that ${task} failed on ${on.name}: ${reason}`;
        if (/stopped before it started|had not started it when the run stopped/.test(reason)) world.violated(said);
        if (/did not start it/.test(reason) && tries.some(({ startedAt }) => startedAt > takenBack))
          world.violated(`${said}; it had started it`);
        // Who died before the result was on the disk cannot tell it.
        const isUnsure = /offline|unknown|cancel|agent|did not start|supervisor was killed|restarted while it ran/.test(
          reason,
        );
        const last = tries.at(-1);
        if (
          last !== undefined &&
          on.known.includes(last) &&
          hasSucceeded(last) &&
          (!isUnsure || /AgentGone/.test(reason))
        )
          world.violated(`${said}; there it succeeded`);
      }
    }
    for (const node of nodes) {
      for (const { run, task, exitCode, generation, asks, startedAt } of node.effects) {
        if (!run.includes(runId) || asks || startedAt <= takenBack) continue;
        const tries = node.effects.filter((one) => one.run === run && one.task === task);
        const isLost = partsTouched.has(workflowId) || skipped.has(`${workflowId} ${task}`);
        const isLast = tries.every((one) => one.generation <= generation) && tries.at(-1)?.exitCode === exitCode;
        if (exitCode === 1 && isLast && !isLost && !text.includes(task))
          world.violated(`${task} failed on ${node.name}, and the report of ${workflowId} does not say so`);
      }
    }
  }

  for (const worker of installation.workers) worker.kill();
  for (const node of nodes) node.kill();
  gateway.stop();
  await store.close();
  return {
    seed,
    story,
    violation: world.violation,
    digest: createHash('sha256').update(story.join('\n')).digest('hex').slice(0, 16),
    events: time.events,
    turns: temporal.turnsDone,
    replays: [...temporal.workers].reduce((sum, { replays }) => sum + replays, 0),
    changes: nodes.reduce((sum, node) => sum + node.effects.length, 0),
    simulatedMs: time.now - time.start,
    outcomes: temporal.executions
      .filter(({ parent }) => parent === undefined)
      .map(({ type, status }) => `${type} ${status}`),
    actions: script.actions,
    reached: script.reached,
    parts: script.parts,
    traces: { claim: claims.events, journals: nodes.flatMap(({ journal }) => journal.traces) },
  };
}
