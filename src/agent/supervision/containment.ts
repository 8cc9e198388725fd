import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type ProcessMoment, type ProcessState, readProcess } from '../../platform/processes/process-identity.ts';
import type { KillRecord } from '../journal/result.ts';
import { Cgroup, removeEmptyGroup } from './cgroup.ts';

/** Environment variable that marks a task's processes, to find them without a cgroup. */
export const MARK_VARIABLE = 'SITEWRIGHT_EXECUTION';

const POLL_MS = 20;
/** How long SIGKILL may take: a process in uninterruptible sleep outlives it. */
const KILL_WAIT_MS = 5000;

/** All processes that a task started, including detached ones. */
export interface Containment {
  readonly means: KillRecord['means'];
  /** Starts something inside. */
  run<T>(start: () => T): T;
  /** Records the session of a process started inside. */
  adopt(pid: number): void;
  members(): number[];
  kill(): void;
  /** Releases the containment's own resources. */
  close(): void;
}

/**
 * Contains by cgroup where the machine allows it. Elsewhere it looks at every process: those of the task's sessions,
 * their descendants, those with the task's mark in their environment, and those reparented to the supervisor's reaper.
 */
export function contain(
  cgroupRoot: string | false,
  mark: string,
  sessions: Iterable<number> = [],
  reaper?: ProcessMoment,
): Containment {
  const group = cgroupRoot === false ? undefined : Cgroup.open(cgroupRoot, `sitewright-${mark}`);
  if (group === undefined) return new ProcessWalk(mark, sessions, reaper);
  return {
    means: 'cgroup',
    run: (start) => group.run(start),
    adopt: () => undefined,
    members: () => group.members(),
    kill: () => group.kill(),
    close: () => group.remove(),
  };
}

/** Releases resources that an ended execution could not, because daemons of its task were still running. */
export function releaseContainment(cgroupRoot: string | false, mark: string): void {
  if (cgroupRoot !== false) removeEmptyGroup(join(cgroupRoot, `sitewright-${mark}`));
}

class ProcessWalk implements Containment {
  readonly means = 'process-walk';
  readonly #mark: Buffer;
  readonly #sessions: Set<number>;
  readonly #reaper: ProcessMoment | undefined;

  constructor(mark: string, sessions: Iterable<number>, reaper: ProcessMoment | undefined) {
    this.#mark = Buffer.from(`${MARK_VARIABLE}=${mark}\0`);
    this.#sessions = new Set(sessions);
    this.#reaper = reaper;
  }

  run<T>(start: () => T): T {
    return start();
  }

  adopt(pid: number): void {
    this.#sessions.add(pid);
  }

  members(): number[] {
    const all = new Map<number, ProcessState>();
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
      const found = readProcess(Number(name));
      if (found !== undefined && found.state !== 'Z' && found.state !== 'X') all.set(found.pid, found);
    }
    const known = new Map<number, boolean>();
    const isOurs = (pid: number): boolean => {
      const found = all.get(pid);
      if (found === undefined) return false;
      const before = known.get(pid);
      if (before !== undefined) return before;
      known.set(pid, false);
      const ours =
        this.#sessions.has(found.session) || this.#isMarked(pid) || isOurs(found.parent) || this.#isLeft(found, all);
      known.set(pid, ours);
      return ours;
    };
    return [...all.keys()].filter(isOurs);
  }

  /** Descends from the reaper without belonging to it: supervisor and helpers share the reaper's session. */
  #isLeft(process: ProcessState, all: ReadonlyMap<number, ProcessState>): boolean {
    const reaper = this.#reaper;
    if (reaper === undefined || process.session === reaper.pid) return false;
    for (let at: ProcessState | undefined = process; at !== undefined; at = all.get(at.parent))
      if (at.pid === reaper.pid) return at.startTime === reaper.startTime;
    return false;
  }

  #isMarked(pid: number): boolean {
    try {
      return readFileSync(`/proc/${pid}/environ`).includes(this.#mark);
    } catch {
      return false;
    }
  }

  kill(): void {
    signalAll(this.members(), 'SIGKILL');
  }

  close(): void {}
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has already ended.
    }
  }
}

/** Its processes. Where no descriptor is free to look, it tries again for as long as a SIGKILL may take. */
export async function processesOf(containment: Containment): Promise<readonly number[]> {
  for (const end = performance.now() + KILL_WAIT_MS; ; ) {
    try {
      return containment.members();
    } catch (error) {
      if (performance.now() >= end) throw error;
    }
    await delay(POLL_MS);
  }
}

async function becomesEmpty(containment: Containment, withinMs: number, kills = false): Promise<boolean> {
  const end = performance.now() + withinMs;
  while ((await processesOf(containment)).length > 0) {
    if (performance.now() >= end) return false;
    if (kills) tryToKill(containment);
    await delay(POLL_MS);
  }
  return true;
}

function tryToKill(containment: Containment): void {
  try {
    containment.kill();
  } catch {
    // No descriptor is free to find them: the caller repeats it while there are any.
  }
}

/** Sends TERM to every process, and KILL to those left after the grace period; returns the signals sent. */
export async function endAll(
  containment: Containment,
  graceMs: number,
  cause: KillRecord['cause'],
): Promise<KillRecord> {
  const found = await processesOf(containment);
  const record = { cause, means: containment.means, found: found.length };
  if (found.length === 0) return { ...record, signal: null, survivors: 0 };
  if (graceMs > 0) {
    signalAll(found, 'SIGTERM');
    if (await becomesEmpty(containment, graceMs)) return { ...record, signal: 'SIGTERM', survivors: 0 };
  }
  await becomesEmpty(containment, KILL_WAIT_MS, true);
  return { ...record, signal: 'SIGKILL', survivors: (await processesOf(containment)).length };
}
