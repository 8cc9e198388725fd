import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import type { Host, Random, VirtualTime } from '@sitewright/temporal-simulator';
import { Disk, type DiskFile, type DiskFolder } from './disk.ts';

/** An open file description: processes that inherit it share it, and a lock on it. */
export interface OpenFile {
  readonly path: string;
  readonly disk: Disk;
  readonly entry: DiskFile | DiskFolder;
  readonly isAppending: boolean;
  position: number;
  /** Descriptors of it. */
  references: number;
}

/** Thrown by a system call of a process that has ended: nothing that it still does has an effect. */
export class Ended extends Error {}

type Signal = 'SIGTERM' | 'SIGKILL';
type Program = (process: Process) => void | Promise<void>;

/** A process of a simulated machine. */
export class Process {
  readonly machine: Machine;
  readonly pid: number;
  /** Changes to 1 when the parent ends. */
  parent: number;
  readonly session: number;
  readonly startTime: string;
  readonly host: Host;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly files = new Map<number, OpenFile>();
  readonly signals = new EventEmitter();
  /** Called when it is asked to end, which it may not heed. */
  readonly asked: (() => void)[] = [];
  /** Called when it has ended, in whatever way. */
  readonly ended: (() => void)[] = [];
  /** What it reads from its standard input. */
  input: Promise<string>;
  readonly child: Child | undefined;
  #nextFile = 3;

  constructor(machine: Machine, pid: number, { host, parent, session, args, environment, child, input }: ProcessParts) {
    this.machine = machine;
    this.pid = pid;
    this.parent = parent;
    this.session = session;
    // Ticks since boot: after another boot, a process may have the same number and the same moment.
    this.startTime = String(Math.floor((machine.time.now - machine.bootedAt) / 10));
    this.host = host;
    this.args = args;
    this.environment = environment;
    this.child = child;
    this.input = input;
  }

  get isAlive(): boolean {
    return this.host.alive;
  }

  add(file: OpenFile): number {
    file.references++;
    this.files.set(this.#nextFile, file);
    return this.#nextFile++;
  }

  close(descriptor: number): void {
    const file = this.files.get(descriptor);
    this.files.delete(descriptor);
    if (file !== undefined) this.machine.released(file);
  }

  write(stream: 'stdout' | 'stderr', text: string): void {
    this.child?.deliver(() => this.child?.[stream].emit('data', Buffer.from(text)));
  }

  /** Its parent reads the end of its standard output. */
  closeOutput(): void {
    this.child?.endOutput();
  }

  exit(code: number): void {
    this.machine.end(this, { code });
  }
}

interface ProcessParts {
  readonly host: Host;
  readonly parent: number;
  readonly session: number;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly child: Child | undefined;
  readonly input: Promise<string>;
}

class Stream extends EventEmitter {
  resume(): this {
    return this;
  }

  destroy(): void {
    this.emit('destroyed');
  }
}

/** What `spawn` gives to the parent. */
export class Child extends EventEmitter {
  readonly pid: number;
  readonly stdout = new Stream();
  readonly stderr = new Stream();
  readonly stdin: { on(): void; end(text: string): void };
  readonly #time: VirtualTime;
  readonly #inParent = AsyncLocalStorage.snapshot();
  readonly kill: (signal?: Signal) => void;
  #isOutputOver = false;
  #hasExited = false;
  #isClosed = false;

  constructor(time: VirtualTime, pid: number, give: (input: string) => void, kill: (signal?: Signal) => void) {
    super();
    this.#time = time;
    this.pid = pid;
    this.stdin = { on: () => undefined, end: give };
    this.kill = kill;
    this.stdout.on('destroyed', () => this.endOutput());
  }

  /** Does something in the parent, a moment later, unless it has ended. */
  deliver(work: () => void): void {
    this.#inParent(() => this.#time.after(1, this.#time.asHost(work)));
  }

