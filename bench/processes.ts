import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const WATCHDOG = join(ROOT, 'src/platform/processes/run-with-parent.ts');
const READY_LIMIT_MS = 120_000;

/** A program of ours in a process of its own, which ends with this one. */
export interface Program {
  /** The process that started it and ends with it. */
  readonly pid: number;
  log(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts a command, and resolves once it is ready.
 *
 * @param name of its log file in `folder`
 * @param isReady gets its log
 */
export async function startProgram(
  folder: string,
  name: string,
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  isReady: (log: string) => boolean | Promise<boolean>,
): Promise<Program> {
  const file = join(folder, `${name}.log`);
  const output = await open(file, 'w');
  const child = spawn(process.execPath, [WATCHDOG, '10000', ...command], {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? '', HOME: folder, NO_COLOR: '1', ...env },
    stdio: ['pipe', 'ignore', output.fd],
  });
  await output.close();
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  const program = {
    pid: child.pid!,
    log: () => readFile(file, 'utf8'),
    async stop() {
      child.stdin?.end();
      await ended;
    },
  };
  const deadline = performance.now() + READY_LIMIT_MS;
  while (!(await isReady(await program.log()))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await program.stop();
      throw new Error(`${name} is not ready:\n${(await program.log()).slice(-4_000)}`);
    }
    await delay(100);
  }
  return program;
}

/** Processor seconds since their start, and memory now, of processes and their descendants. */
export interface Usage {
  readonly seconds: number;
  /** Pages shared with other processes are divided among them. */
  readonly megabytes: number;
}

interface Stat {
  readonly parent: number;
  readonly ticks: number;
}

/** Of processes by name (Linux, 100 ticks a second). Children that have ended count with the parent that waited for them. */
export function usageOf<Name extends string>(roots: Readonly<Record<Name, readonly number[]>>): Record<Name, Usage> {
  const stats = new Map<number, Stat>();
  for (const entry of readdirSync('/proc')) {
    const stat = /^\d+$/.test(entry) ? readStat(Number(entry)) : undefined;
    if (stat !== undefined) stats.set(Number(entry), stat);
  }
  const isBelow = (pid: number, some: readonly number[]): boolean => {
    for (let at = pid; at > 1; at = stats.get(at)?.parent ?? 0) if (some.includes(at)) return true;
    return false;
  };
  const entries = Object.entries<readonly number[]>(roots).map(([name, some]) => {
    const pids = [...stats.keys()].filter((pid) => isBelow(pid, some));
    const seconds = pids.reduce((sum, pid) => sum + stats.get(pid)!.ticks, 0) / 100;
    return [name, { seconds, megabytes: Math.round(pids.reduce((sum, pid) => sum + megabytesOf(pid), 0)) }];
  });
  return Object.fromEntries(entries);
}

/** Processor seconds of one process alone. */
export const processorSeconds = (pid: number): number => sumOf(statFields(pid).slice(11, 13)) / 100;

/** Resident now (`VmRSS`), or the most since its start (`VmHWM`); 0 of a process that is gone. */
export function residentMegabytes(pid: number, which: 'VmRSS' | 'VmHWM'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Math.round(Number(new RegExp(`^${which}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) / 1024);
  } catch {
    return 0;
  }
}

function readStat(pid: number): Stat | undefined {
  try {
    const fields = statFields(pid);
    return { parent: Number(fields[1]), ticks: sumOf(fields.slice(11, 15)) };
  } catch {
    return undefined;
  }
}

/** Fields of /proc/PID/stat after the name, which may contain anything. */
function statFields(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

const sumOf = (fields: readonly string[]): number => fields.reduce((sum, field) => sum + Number(field), 0);

function megabytesOf(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
