import { apply } from '../../../src/core/scheduler/apply.ts';
import type { CoordinatorCommand, CoordinatorEvent } from '../../../src/core/scheduler/coordinator.ts';
import { coordinate, createCoordinator } from '../../../src/core/scheduler/coordinator.ts';
import { keepCoordinator, restoreCoordinator } from '../../../src/core/scheduler/coordinator-snapshot.ts';
import type { SchedulerCommand, SchedulerEvent } from '../../../src/core/scheduler/events.ts';
import { keyOf, pairOf } from '../../../src/core/scheduler/graph.ts';
import { compileNamed } from '../../../src/core/scheduler/named-plan.ts';
import { endOfPart } from '../../../src/core/scheduler/part-exchange.ts';
import type { FromPart, Sender, ToPart } from '../../../src/core/scheduler/part-messages.ts';
import { partition } from '../../../src/core/scheduler/partition.ts';
import { nodeStatus, rootCauses, taskReports } from '../../../src/core/scheduler/report.ts';
import type { Simulation } from '../../../src/core/scheduler/simulate.ts';
import { restoreScheduler, takeSnapshot } from '../../../src/core/scheduler/snapshot.ts';
import type { Scheduler } from '../../../src/core/scheduler/state.ts';
import { createScheduler } from '../../../src/core/scheduler/state.ts';
import { causeText, taskText } from '../../../src/core/task-on-node.ts';
import type { Observed } from './invariants.ts';

