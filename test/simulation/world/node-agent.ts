import { dirname } from 'node:path';
import { type AnyActivity, type Random, Worker } from '@sitewright/temporal-simulator';
import { type Followed, nodeControlActivities, nodeTaskActivities } from '../../../activities/node/task.ts';
import { plainFailures } from '../../../activities/plain-failures.ts';
import { NodeAgent } from '../../../src/agent/index.ts';
import { nodeFolder } from '../../../src/agent/journal/execution.ts';
import { supervise } from '../../../src/agent/supervision/supervise.ts';
import type { SupervisorMessage } from '../../../src/agent/supervision/supervisor-message.ts';
import type { ExecutionKey } from '../../../src/core/task-on-node.ts';
import { GatewayClient } from '../../../src/gateway/gateway-client.ts';
import { ownCredentials } from '../../../worker/parts/own-credentials.ts';
import { caller, type World } from '../../../worker/parts/rehearsals/world.ts';
import { controlQueue, nodeQueue } from '../../../workflows/protocol.ts';
import { Disk } from './disk.ts';
import type { SimulatedGateway } from './gateway-port.ts';
import { JournalTrace } from './journal-trace.ts';
import { Machine, type Process } from './machine.ts';

/** What the commands of tasks do. */
interface TaskModel {
  fails(task: string): boolean;
  /** Undefined: the script asks no check. */
  answerTo(script: string, node: string): CheckAnswer | undefined;
}

/** What the script of a check finds. */
interface CheckAnswer {
  readonly exitCode: number;
  readonly ms: number;
  /** It has found that. */
  found(): void;
}

/** One try of a task, as the world saw it: whatever journals say, this is what happened. */
export interface Effect extends ExecutionKey {
  readonly try: string;
  readonly startedAt: number;
  endedAt: number | null;
  /** Null: it did not come to its end. */
  exitCode: number | null;
  /** Its agent had asked it to end before: its exit code says nothing of its work. */
  wasAskedToEnd: boolean;
  /** It only asks a check. */
  readonly asks: boolean;
}

/** Whether the work of a task was done, as far as anyone can know. */
export const hasSucceeded = ({ exitCode, wasAskedToEnd }: Effect): boolean => exitCode === 0 && !wasAskedToEnd;

const STATE = '/var/lib/sitewright/dc1';
const SUPERVISOR = '/usr/bin/sitewright-supervisor';
const CREDENTIALS = '/etc/sitewright';
const RESTART_MS = 2_000;
const ORDERED_BEFORE_MS = 70_000;
/** A slow machine starts supervisor and task this late at most. */
const SLOW_START_MS = 180_000;

/**
 * A node: a machine at whose system calls the simulation begins. Its agent, journals and supervisors are the real ones; the commands
 * of its tasks are of the seed.
 */
export class SimulatedNode {
  readonly #world: World;
  readonly #gateway: SimulatedGateway;
  readonly #random: Random;
  readonly #site: string;
  readonly name: string;
  readonly machine: Machine;
  readonly effects: Effect[] = [];
  /** Effects that are gone with an earlier installation, and with them the journal that knew of them. */
  #gone = 0;
  readonly journal: JournalTrace;
  readonly #tasks: TaskModel;
  revokedAt: number | null = null;
  #agent: { readonly process: Process; readonly worker: Worker | undefined; leave(): void } | undefined;
  /** Until when no agent is started. */
  #downUntil = 0;
  #offs = 0;

  constructor(world: World, gateway: SimulatedGateway, site: string, name: string, tasks: TaskModel) {
    this.#world = world;
    this.#gateway = gateway;
    this.#random = world.random.fork(`node ${name}`);
    this.#site = site;
    this.name = name;
    this.#tasks = tasks;
    this.machine = new Machine(name, world.time, world.random.fork(`machine ${name}`), (line) => world.tell(line));
    this.journal = new JournalTrace(this.machine, nodeFolder(STATE, name), (what) => world.violated(what));
    this.#install();
  }