  endOutput(): void {
    if (this.#isOutputOver) return;
    this.#isOutputOver = true;
    this.deliver(() => {
      this.stdout.emit('end');
      this.#closeWhenOver();
    });
  }

  exited(code: number | null, signal: Signal | null): void {
    this.#hasExited = true;
    this.deliver(() => {
      this.emit('exit', code, signal);
      this.#closeWhenOver();
    });
    this.endOutput();
  }

  #closeWhenOver(): void {
    if (!this.#hasExited || !this.#isOutputOver || this.#isClosed) return;
    this.#isClosed = true;
    this.deliver(() => this.emit('close'));
  }

  unref(): void {}
}

/** Listens to what happens on a machine. */
interface MachineObserver {
  /** A file has another name. */
  linked(process: Process, path: string): void;
  /** A folder was synced. */
  synced(path: string): void;
  ended(process: Process): void;
  powerLost(): void;
}

interface Lock {
  holder: OpenFile | undefined;
  readonly waiting: (() => void)[];
}

/**
 * A machine at the border of system calls: a disk, folders in memory, processes with signals and sessions, and locks. Programs are
 * functions; what runs in them is the real code.
 */
export class Machine {
  readonly name: string;
  readonly time: VirtualTime;
  readonly random: Random;
  disk: Disk;
  memory = new Disk();
  bootId = '';
  bootedAt = 0;
  readonly clock = { skewMs: 0 };
  readonly processes = new Map<number, Process>();
  readonly programs = new Map<string, Program>();
  readonly tell: (line: string) => void;
  observer: MachineObserver | undefined;
  /** Whether the kernel has no watches of files left. */
  hasWatches = true;
  /** Until then it is busy with other things: programs start late. */
  slowUntil = 0;
  /** The next so many changes by system calls go well; then it springs, in the middle of what the process does. */
  trap: { left: number; readonly spring: (process: Process) => void } | undefined;
  #nextPid = 100;
  #boots = 0;
  readonly #locks = new Map<DiskFile | DiskFolder, Lock>();
  readonly #watchers = new Map<string, Set<() => void>>();

  constructor(name: string, time: VirtualTime, random: Random, tell: (line: string) => void) {
    this.name = name;
    this.time = time;
    this.random = random;
    this.tell = tell;
    this.disk = new Disk();
    this.boot();
  }

  boot(): void {
    this.bootId = `${this.name}-boot-${++this.#boots}`;
    this.bootedAt = this.time.now;
    this.#nextPid = 100;
    this.memory = new Disk();
    this.#locks.clear();
    this.#watchers.clear();
  }

  /** Starts a program without a parent, as the init system does. */
  start(name: string, program: Program): Process {
    const pid = this.#nextPid++;
    const process = this.#make(pid, { parent: 1, session: pid, args: [name], environment: {}, child: undefined });
    this.#begin(process, program, 0);
    return process;
  }

  /** As `spawn` of Node.js. */
  spawn(parent: Process, program: string, args: readonly string[], options: SpawnOptions): Child {
    const pid = this.#nextPid++;
    let give: (input: string) => void = () => undefined;
    const input = new Promise<string>((resolve) => {
      give = resolve;
    });
    const child = new Child(this.time, pid, give, (signal = 'SIGTERM') => this.signal(pid, signal));
    const found = this.programs.get(program);
    if (found === undefined) {
      child.deliver(() => child.emit('error', Object.assign(new Error(`spawn ${program} ENOENT`), { code: 'ENOENT' })));
      return child;
    }
    const process = this.#make(pid, {
      parent: parent.pid,
      session: options.detached === true ? pid : parent.session,
      args: [options.argv0 ?? program, ...args],
      environment: options.env ?? parent.environment,
      child,
      input,
    });
    const inherited = Array.isArray(options.stdio) ? options.stdio : [];
    for (const [descriptor, one] of inherited.entries()) {
      const file = typeof one === 'number' ? parent.files.get(one) : undefined;
      if (file === undefined) continue;
      file.references++;
      process.files.set(descriptor, file);
    }
    // Now and then a machine is slow to start a program.
    const [least, most] =
      this.time.now < this.slowUntil ? [1_000, 90_000] : this.random.chance(0.1) ? [100, 8_000] : [1, 20];
    this.#begin(process, found, this.random.int(least!, most!));
    return child;
  }

