import { createHash } from 'node:crypto';
import { MachineStatus } from '@sitewright/maas';
import { openRegion, simulatorKeys } from '@sitewright/maas-simulator';
import {
  AlreadyStarted,
  type Execution,
  NotFound,
  Random,
  type VirtualTime,
  type WorkflowCode,
} from '@sitewright/temporal-simulator';
import { commitRevision } from '../../../src/clusters/site-machines.ts';
import { Installation, QUEUE } from '../../../worker/parts/rehearsals/installation.ts';
import { inVirtualTime, openWorld } from '../../../worker/parts/rehearsals/open-world.ts';
import { CALM } from '../../../worker/parts/rehearsals/world.ts';
import { SiteChecks } from './checks.ts';
import { ClaimTrace } from './claim-trace.ts';
import { openCopiedStore } from './copied-store.ts';
import { garbageFrom } from './garbage.ts';
import { goalOf } from './goal.ts';
import { Hosts } from './hosts.ts';
import { LimitChecks } from './limit-checks.ts';
import { limitsFrom, WITH_LIMITS, WITH_OVERRIDES } from './limits.ts';
import { mixOf, overridesIn } from './mix.ts';
import { beginOf, ENDS_WITHIN_MS, notEnded, Script, stateOf, stillOpen, wokenForNothing } from './script.ts';
import { revisionOf, type SiteSeed, siteSeed } from './site-seed.ts';
import type { Verdict } from './verdict.ts';

const SITE = 'dc1';
/** In the middle of which people and faults come. */
const STEPS = [
  [4, 'deploy'],
  [2, 'prepare'],
  [2, 'release'],
  [3, 'abort'],
  [1, 'look'],
  [1, 'open_run'],
  [1, 'verify_site'],
  [1, 'record_nodes'],
  [2, 'close_run'],
] as const;
/** What people do, by weight. */
const PEOPLE: readonly (readonly [weight: number, what: string])[] = [
  [5, 'pause'],
  [5, 'resume'],
  [2, 'stop'],
  [1.5, 'cancel'],
  [1, 'terminate'],
  [2, 'reset'],
  [4, 'retry_node'],
  [2, 'approve'],
  [1, 'reject'],
  [1, 'garbage'],
  [2, 'query'],
  [1.5, 'maas release'],
  [1, 'maas broken'],
  [1, 'maas lock'],
  [1, 'maas power loss'],
  [0.7, 'maas delete'],
  [0.7, 'maas rename'],
  [2, 'start'],
  [1.5, 'documents'],
  [1, 'two starts'],
  [1.5, 'reset of one that ended'],
  [1, 'cancel of a part'],
  [1, 'terminate of a part'],
  [1, 'maas abort'],
  [0.7, 'maas fixed'],
  [1.5, 'maas taken'],
  [0.7, 'maas taken back'],
];
const ROLLOUT_PEOPLE: typeof PEOPLE = [
  [2, 'promote'],
  [1, 'hold'],
  [0.5, 'abort_rollout'],
];
const LIMITS_PEOPLE: typeof PEOPLE = [
  [2, 'maintenance'],
  [1.5, 'limits'],
];
/** Seeds before this keep their stories: known seeds and defects name them. */
const WITH_ROLLOUTS = 100_000;
const WITH_CHECKS = 200_000;
const FAULTS: readonly (readonly [weight: number, what: string])[] = [
  [4, 'kill'],
  [3, 'stall'],
  [1, 'shutdown'],
  [1, 'kill all'],
  [2, 'store'],
  [2, 'maas'],
  [2, 'maas hangs'],
  [2, 'temporal'],
];
const HOUR = 3_600_000;

