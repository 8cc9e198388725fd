import { openRegion, type ServedRegion } from '@sitewright/maas-simulator';
import { type Execution, Random, type VirtualTime, type WorkflowCode } from '@sitewright/temporal-simulator';
import type { ActivityDependencies, ActivitySettings } from '../../../activities/index.ts';
import type { GraphRunReport } from '../../../src/core/contracts/graph-run.ts';
import type { Rehearsal, RehearsalStep } from '../../../src/core/contracts/rehearsals.ts';
import type { RunReport } from '../../../src/core/contracts/site-run-report.ts';
import { given } from '../../../src/core/data/given.ts';
import { BEFORE_CHANGES } from '../../../src/core/run/approval.ts';
import { STARTED } from '../../../src/core/run/passed-on.ts';
import { someOf } from '../../../src/core/text/text.ts';
import type { RehearsalAnswer, RehearsalOrder, RehearsedMachine } from '../../../src/ops/rehearsals/order.ts';
import type { Store, StoreCopy } from '../../../src/store/index.ts';
import { ANSWERED, graphWorkflowId, siteWorkflowId } from '../../../workflows/protocol.ts';
import { Installation, type Observer, QUEUE } from './installation.ts';
import type { MaasPace } from './maas-port.ts';
import { inVirtualTime, openWorld } from './open-world.ts';
import { startRehearsedNode } from './rehearsed-node.ts';
import { askWellHost } from './well-hosts.ts';
import { CALM, type World } from './world.ts';

/** Clock times of a rehearsal count from this midnight, so that the same one gives the same answer on any day. */
const STARTS_AT = Date.parse('2000-01-01T00:00:00Z');
const ENDS_WITHIN_MS = 30 * 24 * 3_600_000;
const MAX_EVENTS = 1_000;
const MAX_STEPS = 20_000;

const NOTHING: Observer = {
  store: () => undefined,
  beforeMaasChange: () => undefined,
  afterMaasChange: () => undefined,
  askedHold: () => () => undefined,
};

/** What is the same for all rehearsals of a process. */
export interface RehearsalRules extends Pick<ActivityDependencies, 'planner'> {
  readonly settings: ActivitySettings;
  readonly pace?: MaasPace | undefined;
  /** Lets tag extensions decide over a store. */
  readonly allocateTags?: (store: Store) => Pick<ActivityDependencies, 'allocateTags'>;
}

/** Lives through a run in virtual time. The same order gives the same answer. */
export function rehearse(order: RehearsalOrder, code: WorkflowCode, rules: RehearsalRules): Promise<RehearsalAnswer> {
  const random = new Random('rehearsal');
  return inVirtualTime(random, STARTS_AT, (time) => live(order, random, time, code, rules));
}