/** A small seeded generator, so that fast-check replays and shrinks a drive by its seed. */
export function choices(seed: number): (below: number) => number {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

export interface Disturbances {
  readonly pauses?: boolean;
  readonly restarts?: boolean;
  readonly stops?: boolean;
  /** Operator updates; after them the plain invariants no longer describe the run. */
  readonly operator?: boolean;
  /** The coordinator of parts forgets the newest of what it has heard, and hears it again; operators’ requests all or some. */
  readonly resets?: 'all' | 'some';
  /** Parts, too, forget the newest of what they have done, and hear again what they were told. */
  readonly partResets?: boolean;
  /** Tasks without work end inside the scheduler, and so are not in the trace. */
  readonly instant?: boolean;
  /** Nodes need permits: so many have one at a time. */
  readonly places?: number;
}

export interface Driven extends Observed {
  readonly events: number;
  readonly starts: readonly string[];
  readonly maxBusy: number;
  readonly maxByName: ReadonlyMap<string, number>;
}

type Running = { key: string; task: number; node: string; attempt: number };

const roundTrip = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const causesIn = (s: Scheduler): [string, readonly string[]][] =>
  [...rootCauses(s)].map(([task, causes]) => [keyOf(s.graph, task), causes.map(causeText)]);

class Tape {
  readonly trace: Observed['trace'][number][] = [];
  readonly starts: string[] = [];
  readonly running: Running[] = [];
  readonly maxByName = new Map<string, number>();
  maxBusy = 0;
  retrying = new Set<string>();
  readonly #open = new Set<string>();

  take({ graph }: Scheduler, command: SchedulerCommand): void {
    const key = 'task' in command ? keyOf(graph, command.task) : '';
    if (command.type === 'start') {
      const { task, attempt } = command;
      this.starts.push(`${key}#${attempt}`);
      this.retrying.delete(key);
      this.running.push({ key, ...pairOf(graph, task), task, attempt });
      if (!this.#open.has(key)) this.trace.push({ event: 'start', task: key });
      this.#open.add(key);
      this.maxBusy = Math.max(this.maxBusy, this.#open.size);
      const name = key.split('@')[0]!;
      const now = [...this.#open].filter((other) => other.startsWith(`${name}@`)).length;
      this.maxByName.set(name, Math.max(now, this.maxByName.get(name) ?? 0));
    } else if (command.type === 'retrying') {
      this.retrying.add(key);
    } else if (command.type === 'settled' && this.#open.delete(key)) {
      this.retrying.delete(key);
      this.trace.push({ event: 'end', task: key, outcome: command.status });
    }
  }
}

/** Drives one scheduler with random timing. Throws when it stalls before its end. */
export function driveWhole(plan: Simulation, seed: number, disturb: Disturbances = {}): Driven {
  const compiled = compileNamed(plan);
  if (!compiled.ok) throw new Error(`refused: ${compiled.refusal.reason}`);
  const { graph } = compiled;
  const pick = choices(seed);
  const tape = new Tape();
  const options = { instantNoWork: disturb.instant ?? false, isLimited: disturb.places !== undefined };
  let s = createScheduler(graph, options);
  const permits = { wants: [] as readonly number[], held: new Set<number>() };
  // Never restarted: shows that a restored scheduler produces the same output, word for word.
  const shadow = createScheduler(graph, options);
  let result: string | undefined;
  let wakeAt: number | undefined;
  let paused = false;
  let now = 0;
  let events = 0;
  const send = (event: SchedulerEvent): void => {
    if (disturb.restarts && pick(4) === 0) s = restoreScheduler(roundTrip(graph), roundTrip(takeSnapshot(s)), options);
    events++;
    const commands = apply(s, event);
    const unbroken = apply(shadow, event);
    // A restored one tells its wants again.
    const same = (all: readonly SchedulerCommand[]) => JSON.stringify(all.filter(({ type }) => type !== 'permits'));
    if (same(commands) !== same(unbroken)) {
      throw new Error(`restored: ${JSON.stringify(commands)}\nunbroken: ${JSON.stringify(unbroken)}`);
    }
    for (const command of commands) {
      tape.take(s, command);
      if (command.type === 'permits') {
        permits.wants = command.wants;
        for (const node of Object.values(command.back).flat()) permits.held.delete(node);
      }
      if (
        command.type === 'start' &&
        command.work &&
        options.isLimited &&
        !permits.held.has(graph.nodeOf[command.task]!)
      )
        throw new Error(`started without a permit: ${keyOf(graph, command.task)}`);
      if (command.type === 'wake') wakeAt = command.at;
      if (command.type === 'finish') result = command.why ?? command.result;
    }
  };
  send({ type: 'begin', offline: plan.offline ?? [], now });
  for (let step = 0; result === undefined; step++) {
    if (step > 5000) throw new Error('does not come to an end');
    const dice = pick(20);
    if (disturb.pauses && dice === 0) {
      paused = !paused;
      send(paused ? { type: 'pause' } : { type: 'resume', now });
    } else if (disturb.stops && dice === 1 && pick(4) === 0) {
      send({ type: 'stop' });
      tape.trace.push({ event: 'stop', task: '' });
    } else if (disturb.operator && dice < 6) {
      const task = plan.tasks[pick(plan.tasks.length)];
      if (task !== undefined) send({ type: dice < 4 ? 'retry_task' : 'skip_task', task: task.id, node: task.node });
    } else if (
      permits.wants.length > 0 &&
      permits.held.size < disturb.places! &&
      (tape.running.length === 0 || dice > 12)
    ) {
      const node = permits.wants[pick(permits.wants.length)]!;
      permits.held.add(node);
      permits.wants = permits.wants.filter((other) => other !== node);
      send({ type: 'permitted', nodes: [node] });
    } else if (tape.running.length > 0) {
      const [ended] = tape.running.splice(pick(tape.running.length), 1) as [Running];
      now += pick(7);
      const outcome = plan.outcomes?.[ended.key] === undefined ? 'success' : 'failed';
      const event: SchedulerEvent = { type: 'ended', task: ended.task, attempt: ended.attempt, outcome, now };
      send(event);
      // A second answer, as after a lost acknowledgement, must change nothing.
      if (result === undefined && pick(5) === 0) send(event);
    } else if (paused) {
      paused = false;
      send({ type: 'resume', now });
    } else if (wakeAt !== undefined && tape.retrying.size > 0) {
      now = Math.max(now, wakeAt);
      send({ type: 'tick', now });
    } else {
      throw new Error(`stands still: ${JSON.stringify(taskReports(s))}`);
    }
  }
  return {
    result,
    events,
    tasks: Object.fromEntries(taskReports(s).map((report) => [taskText(report), report.status])),
    nodes: Object.fromEntries(graph.nodes.map((node, n) => [node, nodeStatus(s, n)!])),
    rootCauses: Object.fromEntries(causesIn(s)),
    ...tape,
  };
}

/** Drives the run in parts: each message is delivered some time later, in any order. */
export function driveSplit(
  plan: Simulation,
  partOf: readonly number[],
  seed: number,
  disturb: Disturbances = {},
): Driven {
  const compiled = compileNamed(plan);
  if (!compiled.ok) throw new Error(`refused: ${compiled.refusal.reason}`);
  const { parts: graphs, coordination } = roundTrip(partition(compiled.graph, partOf));
  const pick = choices(seed);
  const tape = new Tape();
  const options = { instantNoWork: disturb.instant ?? false };
  const parts = graphs.map((graph) => createScheduler(graph, options));
  let stamps = 0;
  /** Which each event drew: a coordinator that processes it again draws the same. */
  const heard: { readonly event: CoordinatorEvent; readonly stamps: readonly number[] }[] = [];
  let drawn: number[] = [];
  let again: number[] = [];
  const stamp = (): number => {
    const drawnNow = again.shift() ?? ++stamps;
    drawn.push(drawnNow);
    return drawnNow;
  };
  let coordinator = createCoordinator(coordination, stamp);
  let run = 1;
  /** The executions of the coordinator since its last reset: each continues the one before as new. */
  let chain = ['run 1'];
  const down: { readonly message: ToPart; readonly by: Sender }[][] = graphs.map(() => []);
  const up: { readonly message: FromPart; readonly by: number }[][] = graphs.map(() => []);
  /** By part: its resets so far, and of which execution the coordinator has heard. */
  const execution = graphs.map(() => 0);
  const known = graphs.map(() => 0);
  const told: SchedulerEvent[][] = graphs.map(() => []);
  const wakeAt: (number | undefined)[] = graphs.map(() => undefined);
  let result: string | undefined;
  const ends: Extract<CoordinatorEvent, { type: 'ended' }>[] = [];
  const ended = new Set<number>();
  let paused = false;
  let now = 0;
  let events = 0;
  const sendPart = (part: number, event: SchedulerEvent): void => {
    if (disturb.restarts && pick(4) === 0) {
      parts[part] = restoreScheduler(graphs[part]!, roundTrip(takeSnapshot(parts[part]!)), options);
    }
    events++;
    told[part]!.push(roundTrip(event));
    for (const command of apply(parts[part]!, event)) {
      tape.take(parts[part]!, command);
      if (command.type === 'send') up[part]!.push({ message: roundTrip(command.message), by: execution[part]! });
      if (command.type === 'wake') wakeAt[part] = command.at;
      if (command.type === 'finish') ends.push({ type: 'ended', part, ...endOfPart(parts[part]!)! });
    }
  };
  const sendCoordinator = (event: CoordinatorEvent): void => {
    drawn = [];
    if (disturb.restarts && pick(4) === 0) {
      coordinator = restoreCoordinator(coordination, roundTrip(keepCoordinator(coordinator)), stamp);
      chain.push(`run ${run}, continued ${chain.length}`);
    }
    for (const command of coordinate(coordinator, event) as CoordinatorCommand[]) {
      if (command.type === 'send' && !ended.has(command.part))
        down[command.part]!.push({
          message: roundTrip(command.message),
          by: { run: chain.at(-1)!, at: run, after: chain.slice(0, -1) },
        });
      if (command.type === 'finish') result = command.why ?? command.result;
    }
    heard.push({ event, stamps: drawn });
  };
  const reset = (): void => {
    const later = heard.splice(1 + pick(heard.length));
    coordinator = createCoordinator(coordination, stamp);
    drawn = [];
    for (const { event, stamps } of heard) {
      again = [...stamps];
      coordinate(coordinator, event);
    }
    again = [];
    run++;
    chain = [`run ${run}`];
    for (const { event } of later)
      if (
        disturb.resets === 'all' ||
        event.type === 'received' ||
        event.type === 'part_reset' ||
        event.type === 'ended' ||
        pick(2) === 0
      )
        sendCoordinator(event);
    paused = heard.findLast(({ event }) => event.type === 'pause' || event.type === 'resume')?.event.type === 'pause';
  };
  const resetPart = (part: number): void => {
    const all = told[part]!;
    const kept = all.slice(0, pick(all.length + 1));
    told[part] = [...kept];
    const mine = (key: string): boolean => ownerOf(key.split('@')[1]!) === part;
    tape.running.splice(0, tape.running.length, ...tape.running.filter(({ key }) => !mine(key)));
    for (const key of tape.retrying) if (mine(key)) tape.retrying.delete(key);
    const scheduler = createScheduler(graphs[part]!, options);
    parts[part] = scheduler;
    wakeAt[part] = undefined;
    const running = new Map<number, Running>();
    for (const event of kept) {
      if (event.type === 'ended') running.delete(event.task);
      for (const command of apply(scheduler, roundTrip(event))) {
        const key = 'task' in command ? keyOf(scheduler.graph, command.task) : '';
        if (command.type === 'wake') wakeAt[part] = command.at;
        if (command.type === 'retrying') tape.retrying.add(key);
        if (command.type !== 'start') continue;
        tape.retrying.delete(key);
        const { task, attempt } = command;
        running.set(task, { key, ...pairOf(scheduler.graph, task), task, attempt });
      }
    }
    tape.running.push(...running.values());
    execution[part]!++;
    for (const event of all.slice(kept.length)) if (event.type === 'received') sendPart(part, event);
  };
  /** As the run that has the coordinator does. */
  const hear = (part: number, { message, by }: { readonly message: FromPart; readonly by: number }): void => {
    if (by < known[part]!) return;
    if (by > known[part]!) sendCoordinator({ type: 'part_reset', part });
    known[part] = by;
    sendCoordinator({ type: 'received', message });
  };
  /** Signals may overtake each other and come twice. */
  const delivered = <M>(queue: M[]): M => {
    const [message] = queue.splice(pick(queue.length), 1) as [M];
    if (pick(8) === 0) queue.push(message);
    return message;
  };
  const ownerOf = (node: string): number => partOf[plan.nodes.findIndex((n) => n.id === node)]!;
  sendCoordinator({ type: 'begin', offline: plan.offline ?? [] });
  for (let step = 0; result === undefined; step++) {
    if (step > 20000) throw new Error('does not come to an end');
    const dice = pick(30);
    if (disturb.resets && run < 4 && dice === 29 && pick(2) === 0) {
      reset();
      continue;
    }
    if (disturb.partResets && dice === 28 && pick(2) === 0) {
      const part = pick(graphs.length);
      if (!parts[part]!.finished && execution[part]! < 3) resetPart(part);
      continue;
    }
    if (disturb.pauses && dice === 0) {
      paused = !paused;
      sendCoordinator({ type: paused ? 'pause' : 'resume' });
      continue;
    }
    if (disturb.stops && dice === 1 && pick(4) === 0) {
      sendCoordinator({ type: 'stop' });
      continue;
    }
    if (disturb.operator && dice < 8) {
      const task = plan.tasks[pick(plan.tasks.length)];
      if (task !== undefined)
        sendCoordinator({ type: dice < 5 ? 'retry_task' : 'skip_task', task: task.id, node: task.node });
    }
    const moves: (() => void)[] = [];
    down.forEach((queue, part) => {
      if (queue.length > 0 && !ended.has(part))
        moves.push(() => sendPart(part, { type: 'received', ...delivered(queue) }));
    });
    ends.forEach((end, at) => {
      // A part has sent everything when it ends.
      if (up[end.part]!.length > 0) return;
      moves.push(() => {
        ends.splice(at, 1);
        ended.add(end.part);
        sendCoordinator(end);
      });
    });
    up.forEach((queue, part) => {
      if (queue.length > 0) moves.push(() => hear(part, delivered(queue)));
    });
    tape.running.forEach((running, at) => {
      moves.push(() => {
        tape.running.splice(at, 1);
        now += pick(7);
        const outcome = plan.outcomes?.[running.key] === undefined ? 'success' : 'failed';
        sendPart(ownerOf(running.node), { type: 'ended', task: running.task, attempt: running.attempt, outcome, now });
      });
    });
    if (moves.length > 0) moves[pick(moves.length)]!();
    else if (paused) {
      paused = false;
      sendCoordinator({ type: 'resume' });
    } else if (tape.retrying.size > 0) {
      now += 100;
      graphs.forEach((_, part) => {
        if (wakeAt[part] !== undefined) sendPart(part, { type: 'tick', now });
      });
    } else {
      throw new Error(`stands still: ${JSON.stringify(parts.map((part) => taskReports(part)))}`);
    }
  }
  if (ended.size !== graphs.length) throw new Error(`${ended.size} of ${graphs.length} parts finished`);
  const reports = parts.flatMap((part) => taskReports(part));
  return {
    result,
    events,
    tasks: Object.fromEntries(reports.map((report) => [taskText(report), report.status])),
    nodes: Object.fromEntries(
      parts.flatMap((part, p) => graphs[p]!.nodes.map((node, n) => [node, nodeStatus(part, n)!] as const)),
    ),
    rootCauses: Object.fromEntries(parts.flatMap(causesIn)),
    ...tape,
  };
}