  #install(): void {
    const { machine } = this;
    for (const program of ['/usr/bin/bash', '/usr/bin/flock', SUPERVISOR]) {
      machine.disk.makeFolder(dirname(program), true);
      machine.disk.open(program, { write: true, create: true }, 0o755);
    }
    machine.disk.makeFolder(STATE, true);
    machine.disk.syncAll();
    machine.programs.set('/usr/bin/bash', (process) => this.#command(process));
    machine.programs.set('flock', (process) => machine.flock(process));
    machine.programs.set(SUPERVISOR, async (process) => {
      await supervise(JSON.parse(await process.input) as SupervisorMessage, () => process.closeOutput());
      process.exit(0);
    });
  }

  get hasAgent(): boolean {
    return this.#agent?.process.isAlive === true;
  }

  startAgent(): void {
    if (this.hasAgent || this.#world.time.now < this.#downUntil) return;
    this.machine.start('sitewright-agent', async (process) => {
      const agent = { process, worker: undefined as Worker | undefined, leave: () => undefined };
      this.#agent = agent;
      process.ended.push(() => {
        agent.worker?.kill();
        this.#world.time.after(RESTART_MS, () => this.startAgent());
      });
      Object.assign(agent, await this.#agentOf(process));
      this.#world.temporal.join(agent.worker!);
      this.#world.tell(`${process.host.name} is ready`);
    });
  }

  /** As `startEnrolledAgent` of worker/enrolled-agent.ts, and `serveNode` of worker/parts/agent.ts. */
  async #agentOf(process: Process): Promise<{ worker: Worker; leave: () => void }> {
    const world = this.#world;
    const node = this.name;
    const say = (...[, line]: readonly unknown[]): void => world.tell(`${process.host.name}: ${String(line)}`);
    const open = this.#gateway.transport;
    const credentials = await ownCredentials(CREDENTIALS, { info: say, warn: say }, new AbortController().signal, open);
    const orders = new GatewayClient(CREDENTIALS, credentials, undefined, open);
    const agent = new NodeAgent({
      node,
      stateDir: STATE,
      resolveSecret: (ref, key) => orders.secret(ref, key),
      readSource: (path, key) => orders.source(path, key),
      cgroupRoot: false,
      supervisorCommand: [SUPERVISOR],
    });
    for (const line of await agent.recover()) world.tell(`${process.host.name}: ${line}`);
    const leaving = new AbortController();
    const followed: Followed = new Map();
    const queue = nodeQueue(this.#site, node);
    const shared = { node, agent, control: orders, followed };
    const tasks = nodeTaskActivities({
      ...shared,
      orders,
      verify: orders.verify,
      leaving: leaving.signal,
      alarm: async (kind, message, key) => {
        world.tell(`${process.host.name} refuses an order: ${kind}, ${message}`);
        await orders.alarm(kind, message, key);
      },
    });
    const control = nodeControlActivities({
      ...shared,
      version: '1.0.0',
      instance: String(process.pid),
      drain: async () => leaving.abort(),
    });
    const worker = new Worker({
      host: process.host,
      time: world.time,
      activities: {
        [queue]: tasks as unknown as Record<string, AnyActivity>,
        [controlQueue(queue)]: control as unknown as Record<string, AnyActivity>,
      },
      slots: { [queue]: 1, [controlQueue(queue)]: 2 },
      interceptors: [plainFailures],
      latency: () => this.#random.int(1, 30),
    });
    return {
      worker,
      leave: () => {
        leaving.abort();
        worker.shutDown();
      },
    };
  }

  killAgent(downMs: number): void {
    if (!this.hasAgent) return;
    this.#world.tell(`${this.#agent!.process.host.name} is killed`);
    this.#down(downMs);
    this.machine.end(this.#agent!.process, { signal: 'SIGKILL' });
  }

  /** Its service is stopped and started again. */
  restartAgent(): void {
    const agent = this.#agent;
    if (!agent?.process.isAlive) return;
    this.#world.tell(`${agent.process.host.name} leaves`);
    this.#world.time.hosts.run(agent.process.host, agent.leave);
    this.#world.time.after(2_000, () => this.machine.end(agent.process, { code: 0 }));
  }

  /** A process of it ends in the middle of what it does: at a system call to come. */
  killWithin(calls: number, downMs: number): void {
    this.machine.trap = {
      left: calls,
      spring: (process) => {
        this.#world.tell(`${process.host.name} is killed in the middle of its work`);
        this.#down(downMs);
        this.machine.end(process, { signal: 'SIGKILL' });
      },
    };
  }

  /** The supervisor of a task is killed; the task's own processes are not. */
  killSupervisor(): void {
    const found = [...this.machine.processes.values()].find(({ args }) => args[0] === SUPERVISOR);
    if (found === undefined) return;
    this.#world.tell(`${found.host.name} is killed`);
    this.machine.end(found, { signal: 'SIGKILL' });
  }

  losePower(downMs: number): void {
    this.#world.tell(`${this.name} loses power`);
    this.#off(downMs);
    this.machine.losePower();
  }

  losePowerWithin(calls: number, downMs: number): void {
    this.machine.trap = { left: calls, spring: () => this.losePower(downMs) };
  }

  /** Its processes are asked to end and are ended, and its disk is synced. */
  reboot(downMs: number): void {
    this.#world.tell(`${this.name} shuts down`);
    const { machine } = this;
    if (this.hasAgent) this.#world.time.hosts.run(this.#agent!.process.host, this.#agent!.leave);
    for (const { pid } of [...machine.processes.values()]) machine.signal(pid, 'SIGTERM');
    const off = this.#off(20_000 + downMs);
    this.#world.time.after(20_000, () => {
      if (off !== this.#offs) return;
      machine.disk.syncAll();
      machine.losePower();
    });
  }

  /** Its disk is empty, as when it was deployed again. */
  reinstall(downMs: number): void {
    this.#world.tell(`${this.name} is reinstalled`);
    this.#off(downMs);
    this.machine.losePower();
    this.#gone = this.effects.length;
    this.journal.reinstalled();
    this.machine.disk = new Disk();
    this.#install();
    void this.enrol();
  }

  /** What it did since its disk was last empty: its journal knows no other. */
  get known(): readonly Effect[] {
    return this.effects.slice(this.#gone);
  }

  /** An operator gives it a new ticket: it has certificates again that are not revoked. */
  async enrol(): Promise<void> {
    await this.#gateway.ticket(this.name, CREDENTIALS, this.machine.disk);
    this.revokedAt = null;
  }

  /** An operator revokes its certificates, and gives it a new ticket after a while. */
  async revoke(ms: number): Promise<void> {
    const { store, time } = this.#world;
    const at = new Date(time.now).toISOString();
    await store.nodeIdentities.revoke({ site: this.#site, node: this.name, at, reason: 'by a person' });
    this.#world.tell(`the certificates of ${this.name} are revoked`);
    this.revokedAt = time.now;
    time.after(ms, () => this.#enrolAgain());
  }

  /** The store is brought back to a copy of before: what was revoked since is valid again (docs/how-to/back-up.md). */
  revocationIsLost(copiedAt: number): void {
    if (this.revokedAt !== null && this.revokedAt >= copiedAt) this.revokedAt = null;
  }

  async #enrolAgain(): Promise<void> {
    // The operator comes back when the disk takes the ticket.
    if (this.machine.disk.free < 100_000) {
      this.#world.time.after(60_000, () => this.#enrolAgain());
      return;
    }
    await this.enrol();
    this.#world.tell(`${this.name} has a new ticket`);
    this.restartAgent();
  }

  /** Something else takes the space of its disk, but for some bytes. */
  fillDisk(left: number, ms: number): void {
    const { disk } = this.machine;
    this.#world.tell(`the disk of ${this.name} has ${left} bytes left`);
    const { capacity } = disk;
    disk.capacity -= disk.free - Math.min(disk.free, left);
    this.#world.time.after(ms, () => {
      disk.capacity = capacity;
      this.#world.tell(`the disk of ${this.name} has space again`);
    });
  }

  /** Something else takes its processors. */
  becomeSlow(ms: number): void {
    this.#world.tell(`${this.name} is slow for ${Math.round(ms / 1000)} s`);
    this.machine.slowUntil = this.#world.time.now + ms;
  }

  /** How much later than usual it may start what it had been ordered before this moment. */
  startsLaterBy(since: number): number {
    return this.machine.slowUntil > since ? SLOW_START_MS : 0;
  }

  jumpClock(ms: number): void {
    this.#world.tell(`the clock of ${this.name} jumps by ${Math.round(ms / 1000)} s`);
    this.machine.clock.skewMs += ms;
  }

  /** All faults end. */
  recover(): void {
    this.machine.trap = undefined;
    this.machine.clock.skewMs = 0;
    this.machine.slowUntil = 0;
    this.startAgent();
  }

  /** Which time it is off; one that is switched off again meanwhile boots once, when the last says so. */
  #off(ms: number): number {
    const off = ++this.#offs;
    this.#downUntil = this.#world.time.now + ms;
    this.#world.time.after(ms, () => {
      if (off !== this.#offs) return;
      this.#world.tell(`${this.name} boots`);
      this.machine.boot();
      this.startAgent();
    });
    return off;
  }

  #down(ms: number): void {
    this.#downUntil = Math.max(this.#downUntil, this.#world.time.now + ms);
    this.#world.time.after(ms + 1, () => this.startAgent());
  }