async function live(
  order: RehearsalOrder,
  random: Random,
  time: VirtualTime,
  code: WorkflowCode,
  { settings, planner, allocateTags, pace }: RehearsalRules,
): Promise<RehearsalAnswer> {
  const { run, faults } = order;
  const steps = new MachineSteps(time);
  const world = await openWorld(1, random, time, CALM, (_workflowId, type, detail) => steps.recorded(type, detail));
  const { store, temporal } = world;
  try {
    const region = await openRegion({
      auto: {
        commission_ms: order.durations.commission * 1000,
        deploy_ms: order.durations.deploy * 1000,
        release_ms: order.durations.release * 1000,
        erase_ms: order.durations.erase * 1000,
        test_ms: 60_000,
        jitter: 0,
        discover: true,
        fail: { deploy: faults.failDeployment },
        fail_comment: 'its deployment fails in this rehearsal',
      },
    });
    const systemIds = plantMachines(region, order);
    await store.copies.fill(withSystemIds(order, systemIds));
    const more = { planner, askHost: askWellHost, rehearsedAddress: DOCUMENTATION_ADDRESS, ...allocateTags?.(store) };
    const installation = new Installation(world, region, code, NOTHING, settings, more, pace);
    installation.startWorker();
    for (const agent of order.agents) startRehearsedNode(world, agent, taskModel(order, agent.uid));
    planOutages(world, faults.maasAway);
    const workflowId =
      run.kind === 'execute_graph'
        ? graphWorkflowId(run.input.cluster, 'rehearsal')
        : siteWorkflowId(run.kind, run.input.site);
    const execution = temporal.start({
      ...{ type: run.kind, workflowId, taskQueue: QUEUE },
      ...(await startOf(store, run.input, workflowId)),
    });
    const opening = temporal.update(execution, 'opened', []) as Promise<
      { ok: true } | { ok: false; failure: Extract<RehearsalAnswer, { kind: 'refused' }>['failure'] }
    >;
    let opened: Awaited<typeof opening> | 'unknown' | undefined;
    opening.then(
      (answer) => {
        opened = answer;
      },
      () => {
        opened = 'unknown';
      },
    );
    // A site may have rollouts.
    const mayBeHeld = 'hold_on_failure' in run.input ? run.input.hold_on_failure : run.kind !== 'execute_graph';
    if (run.input.hold_before !== undefined || mayBeHeld) standIn(world, execution);
    // The answer to whoever starts a run is on its way when a refused one closes.
    const goesOn = (): boolean => execution.status === 'RUNNING' || opened === undefined;
    while (goesOn() && time.now - STARTS_AT < ENDS_WITHIN_MS && (await time.step())) {
      if (world.violation !== null) throw new Error(`the rehearsal cannot go on: ${world.violation}`);
    }
    if (opened !== undefined && opened !== 'unknown' && !opened.ok) return { kind: 'refused', failure: opened.failure };
    return { kind: 'rehearsed', rehearsal: await resultOf(order, world, temporal.current(execution), steps) };
  } finally {
    await store.close();
  }
}

/** Whoever rehearses a run beyond limits stands in for an API, which alone may start one. */
async function startOf(store: Store, input: RehearsalOrder['run']['input'], workflowId: string) {
  if (input.override_limits === undefined) return { args: [input], memo: {} };
  const actor = input.started_by ?? 'rehearsal';
  const entry = 'rehearsed-start';
  await store.audit.append({ id: entry, actor, action: STARTED, target: `workflow/${workflowId}` });
  return { args: [{ ...input, started_by: actor }], memo: { [ANSWERED]: entry } };
}

/** A machine as the simulated MAAS takes it. */
const seedOf = ({
  hostname,
  holder,
  annotations,
  disks,
  interfaces,
  distroSeries,
  node: _,
  ...rest
}: RehearsedMachine) => ({
  ...rest,
  hostname,
  power_type: 'ipmi',
  interfaces,
  owner_data: annotations,
  ...(disks.length === 0 ? {} : { disks }),
  ...given({
    distro_series: distroSeries,
    owner: holder === null ? undefined : holder === 'us' ? 'admin' : 'operator',
  }),
});

/** @returns the ids of the machines in the simulated MAAS */
/** Nobody has it, and nobody is asked. */
const DOCUMENTATION_ADDRESS = '192.0.2.1';

function plantMachines(region: ServedRegion, { images, networks, machines }: RehearsalOrder): readonly string[] {
  const seed = { images: images.map((name) => ({ name })), networks, machines: machines.map(seedOf) };
  const { status, value } = region.control('POST', 'seed', JSON.stringify(seed));
  if (status >= 300) throw new Error(`the machines cannot be simulated: ${JSON.stringify(value).slice(0, 500)}`);
  return value as readonly string[];
}

