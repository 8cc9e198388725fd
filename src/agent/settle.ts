import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { contain, endAll } from './containment.js';
import { executionMark } from './execution.js';
import { Journal } from './journal.js';
import { measureOutput } from './output-segments.js';
import { isRunning, readBootId } from './process-identity.js';
import { describeFailure, type KillRecord, outcomeOf, type TaskFailure, type TaskResult } from './result.js';

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
    outcome: failure === null ? 'ok' : outcomeOf(failure),
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
 * Ends an execution whose supervisor is gone: kills its processes and writes its result, which is `interrupted`, or
 * success if it was a reboot and the machine has restarted. Safe to call concurrently, and for a healthy execution.
 * @returns its result; undefined while it is unclaimed or still supervised
 */
export async function settle(folder: string, machine: Machine): Promise<TaskResult | undefined> {
  if (!existsSync(folder)) return undefined;
  const journal = new Journal(folder);
  const claim = journal.readClaim();
  const bootId = readBootId(machine.bootIdPath);
  if (claim === undefined || isRunning(claim, bootId)) return journal.readResult();
  const progress = journal.readProgress();
  const before = journal.readResult();
  if (before !== undefined) return before;

  const rebooted = claim.bootId !== bootId;
  let killed: KillRecord | null = null;
  if (!rebooted) {
    const containment = contain(machine.cgroupRoot, executionMark(folder), progress?.sessions ?? [], claim.reaper);
    killed = await endAll(containment, 0, 'interrupted');
    containment.close();
    if (killed.found === 0) killed = null;
  }
  rmSync(scratchFolder(machine, folder), { recursive: true, force: true });
  const wanted = rebooted && progress?.rebootFrom === claim.bootId;
  const failure: TaskFailure | null = wanted
    ? null
    : { kind: 'interrupted', cause: rebooted ? 'reboot' : 'supervisor-lost' };
  const rest = wanted
    ? { changed: true, message: 'the machine was restarted', summary: { bootIdBefore: claim.bootId } }
    : {};
  journal.writeResult(resultWithout(journal, bootId, failure, { killed, ...rest }));
  return journal.readResult();
}
