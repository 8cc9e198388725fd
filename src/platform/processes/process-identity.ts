import { readFileSync } from 'node:fs';

export const BOOT_ID_PATH = '/proc/sys/kernel/random/boot_id';

/** Identifies a process within this boot, even if its number is reused. */
export interface ProcessMoment {
  readonly pid: number;
  /** Clock ticks since boot, as the kernel counts them. */
  readonly startTime: string;
}

/** Identifies a process across boots. */
export interface ProcessIdentity extends ProcessMoment {
  readonly bootId: string;
}

export interface ProcessState {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  readonly startTime: string;
  /** One letter, as in ps: `Z` is a zombie. */
  readonly state: string;
}

export const readBootId = (path: string = BOOT_ID_PATH): string => readFileSync(path, 'utf8').trim();

/** The kernel's data on a process; undefined if it does not exist. */
export function readProcess(pid: number): ProcessState | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name, in parentheses, may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    state: fields[0]!,
    parent: Number(fields[1]),
    session: Number(fields[3]),
    startTime: fields[19]!,
  };
}

export function ownIdentity(bootIdPath?: string): ProcessIdentity {
  return { pid: process.pid, startTime: readProcess(process.pid)!.startTime, bootId: readBootId(bootIdPath) };
}

export function isRunning(identity: ProcessIdentity, bootId: string): boolean {
  if (identity.bootId !== bootId) return false;
  const found = readProcess(identity.pid);
  return found !== undefined && found.startTime === identity.startTime && found.state !== 'Z' && found.state !== 'X';
}