function withSystemIds({ copy, machines }: RehearsalOrder, systemIds: readonly string[]): StoreCopy {
  const rows = copy.deployedMachine as readonly { readonly node: string }[] | undefined;
  if (rows === undefined) return copy;
  const idOf = new Map(machines.map(({ node }, at) => [node, systemIds[at]]));
  return {
    ...copy,
    deployedMachine: rows.flatMap((row) => {
      const systemId = idOf.get(row.node);
      return systemId === undefined ? [] : [{ ...row, systemId }];
    }),
  };
}

function taskModel({ durations, faults }: RehearsalOrder, uid: string) {
  return {
    fails: (task: string) =>
      faults.failTasks.find((one) => one.task === task && (one.node === undefined || one.node === uid)),
    takes: (task: string) => durations.tasks[task] ?? durations.task,
  };
}

function planOutages(world: World, away: RehearsalOrder['faults']['maasAway']): void {
  for (const { after, seconds } of away)
    world.time.after(after * 1000, () => world.outages.begin('maas', seconds * 1000));
}

const LOOKS_EVERY_MS = 5_000;
/** Another person than any who starts a run: a setting may want that. */
const STAND_IN = 'the rehearsal';

/** Decides in place of people: approves whatever waits for it, and stops a run whose failed tasks, or held rollout, wait for them. */
function standIn({ time, temporal }: World, started: Execution): void {
  const look = async (): Promise<void> => {
    const execution = temporal.current(started);
    if (execution.status !== 'RUNNING') return;
    const status = (await temporal.query(execution, 'status')) as {
      readonly awaiting_approval?: readonly unknown[];
      readonly stopping: boolean;
      readonly graphs?: readonly { readonly state: string }[];
      readonly groups?: readonly { readonly rollout?: { readonly state: string } }[];
    };
    const note = { by: STAND_IN };
    if (status.awaiting_approval !== undefined) await temporal.update(execution, 'approve', [note]);
    else if (!status.stopping && status.graphs?.some(({ state }) => state === 'held'))
      temporal.signal(execution, 'stop', [{ ...note, reason: 'failed tasks wait for a person' }]);
    else if (!status.stopping && status.groups?.some(({ rollout }) => rollout?.state === 'held'))
      temporal.signal(execution, 'stop', [{ ...note, reason: 'a held rollout waits for a person' }]);
    later();
  };
  const later = (): void => {
    time.after(LOOKS_EVERY_MS, () => {
      look().catch(later);
    });
  };
  later();
}