  kill(): void {
    this.#downUntil = Number.POSITIVE_INFINITY;
    for (const process of [...this.machine.processes.values()]) this.machine.end(process, { signal: 'SIGKILL' });
  }

  /** Called when the effect of a task begins. */
  started: (by: ReturnType<typeof caller>, task: string, run: string, asks: boolean) => void = () => undefined;

  /** `bash -- SCRIPT`: the command of a task. */
  #command(process: Process): void {
    const { time } = this.#world;
    const script = process.args[2]!;
    const tryFolder = dirname(script);
    const { run, task, node, generation } = JSON.parse(
      this.#text(`${dirname(tryFolder)}/execution.json`),
    ) as ExecutionKey;
    const text = this.#text(script);
    const check = this.#tasks.answerTo(text, this.name);
    const effect: Effect = {
      ...{
        run,
        task,
        node,
        generation,
        try: tryFolder.slice(tryFolder.lastIndexOf('-') + 1),
        asks: check !== undefined,
      },
      ...{ startedAt: time.now, endedAt: null, exitCode: null, wasAskedToEnd: false },
    };
    const said = `${task} (run ${run}, generation ${generation}, try ${effect.try})`;
    this.#world.tell(`${this.name} runs ${said}`);
    const same = this.known.find((one) => KEY.every((name) => one[name] === effect[name]));
    if (same !== undefined) this.#world.violated(`${this.name} runs ${said} a second time`);
    const other = this.effects.find(({ endedAt }) => endedAt === null);
    if (other !== undefined) this.#world.violated(`${this.name} runs ${said} while ${other.task} runs`);
    if (check === undefined && !text.startsWith('echo '))
      this.#world.violated(`${this.name} runs a torn script of ${said}`);
    // An order that it had before may wait for the lock, and for a slow machine.
    const startsWithin = ORDERED_BEFORE_MS + this.startsLaterBy(this.revokedAt ?? 0);
    const isLate = this.revokedAt !== null && time.now > this.revokedAt + startsWithin;
    if (
      isLate &&
      generation === 1 &&
      effect.try === '1' &&
      !this.effects.some((one) => one.run === run && one.task === task)
    )
      this.#world.violated(`${this.name} runs ${said}, and its certificates are revoked`);
    this.effects.push(effect);
    this.journal.started(dirname(tryFolder));
    if (effect.try === '1') this.started(caller(), task, run, effect.asks);
    const seconds =
      check !== undefined
        ? check.ms / 1000
        : this.#random.chance(0.1)
          ? this.#random.int(60, 900)
          : this.#random.int(1, 50);
    const exitCode = check?.exitCode ?? (this.#tasks.fails(task) ? 1 : 0);
    if (this.#random.chance(0.2)) process.signals.on('SIGTERM', () => undefined);
    process.asked.push(() => {
      effect.wasAskedToEnd = true;
    });
    process.ended.push(() => {
      effect.endedAt = time.now;
      if (effect.exitCode === null) this.#world.tell(`${this.name}: ${task} is ended before its end`);
    });
    setTimeout(() => process.write('stdout', `${task} begins\n`), 50);
    setTimeout(() => {
      process.write('stderr', `${task} ${exitCode > 0 ? 'fails' : 'is done'}\n`);
      effect.exitCode = exitCode;
      check?.found();
      this.#world.tell(`${this.name}: ${task} ${exitCode > 0 ? 'fails' : 'succeeds'}`);
      process.exit(exitCode);
    }, seconds * 1000);
  }

  #text(path: string): string {
    const file = this.machine.disk.file(path, 'open');
    return file.read(0, file.size).toString();
  }
}

const KEY = ['run', 'task', 'generation', 'try'] as const;
