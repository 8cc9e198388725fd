import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { deleteFolder, setAside, UnreadableFile } from '../../platform/files/durable-file.ts';
import { isRunning, readBootId } from '../../platform/processes/process-identity.ts';
import { measureOutput } from '../output/output-segments.ts';
import { contain, endAll } from '../supervision/containment.ts';
import { executionIn, executionMark } from './execution.ts';
import { Journal } from './journal.ts';
import { NodeLock } from './node-lock.ts';
import { describeFailure, type KillRecord, outcomeOf, type TaskFailure, type TaskResult } from './result.ts';

/** Settings of this machine on which agent and supervisor must agree. */
export interface Machine {
  readonly bootIdPath: string;
  /** The parent of the tasks' cgroups; false: identify processes by their marks. */
  readonly cgroupRoot: string | false;
  /** Folder in memory for data that must not be written to a disk. */
  readonly scratchRoot: string;
}

export const scratchFolder = (machine: Machine, folder: string): string =>
  join(machine.scratchRoot, `sitewright-${executionMark(folder)}`);

/** The result of an execution without data from a task's process. */
export function resultWithout(
  journal: Journal,
  bootId: string,
  failure: TaskFailure | null,
  rest: Partial<TaskResult> = {},
): TaskResult {
  const progress = journal.readProgress();
  const now = new Date().toISOString();
  return {
    v: 1,
    outcome: failure === null ? 'success' : outcomeOf(failure),
    failure,
    message: failure === null ? 'done' : describeFailure(failure).slice(0, 2000),
    changed: null,
    exitCode: null,
    signal: null,
    startedAt: progress?.startedAt ?? now,
    endedAt: now,
    bootId,
    tries: progress?.tries ?? [],
    killed: null,
    leftRunning: 0,
    summary: {},
    output: { stdout: measureOutput(journal.folder, 'stdout'), stderr: measureOutput(journal.folder, 'stderr') },
    ...rest,
  };
}

/**
 * Ends an execution whose supervisor has died: kills its processes and writes its result, which is `interrupted`, or
 * success if it was a reboot and the machine has restarted, or `unknown` if its journal is damaged; damaged files are set
 * aside. Safe to call concurrently, and for a healthy execution.
 * @returns its result; undefined while it is unclaimed or still supervised
 */
export async function settle(folder: string, machine: Machine): Promise<TaskResult | undefined> {
  if (!existsSync(folder)) return undefined;
  const journal = new Journal(folder);
  const damaged: UnreadableFile[] = [];
  const readable = <T>(read: () => T | undefined): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof UnreadableFile)) throw error;
      damaged.push(error);
      return undefined;
    }
  };
  const before = readable(() => journal.readResult());
  if (before !== undefined) return before;
  const claim = readable(() => journal.readClaim());
  const bootId = readBootId(machine.bootIdPath);
  if (claim === undefined && damaged.length === 0) return undefined;
  if (claim === undefined ? await holdsLock(folder) : isRunning(claim, bootId)) return undefined;
  const progress = journal.readProgress();
  // The supervisor may have ended since the first look.
  const since = damaged.length === 0 ? readable(() => journal.readResult()) : undefined;
  if (since !== undefined) return since;

  const rebooted = claim !== undefined && claim.bootId !== bootId;
  let killed: KillRecord | null = null;
  if (!rebooted) {
    const containment = contain(machine.cgroupRoot, executionMark(folder), progress?.sessions ?? [], claim?.reaper);
    killed = await endAll(containment, 0, 'interrupted');
    containment.close();
    if (killed.found === 0) killed = null;
  }
  deleteFolder(scratchFolder(machine, folder));
  const wanted = damaged.length === 0 && rebooted && progress?.rebootFrom === claim?.bootId;
  const failure = wanted ? null : damaged[0] === undefined ? lost(rebooted) : damagedJournal(folder, damaged);
  const rest = wanted
    ? { changed: true, message: 'the machine was restarted', summary: { bootIdBefore: claim?.bootId } }
    : {};
  const result = resultWithout(journal, bootId, failure, { killed, ...rest });
  try {
    for (const { path } of damaged) setAside(path);
    journal.writeResult(result);
    return journal.readResult();
  } catch {
    // The disk is full, or another process has set it aside. The state of the execution does not change.
    return result;
  }
}

const lost = (rebooted: boolean): TaskFailure => ({
  kind: 'interrupted',
  cause: rebooted ? 'reboot' : 'supervisor-lost',
});

const damagedJournal = (folder: string, damaged: readonly UnreadableFile[]): TaskFailure => ({
  kind: 'journal',
  execution: executionIn(folder),
  damage: damaged.map(({ path, why }) => `${basename(path)}: ${why}`).join('; '),
});

/** Whether a supervisor of this execution runs: it has the node's lock while it does. */
async function holdsLock(folder: string): Promise<boolean> {
  const lockFile = join(folder, '../../../../lock');
  if (!existsSync(lockFile)) return false;
  const answer = await NodeLock.acquire(lockFile, 0, new AbortController().signal).catch(() => undefined);
  if (answer?.kind === 'held') answer.lock.release();
  return answer?.kind === 'busy' && answer.holder === folder;
}