/** Lives through one seed: a site, its workers, its MAAS and its people, until all runs have ended. */
export async function simulateSite(
  seed: number,
  code: WorkflowCode,
  without: readonly string[] = [],
): Promise<Verdict> {
  const random = new Random(`site ${seed}`);
  const wanted = siteSeed(random.fork('site'), seed >= WITH_ROLLOUTS, seed >= WITH_CHECKS);
  return inVirtualTime(random, beginOf('2026-01-05T08:00:00Z', seed), (time) =>
    live(seed, random, wanted, time, code, without),
  );
}

async function live(
  seed: number,
  random: Random,
  wanted: SiteSeed,
  time: VirtualTime,
  code: WorkflowCode,
  without: readonly string[],
): Promise<Verdict> {
  const script = new Script(time, random.fork('script'), without, () =>
    stateOf(temporal, (workflowId) => checks.pausedSince.has(workflowId)),
  );
  const mix = mixOf('site', seed);
  const copied = await openCopiedStore();
  const world = await openWorld(
    seed,
    random,
    time,
    script.weather(wanted.weather),
    (workflowId, type, detail) => {
      checks.recorded(workflowId, type, detail);
      if (type !== 'ActivityTaskScheduled') return;
      const [step = '', , name] = detail.split(':');
      script.begins(step, wanted.nodes.some((node) => node.name === name) ? name! : null);
    },
    copied.store,
  );
  const { store, story, temporal } = world;
  const region = await openRegion({
    seed: {
      machines: wanted.nodes.map(({ name }) => ({
        hostname: name,
        ...(wanted.states[name] === undefined ? {} : { status: wanted.states[name] }),
      })),
    },
    auto: wanted.automation,
  });
  await store.sites.create({ name: SITE });
  const limited =
    seed >= WITH_LIMITS && random.fork('limited').chance(0.8)
      ? new LimitChecks(world, SITE, random.fork('limits'))
      : null;
  let nodes = wanted.nodes;
  const countsRequests = seed >= WITH_OVERRIDES ? 'requests limited' : 'limited';
  let limits = limited && limitsFrom(limited.random, time.now, countsRequests);
  const commit = async (): Promise<void> => {
    const revision = revisionOf(wanted, nodes, limits?.data);
    if (limited === null || limits === null) {
      await store.sites.addRevision(SITE, revision);
      return;
    }
    // With its machines in the inventory: what has never been deployed takes no place.
    await commitRevision(store, SITE, revision);
    await limited.commits(limits, nodes);
  };
  await commit();
  const checks = new SiteChecks(world, region, SITE);
  checks.limits = limited;
  const asUser =
    (key: string) =>
    async (method: string, path: string, form: Record<string, string> = {}) => {
      const [consumer, token, secret] = key.split(':');
      const members = {
        oauth_version: '1.0',
        oauth_signature_method: 'PLAINTEXT',
        oauth_consumer_key: consumer,
        oauth_token: token,
        oauth_signature: `%26${secret}`,
        oauth_nonce: random.uuid(),
        oauth_timestamp: String(Math.floor(time.now / 1000)),
      };
      const authorization = `OAuth ${Object.entries(members)
        .map(([name, value]) => `${name}="${value}"`)
        .join(', ')}`;
      const answer = await region.answer({
        method,
        url: `/MAAS/api/2.0/${path}`,
        authorization,
        contentType: 'application/x-www-form-urlencoded',
        body: new URLSearchParams(form).toString(),
      });
      return { status: answer?.status ?? 0, body: answer?.body ?? '' };
    };
  const asAdmin = asUser(simulatorKeys.admin);
  const asOperator = asUser(simulatorKeys.operator);
  checks.readMachines = async () => JSON.parse((await asAdmin('GET', 'machines/')).body);
  const claims = new ClaimTrace(temporal, 'site');
  const hosts = new Hosts(world, random.fork('hosts'));
  checks.answersOfHosts = hosts.answers;
  const settings = { max_parallel_nodes: 8, heartbeat_seconds: 30 };
  const installation = new Installation(world, region, code, claims.beside(checks), settings, { askHost: hosts.ask });
  installation.startWorker();
  installation.startWorker();

  const runs: Execution[] = [];
  const mayRelease = new Set<string>();
  /** Nodes that documents once did not have. */
  const removed = new Set<string>();
  let releasesRemoved = false;
  let mayErase = false;
  checks.restoredAt = () => script.restoredAt;
  checks.mayErase = () => mayErase;
  // A run that is reset loads the documents of then.
  checks.mayRelease = (hostname) => mayRelease.has(hostname) || (releasesRemoved && removed.has(hostname));

  const start = async (kind: string, asked: Readonly<Record<string, unknown>>): Promise<void> => {
    const people = random.fork(`start ${runs.length}`);
    const beyond =
      limited !== null && kind !== 'test_site' && overridesIn('site', seed, people)
        ? await limited.beyond(people, `${kind}:${SITE}`)
        : null;
    const input: typeof asked = { ...asked, ...beyond?.input };
    if (kind === 'redeploy_nodes') for (const name of input.nodes as string[]) mayRelease.add(name);
    mayErase ||= input.erase === true;
    releasesRemoved ||= input.release_removed === true;
    try {
      const execution = temporal.start({
        type: kind,
        workflowId: `${kind}:${SITE}`,
        taskQueue: QUEUE,
        args: [{ site: SITE, started_by: 'ann', ...input }],
        memo: { help: 'simulated', ...beyond?.memo },
      });
      beyond?.started(execution);
      runs.push(execution);
      checks.inputs.set(execution.runId, input);
      if (people.chance(0.3)) void temporal.update(execution, 'opened', [{}]).catch(() => undefined);
    } catch (error) {
      if (!(error instanceof AlreadyStarted)) throw error;
      world.tell(`${kind}:${SITE} is running: no second start`);
    }
  };

  /** What runs may be held before: all, or a group. */
  const heldNames = ['*', ...new Set(wanted.nodes.flatMap(({ tags }) => tags))];
  const open = (): Execution[] =>
    temporal.executions.filter(({ status, parent }) => status === 'RUNNING' && parent === undefined);
  let people = random.fork('people');
  /** When people last let a run go on, by workflow id. */
  const resumedAt = new Map<string, number>();
  const letGoOn = ({ workflowId }: Execution): void => {
    checks.pausedSince.delete(workflowId);
    resumedAt.set(workflowId, time.now);
  };
  /** Where people come back to: nodes that fail, and the one that they look at. */
  const nodeFor = (about: string | null): string => {
    if (about !== null) return about;
    return wanted.failing.length > 0 && people.chance(0.5) ? people.pick(wanted.failing) : people.pick(nodes).name;
  };
  const usual = [
    ...PEOPLE,
    ...(seed >= WITH_ROLLOUTS ? ROLLOUT_PEOPLE : []),
    ...(limited === null ? [] : LIMITS_PEOPLE),
  ];
  const act = async (own: Random, about: string | null, what?: string): Promise<void> => {
    people = own;
    const run = open().length === 0 ? undefined : people.pick(open());
    const name = nodeFor(about);
    const action = what ?? mix.weighed<string>(people, usual);
    script.happens(action);
    script.again(people, (next) => act(next, about));
    world.tell(`--- a person: ${action} ${action.startsWith('maas') ? name : (run?.workflowId ?? '')}`);
    if (action.startsWith('maas')) return meddle(action, name);
    if (action === 'start') return startSomething(people);
    if (action === 'two starts') {
      const first = startSomething(people);
      return Promise.all([first, startSomething(people)]).then(() => undefined);
    }
    if (action === 'reset of one that ended') {
      const ended = temporal.executions.filter(
        ({ parent, status, turns }) => parent === undefined && status !== 'RUNNING' && turns.length > 1,
      );
      if (ended.length === 0) return;
      const one = people.pick(ended);
      if (open().some(({ workflowId }) => workflowId === one.workflowId)) return;
      checks.comeBack.add(one.originalRunId);
      runs.push(temporal.reset(one, people.int(0, one.turns.length - 1), 'by a person'));
      return;
    }
    if (action.endsWith('of a part')) {
      const parts = temporal.executions.filter(({ parent, status }) => parent !== undefined && status === 'RUNNING');
      if (parts.length === 0) return;
      const part = people.pick(parts);
      world.tell(`    ${part.workflowId}`);
      checks.partsTouched.add(part.parent!.workflowId);
      return action.startsWith('cancel') ? temporal.cancel(part) : temporal.terminate(part, 'by a person');
    }
    if (action === 'documents') {
      nodes = people.chance(0.5) && nodes.length > 1 ? nodes.slice(0, -1) : wanted.nodes;
      for (const one of wanted.nodes) if (!nodes.includes(one)) removed.add(one.name);
      return commit();
    }
    if (action === 'maintenance') return limited?.maintenance(people.pick(nodes).name);
    if (action === 'limits') {
      limits = limitsFrom(people, time.now, countsRequests);
      return commit();
    }
    if (run === undefined) return;
    const note = people.chance(0.5) ? { by: people.pick(['ann', 'bob']), reason: 'simulated' } : {};
    try {
      switch (action) {
        case 'pause':
        case 'resume':
        case 'approve':
        case 'reject': {
          const isUpdate = people.chance(0.5);
          const request =
            action === 'approve' || action === 'reject'
              ? { ...note, ...(people.chance(0.5) ? { before: people.pick(heldNames) } : {}) }
              : note;
          if (action === 'resume' || action === 'reject') letGoOn(run);
          if (action === 'approve') checks.approved.add(run.originalRunId);
          const sentAt = time.now;
          const isPaused = (): void => {
            // One that is being stopped or cancelled takes no pause.
            const isStopped = run.events.some(
              ({ type, detail }) =>
                type === 'WorkflowExecutionCancelRequested' || detail === 'stop' || detail === 'reject',
            );
            const isOver = (resumedAt.get(run.workflowId) ?? -1) >= sentAt || run.status !== 'RUNNING';
            if (action === 'pause' && !isStopped && !isOver && !checks.pausedSince.has(run.workflowId))
              checks.pausedSince.set(run.workflowId, time.now);
          };
          if (isUpdate) {
            void temporal
              .update(run, action, [request])
              .then(isPaused, (error: Error) => world.tell(`${action} was refused: ${error.message}`));
          } else {
            temporal.signal(run, action, [request]);
            isPaused();
          }
          return;
        }
        case 'stop':
          letGoOn(run);
          return temporal.signal(run, 'stop', [note]);
        case 'cancel':
          letGoOn(run);
          return temporal.cancel(run, 'by a person');
        case 'terminate':
          letGoOn(run);
          return temporal.terminate(run, 'by a person');
        case 'reset': {
          letGoOn(run);
          if (run.turns.length < 2) return;
          runs.push(temporal.reset(run, people.int(0, run.turns.length - 1), 'by a person'));
          return;
        }
        case 'promote':
        case 'hold':
        case 'abort_rollout': {
          const group = people.chance(0.5) ? { group: people.pick(wanted.nodes).tags[0]! } : {};
          const limit = action === 'promote' && people.chance(0.4) ? { limit: people.int(1, 5) } : {};
          const request = { ...note, ...group, ...limit };
          if (people.chance(0.5)) return temporal.signal(run, action, [request]);
          void temporal.update(run, action, [request]).catch((error: Error) => {
            world.tell(`${action} was refused: ${error.message}`);
          });
          return;
        }
        case 'retry_node':
          void temporal.update(run, 'retry_node', [{ node: name, ...note }]).catch((error: Error) => {
            world.tell(`retry_node was refused: ${error.message}`);
          });
          return;
        case 'garbage': {
          const parts = temporal.executions.filter((one) => one.status === 'RUNNING' && one.parent !== undefined);
          const to = parts.length > 0 && people.chance(0.3) ? people.pick(parts) : run;
          const { name: garbage, payload } = garbageFrom(people, to !== run);
          world.tell(`    ${garbage} ${JSON.stringify(payload)}`);
          // Its name alone lets the run go on.
          if (['stop', 'reject', 'resume'].includes(garbage)) letGoOn(run);
          if (garbage === 'approve') checks.approved.add(run.originalRunId);
          if (people.chance(0.7)) return temporal.signal(to, garbage, payload);
          void temporal.update(to, garbage, payload).catch(() => undefined);
          return;
        }
        case 'query':
          void temporal.query(run, people.pick(['status', 'report', 'tree', 'plan', 'nothing'])).catch(() => undefined);
          return;
        default:
          throw new Error(action);
      }
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
    }
  };

  const meddle = async (action: string, name: string): Promise<void> => {
    const machine = (await checks.readMachines()).find(({ hostname }) => hostname === name);
    if (machine === undefined) return;
    checks.touched.set(name, time.now);
    const path = `machines/${machine.system_id}/`;
    if (action.startsWith('maas taken')) await take(action, machine, path);
    const answer = await (action === 'maas abort'
      ? asAdmin('POST', `${path}?op=abort`)
      : action === 'maas fixed'
        ? asAdmin('POST', `${path}?op=mark_fixed`)
        : action.startsWith('maas taken')
          ? asAdmin('GET', path)
          : action === 'maas release'
            ? asAdmin('POST', `${path}?op=release`)
            : action === 'maas broken'
              ? asAdmin('POST', `${path}?op=mark_broken`)
              : action === 'maas lock'
                ? asAdmin('POST', `${path}?op=${people.chance(0.5) ? 'lock' : 'unlock'}`)
                : action === 'maas delete'
                  ? asAdmin('DELETE', path)
                  : action === 'maas rename'
                    ? asAdmin('PUT', path, { hostname: `${name}-x` })
                    : asAdmin('POST', `${path}?op=power_off`));
    if (action === 'maas broken' && answer.status === 200) checks.markedBroken(machine.system_id);
    if (action === 'maas lock' && answer.status === 200) checks.lockChanged(machine.system_id, time.now);
    await forgetFreed();
    world.tell(`    MAAS answers ${answer.status}`);
  };

  /** Whose owner has given them back, whoever asked for it. */
  const forgetFreed = async (): Promise<void> => {
    const machines = new Map((await checks.readMachines()).map((machine) => [machine.system_id, machine]));
    for (const id of [...checks.foreign.keys()]) if (machines.get(id)?.owner == null) checks.foreign.delete(id);
  };

  /** Someone else deploys a machine that is free, or ends that: with another key, or with ours for another site. */
  const take = async (action: string, { system_id, status }: { system_id: string; status: number }, path: string) => {
    const isOperator = checks.foreign.get(system_id) ?? people.chance(0.5);
    const as = isOperator ? asOperator : asAdmin;
    if (action === 'maas taken back') {
      if (!checks.foreign.has(system_id)) return;
      const { status: answer } = await as('POST', `${path}?op=release`);
      if (answer < 300) checks.foreign.delete(system_id);
      return;
    }
    if (status === MachineStatus.Deployed && people.chance(0.5)) {
      // Given away: it is freed, and then someone else has it.
      const own = people.fork('taken later');
      await asAdmin('POST', `${path}?op=release`);
      time.after(own.int(100, 600) * 1000, async () => {
        people = own;
        const now = (await checks.readMachines()).find((machine) => machine.system_id === system_id);
        if (now !== undefined) await take(action, now, path);
      });
      return;
    }
    if (status !== MachineStatus.Ready || checks.foreign.has(system_id)) return;
    const taken = await as('POST', 'machines/?op=allocate', { system_id });
    if (taken.status !== 200) return;
    checks.foreign.set(system_id, isOperator);
    if (!isOperator)
      await as('POST', `${path}?op=set_workload_annotations`, {
        sitewright_site: 'dc2',
        sitewright_node: 'other',
        sitewright_run: 'other',
      });
    await as('POST', `${path}?op=deploy`);
    if (people.chance(0.3))
      time.after(people.int(5, people.pick([60, 3_000])) * 1000, async () => {
        await as('POST', `${path}?op=mark_broken`);
        await forgetFreed();
      });
    world.tell(`    taken by ${isOperator ? 'another user' : 'another site'}`);
  };

  const startSomething = (from: Random): Promise<void> => {
    const kind = mix.weighed<string>(from, [
      [4, 'deploy_site'],
      [3, 'update_site'],
      [2, 'redeploy_nodes'],
      [1, 'test_site'],
    ]);
    const held = from.chance(mix.factor('approve') > 1 ? 0.6 : 0.15) ? { hold_before: [from.pick(heldNames)] } : {};
    if (kind === 'redeploy_nodes')
      return start(kind, {
        nodes: from.shuffled(nodes.map(({ name }) => name)).slice(0, from.int(1, nodes.length)),
        erase: from.chance(0.3),
      });
    if (kind === 'update_site') return start(kind, { ...(from.chance(0.4) ? { release_removed: true } : {}), ...held });
    return start(kind, kind === 'test_site' ? {} : held);
  };

  // What will happen, and when.
  const faultsEndAt = wanted.hours * HOUR;
  if (mix.factor('maas taken') > 0)
    for (const { name } of wanted.nodes) {
      people = random.fork(`taken before ${name}`);
      if (!people.chance(mix.factor('maas taken') > 1 ? 0.3 : 0.05)) continue;
      const machine = (await checks.readMachines()).find(({ hostname }) => hostname === name)!;
      await take('maas taken', machine, `machines/${machine.system_id}/`);
    }
  time.after(1, () => {
    const first = random.fork('first');
    return start('deploy_site', first.chance(0.1) ? { hold_before: [first.pick(heldNames)] } : {});
  });
  const plan = random.fork('plan');
  /** In the middle of a step, or at a time. */
  const beside = (kind: 'person' | 'fault' | 'restore', when: number, happen: Parameters<Script['plan']>[2]): void => {
    if (plan.chance(0.6)) script.plan(kind, when, happen);
    else
      script.planBeside(
        kind,
        mix.weighed(plan, STEPS),
        plan.int(1, 4),
        plan.int(0, plan.pick([100, 5_000, 200_000])),
        happen,
      );
  };
  for (let at = 1; at < wanted.runs; at++)
    script.plan('start', plan.int(60, wanted.hours * 3600) * 1000, (own) => {
      const start = startSomething(own);
      // Who has started a run stays with it.
      for (const who of ['ann', 'bob']) script.again(own.fork(who), (next) => act(next, null));
      return start;
    });
  // Machines in service are changed by those that come later.
  for (let at = 0, own = limited?.random, times = own?.int(1, 2) ?? 0; at < times; at++)
    script.plan('start', own!.int(900, wanted.hours * 3600) * 1000, (from) =>
      start('redeploy_nodes', { nodes: from.shuffled(nodes.map(({ name }) => name)), erase: from.chance(0.3) }),
    );
  for (let at = 0; at < wanted.people; at++) {
    // Most while something happens.
    const when = plan.chance(0.7) ? plan.int(1, 2_400) * 1000 : plan.int(0, faultsEndAt);
    beside('person', when, act);
  }
  const fail = (disasters: Random, about: string | null, named?: string): void => {
    const workers = installation.workers;
    const what = named ?? mix.weighed<string>(disasters, FAULTS);
    script.happens(what);
    // Who sees it does something.
    script.again(disasters, (own) => act(own, about));
    if (what === 'kill all') for (const worker of workers) installation.kill(worker, disasters.int(1, 120) * 1000);
    else if (workers.length > 0 && what === 'kill')
      installation.kill(disasters.pick(workers), disasters.int(1, 300) * 1000);
    else if (workers.length > 0 && what === 'stall')
      installation.stall(disasters.pick(workers), disasters.int(1, 1_200) * 1000);
    else if (workers.length > 0 && what === 'shutdown') {
      const worker = disasters.pick(workers);
      worker.shutDown();
      time.after(1_000, () => installation.kill(worker, 2_000));
    } else {
      const ms = disasters.int(5, 1_200) * 1000;
      world.tell(`--- outage: ${what} for ${Math.round(ms / 1000)} s`);
      if (what.startsWith('maas')) checks.maasTroubled = true;
      world.outages.begin(what, ms);
    }
  };
  for (let at = 0; at < wanted.disasters; at++) {
    const when = plan.chance(0.7) ? plan.int(1, 2_400) * 1000 : plan.int(0, faultsEndAt);
    beside('fault', when, (own, about) => fail(own, about));
  }
  if (wanted.disasters > 0 && plan.chance(0.25))
    script.planRestore(
      plan,
      faultsEndAt,
      claims.copying(limited?.copying(copied, [{ site: SITE }]) ?? copied),
      (downMs) => {
        world.tell('--- all workers are stopped, and the store is brought back to its copy');
        for (const worker of installation.workers) installation.kill(worker, downMs);
      },
      beside,
    );
  const goal = goalOf('site', seed, random.fork('goal'));
  if (goal !== null) {
    const isPerson = PEOPLE.some(([, what]) => what === goal.what);
    script.planIn(goal.state, (own, about) => (isPerson ? act : fail)(own, about, goal.what));
  }
  let isCalm = false;
  time.after(faultsEndAt, () => {
    isCalm = true;
    script.ends();
    world.tell('--- all faults end; operators let every run go on');
    world.weather = CALM;
    world.outages.endAll();
    hosts.isCalm = true;
    for (const worker of installation.workers) worker.host.stalledUntil = 0;
  });
  const letGo = (): void => {
    // Also a pause that was under way when they did so last.
    checks.pausedSince.clear();
    void limited?.repair();
    for (const run of open()) {
      temporal.signal(run, 'resume', [{}]);
      checks.approved.add(run.originalRunId);
      temporal.signal(run, 'approve', [{ by: 'eve' }]);
      if (seed >= WITH_ROLLOUTS) temporal.signal(run, 'promote', [{ by: 'eve', limit: 100 }]);
    }
    time.after(HOUR, letGo);
  };
  time.after(faultsEndAt + 1, letGo);

  const limit = time.now + faultsEndAt + ENDS_WITHIN_MS;
  const isOver = (): boolean => isCalm && script.isReconciled && stillOpen(temporal).length === 0;
  while (world.violation === null && (await time.step())) {
    if (isOver()) break;
    if (time.now > limit) world.violated(notEnded(temporal));
  }
  if (world.violation === null) await checks.atEnd(temporal.executions);
  if (world.violation === null) await limited?.checkRecords(script.restoredAt);
  const idle = wokenForNothing(temporal);
  if (idle !== null) world.violated(idle);
  const simulatedMs = time.now - time.start;
  const outcomes = temporal.executions
    .filter(({ parent }) => parent === undefined)
    .map(({ type, status }) => `${type} ${status}`);
  for (const worker of installation.workers) worker.kill();
  await store.close();
  return {
    seed,
    story,
    violation: world.violation,
    digest: createHash('sha256').update(story.join('\n')).digest('hex').slice(0, 16),
    events: time.events,
    turns: temporal.turnsDone,
    replays: [...temporal.workers].reduce((sum, { replays }) => sum + replays, 0),
    changes: checks.changes,
    simulatedMs,
    outcomes,
    actions: script.actions,
    reached: script.reached,
    parts: script.parts,
    traces: { claim: claims.events, journals: [] },
  };
}