/** When the steps of machines began and ended, by the history of the run. */
class MachineSteps {
  readonly #time: VirtualTime;
  readonly #open = new Map<string, number>();
  readonly ended: { readonly verb: string; readonly node: string; readonly from: number; readonly to: number }[] = [];

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  recorded(type: string, id: string): void {
    const [, verb, node] = /^(prepare|deploy|release):.*:([^:]+?)(?::\d+)?$/.exec(id) ?? [];
    if (verb === undefined || node === undefined) return;
    if (type === 'ActivityTaskScheduled') this.#open.set(id, this.#time.now);
    else if (type.startsWith('ActivityTask') && type !== 'ActivityTaskCancelRequested') {
      const from = this.#open.get(id);
      if (from !== undefined) this.ended.push({ verb, node, from, to: this.#time.now });
      this.#open.delete(id);
    }
  }
}

async function resultOf(
  order: RehearsalOrder,
  world: World,
  execution: Execution,
  machines: MachineSteps,
): Promise<Omit<Rehearsal, 'assumptions'>> {
  const { store } = world;
  const { run } = order;
  const { items } = await store.runs.list({ limit: 10 });
  const row = items.find(({ kind }) => kind === run.kind);
  const report = row && ((await store.runs.getReport(row.id)) as unknown as RunReport | GraphRunReport | undefined);
  const child = run.kind === 'execute_graph' ? undefined : items.find(({ kind }) => kind === 'execute_graph');
  const software = child && ((await store.runs.getReport(child.id)) as unknown as GraphRunReport | undefined);
  const site = report !== undefined && 'site' in report ? report : undefined;
  const graphs = software ?? (report !== undefined && !('site' in report) ? report : undefined);
  const steps = [
    ...machineSteps(machines, site),
    ...(graphs === undefined ? [] : await taskSteps(order, store, graphs)),
  ];
  const events = [
    ...(site === undefined ? [] : siteEvents(site)),
    ...stepEvents(steps),
    ...(graphs === undefined ? [] : graphEvents(graphs)),
    ...(report === undefined ? [] : peopleEvents(report)),
    ...order.faults.maasAway.flatMap(({ after, seconds }) => [
      { at: after, text: 'MAAS no longer answers' },
      { at: after + seconds, text: 'MAAS answers again' },
    ]),
  ].sort((one, other) => one.at - other.at);
  const endsAt = execution.closedAt ?? world.time.now;
  return {
    kind: run.kind,
    site: run.kind === 'execute_graph' ? null : run.input.site,
    cluster: run.kind === 'execute_graph' ? run.input.cluster : (software?.cluster ?? null),
    outcome: execution.status === 'RUNNING' ? null : (report?.outcome ?? execution.status.toLowerCase()),
    seconds: (endsAt - STARTS_AT) / 1000,
    started_at: new Date(STARTS_AT).toISOString(),
    events: events.slice(0, MAX_EVENTS),
    events_omitted: Math.max(0, events.length - MAX_EVENTS),
    steps: steps.slice(0, MAX_STEPS),
    steps_omitted: Math.max(0, steps.length - MAX_STEPS),
    report: report === undefined ? null : ofNoNumber(report),
    software: software === undefined ? null : ofNoNumber(software),
  };
}

/** A report whose next step names no run: the number is that of no run, or of another one. */
function ofNoNumber<Report extends { readonly next_step?: string }>(report: Report): Report {
  const { next_step } = report;
  return next_step === undefined ? report : { ...report, next_step: next_step.replace(/ --from \d+/, ' --from RUN') };
}

type RehearsedEvent = Rehearsal['events'][number];

const secondsAt = (time: string | number): number =>
  ((typeof time === 'number' ? time : Date.parse(time)) - STARTS_AT) / 1000;

function machineSteps({ ended }: MachineSteps, report: RunReport | undefined): RehearsalStep[] {
  const nodes = new Map((report?.baremetal?.nodes ?? []).map((node) => [node.name, node]));
  return ended.map(({ verb, node, from, to }, index) => {
    const said = nodes.get(node);
    const isLast = !ended.some((one, at) => at > index && one.node === node && one.verb === verb);
    const isFailed = isLast && said?.failed_in === verb;
    return {
      what: verb,
      graph: null,
      node,
      from: secondsAt(from),
      to: secondsAt(to),
      state: isFailed || !isLast ? 'failed' : 'success',
      ...(isFailed ? given({ reason: said.reason }) : {}),
    };
  });
}

async function taskSteps(order: RehearsalOrder, store: Store, report: GraphRunReport): Promise<RehearsalStep[]> {
  const names = new Map(order.agents.map(({ uid, shown }) => [uid, shown]));
  const steps: RehearsalStep[] = [];
  for (const { type, transaction } of report.graphs) {
    for (const { task, node, status, timeStart, timeEnd, message } of await store.taskHistory.list(transaction)) {
      if (timeStart === null) continue;
      const from = secondsAt(timeStart);
      const reason = status === 'success' ? undefined : (message ?? undefined);
      const to = timeEnd === null ? from : secondsAt(timeEnd);
      steps.push({
        what: task,
        graph: type,
        node: names.get(node) ?? node,
        from,
        to,
        state: status,
        ...given({ reason }),
      });
    }
  }
  return steps.sort((one, other) => one.from - other.from);
}

const DONE: Readonly<Record<string, string>> = { prepare: 'prepared', deploy: 'deployed', release: 'released' };
const NODES_NAMED = 6;

/** The ends of steps. What ends in the same way on several nodes within a second is one event. */
function stepEvents(steps: readonly RehearsalStep[]): RehearsedEvent[] {
  const alike = new Map<string, RehearsalStep[]>();
  for (const step of steps) {
    const { what, graph, to, state, reason = '' } = step;
    const key = JSON.stringify([what, graph, Math.floor(to), state, reason]);
    const known = alike.get(key);
    if (known === undefined) alike.set(key, [step]);
    else known.push(step);
  }
  return [...alike.values()].map((group) => {
    const { what, graph, state, reason } = group[0]!;
    const at = Math.max(...group.map(({ to }) => to));
    const nodes = someOf(
      group.map(({ node }) => node),
      NODES_NAMED,
    );
    const about = reason === undefined ? '' : `: ${reason}`;
    const done = graph === null ? (DONE[what] ?? what) : 'done';
    const subject = graph === null ? what : `task ${what}`;
    if (state === 'success') return { at, text: graph === null ? `${done}: ${nodes}` : `${subject} done on ${nodes}` };
    return { at, text: `${subject} ${state.replaceAll('_', ' ')} on ${nodes}${about}` };
  });
}

const ENDS: Readonly<Record<string, string>> = { success: 'done' };

function siteEvents({ phases, baremetal, started_at, ended_at, outcome }: RunReport): RehearsedEvent[] {
  return [
    { at: secondsAt(started_at), text: 'the run starts' },
    ...phases.flatMap(({ name, state, started_at: from, ended_at: to, detail }) => {
      const called = name.replaceAll('_', ' ');
      const said = detail === undefined ? '' : `: ${detail}`;
      const begins = { at: secondsAt(from), text: `${called} begins` };
      if (to === undefined) return [begins];
      const ends = { at: secondsAt(to), text: `${called} ${ENDS[state] ?? state.replaceAll('_', ' ')}${said}` };
      // What takes no time is one event.
      return ends.at - begins.at < 2 ? [ends] : [begins, ends];
    }),
    ...(baremetal?.groups ?? []).flatMap(({ name, calls }) =>
      calls.map(({ call, nodes, started_at: from }) => ({
        at: secondsAt(from),
        text: `group ${name}: ${call} of ${nodes === 1 ? 'one node' : `${nodes} nodes`} begins`,
      })),
    ),
    ...(ended_at === undefined ? [] : [{ at: secondsAt(ended_at), text: `the run ends: ${outcome}` }]),
  ];
}

/** Where the run waited for people, and what they did. */
function peopleEvents({ holds = [], operator }: RunReport | GraphRunReport): RehearsedEvent[] {
  const pointOf = (before: string): string => (before === BEFORE_CHANGES ? 'before any change' : `before ${before}`);
  return [
    ...holds.flatMap(({ before, since, decision, decided_at }) => [
      ...(since === undefined ? [] : [{ at: secondsAt(since), text: `waits for approval ${pointOf(before)}` }]),
      ...(decided_at === undefined ? [] : [{ at: secondsAt(decided_at), text: `${decision} ${pointOf(before)}` }]),
    ]),
    ...operator.flatMap(({ action, at, reason }) =>
      action === 'stop' ? [{ at: secondsAt(at), text: `stopped${reason === undefined ? '' : `: ${reason}`}` }] : [],
    ),
  ];
}

const graphEvents = ({ graphs }: GraphRunReport): RehearsedEvent[] =>
  graphs.flatMap(({ type, started_at, ended_at, state, total, reason }) => [
    ...(started_at === undefined ? [] : [{ at: secondsAt(started_at), text: `graph ${type} begins: ${total} tasks` }]),
    ...(ended_at === undefined
      ? []
      : [
          { at: secondsAt(ended_at), text: `graph ${type} ends: ${state}${reason === undefined ? '' : `: ${reason}`}` },
        ]),
  ]);