  #make(pid: number, parts: Omit<ProcessParts, 'host' | 'input'> & { readonly input?: Promise<string> }): Process {
    const name = `${this.name} ${parts.args[0]?.split('/').at(-1)} ${pid}`;
    const host: Host = { name, alive: true, stalledUntil: 0, clock: this.clock };
    const process = new Process(this, pid, { input: Promise.resolve(''), ...parts, host });
    PROCESSES.set(host, process);
    this.processes.set(pid, process);
    return process;
  }

  #begin(process: Process, program: Program, ms: number): void {
    const inParent = AsyncLocalStorage.snapshot();
    const run = async (): Promise<void> => {
      try {
        await program(process);
      } catch (error) {
        if (!process.isAlive || error instanceof Ended) return;
        this.tell(`${process.host.name} fails: ${String(error)}`);
        this.end(process, { code: 1 });
      }
    };
    const begin = (): void => {
      if (process.isAlive) void inParent(() => this.time.hosts.run(process.host, run));
    };
    if (ms === 0) begin();
    else this.time.after(ms, begin);
  }

  end(process: Process, how: { readonly code: number } | { readonly signal: Signal }): void {
    if (!process.isAlive) return;
    process.host.alive = false;
    this.processes.delete(process.pid);
    this.observer?.ended(process);
    for (const other of this.processes.values()) if (other.parent === process.pid) other.parent = 1;
    for (const descriptor of [...process.files.keys()]) process.close(descriptor);
    for (const end of process.ended) end();
    process.child?.exited('code' in how ? how.code : null, 'signal' in how ? how.signal : null);
  }

  /** @throws ESRCH */
  signal(pid: number, signal: Signal): boolean {
    const process = this.processes.get(pid);
    if (process === undefined) return false;
    for (const ask of process.asked) ask();
    if (signal === 'SIGTERM' && process.signals.listenerCount('SIGTERM') > 0)
      this.time.hosts.run(process.host, () =>
        this.time.after(
          1,
          this.time.asHost(() => process.signals.emit('SIGTERM')),
        ),
      );
    else this.end(process, { signal });
    return true;
  }

  /** The power is cut. */
  losePower(): void {
    for (const process of [...this.processes.values()]) this.end(process, { signal: 'SIGKILL' });
    this.disk.losePower(this.random);
    this.observer?.powerLost();
    this.trap = undefined;
  }

  /** A system call of a process begins. @throws Ended */
  called(process: Process, isChange: boolean): void {
    if (!process.isAlive) throw new Ended();
    const { trap } = this;
    if (trap === undefined || !isChange) return;
    trap.left--;
    if (trap.left >= 0) return;
    this.trap = undefined;
    trap.spring(process);
    if (!process.isAlive) throw new Ended();
  }

  released(file: OpenFile): void {
    file.references--;
    const lock = this.#locks.get(file.entry);
    if (file.references > 0 || lock?.holder !== file) return;
    lock.holder = undefined;
    for (const retry of lock.waiting.splice(0)) retry();
  }

  /** flock(1) on a descriptor that it inherited: exits with 0 once it has the lock, else with 1. */
  flock(process: Process): void {
    const file = process.files.get(3)!;
    const wait = process.args.indexOf('--wait');
    const lock: Lock = this.#locks.get(file.entry) ?? { holder: undefined, waiting: [] };
    this.#locks.set(file.entry, lock);
    const take = (): void => {
      if (!process.isAlive) return;
      if (lock.holder !== undefined && lock.holder !== file) {
        lock.waiting.push(() => this.time.after(1, take));
        return;
      }
      lock.holder = file;
      process.exit(0);
    };
    take();
    if (!process.isAlive) return;
    if (wait < 0) process.exit(1);
    else this.time.after(Number(process.args[wait + 1]) * 1000, () => process.exit(1));
  }

  watch(folder: string, ring: () => void): () => void {
    const within = this.time.asHost(ring);
    let isRinging = false;
    const changed = (): void => {
      if (isRinging) return;
      isRinging = true;
      this.time.after(1, () => {
        isRinging = false;
        within();
      });
    };
    const all = this.#watchers.get(folder) ?? new Set();
    this.#watchers.set(folder, all.add(changed));
    return () => {
      all.delete(changed);
      if (all.size === 0) this.#watchers.delete(folder);
    };
  }

  changed(folder: string): void {
    for (const ring of this.#watchers.get(folder) ?? []) ring();
  }
}

interface SpawnOptions {
  readonly detached?: boolean;
  readonly argv0?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdio?: unknown;
}

const PROCESSES = new WeakMap<Host, Process>();

/** The process of a simulated machine that is this host. */
export const processOf = (host: Host | undefined): Process | undefined =>
  host === undefined ? undefined : PROCESSES.get(host);
