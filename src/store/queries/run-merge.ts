import { InputCheck, storable } from '../input.js';
import type { RunNodeWrite, RunWrite } from '../ports/run-store.js';
import type { RunNodeRow, RunRow } from '../tables.js';

/**
 * What a run's row becomes when a write arrives: the rules of RunWrite. Pure, so that the same write applied twice, or
 * late, can be reasoned about. Answers the stored row itself when nothing changes.
 */
export function mergeRun(stored: RunRow | undefined, write: RunRow, given: RunWrite): RunRow {
  if (stored === undefined) return write;
  const merged: RunRow = {
    ...stored,
    temporalRunId: stored.temporalRunId ?? write.temporalRunId,
    site: stored.site ?? write.site,
    startedBy: stored.startedBy ?? write.startedBy,
    reason: stored.reason ?? write.reason,
    title: stored.title ?? write.title,
    labels: stored.labels ?? write.labels,
    parameters: stored.parameters ?? write.parameters,
    revision: stored.revision ?? write.revision,
  };
  if (write.sequence > stored.sequence) {
    merged.sequence = write.sequence;
    merged.phase = write.phase;
    if (given.outcome !== undefined) merged.outcome = write.outcome;
    if (given.endedAt !== undefined) merged.endedAt = write.endedAt;
    if (given.failedNodes !== undefined) merged.failedNodes = write.failedNodes;
  }
  return sameRow(stored, merged) ? stored : merged;
}

/** The same for a node of a run. */
export function mergeRunNode(stored: RunNodeRow | undefined, write: RunNodeRow, given: RunNodeWrite): RunNodeRow {
  if (stored === undefined) return write;
  const merged: RunNodeRow = {
    ...stored,
    systemId: stored.systemId ?? write.systemId,
    lateResult: stored.lateResult ?? write.lateResult,
  };
  if (write.sequence > stored.sequence) {
    merged.sequence = write.sequence;
    merged.state = write.state;
    if (given.group !== undefined) merged.group = write.group;
    if (given.step !== undefined) merged.step = write.step;
    if (given.attempts !== undefined) merged.attempts = write.attempts;
    if (given.startedAt !== undefined) merged.startedAt = write.startedAt;
    if (given.endedAt !== undefined) merged.endedAt = write.endedAt;
    if (given.reason !== undefined) merged.reason = write.reason;
  }
  return sameRow(stored, merged) ? stored : merged;
}

const sameRow = <T extends object>(one: T, other: T): boolean =>
  (Object.keys(other) as (keyof T)[]).every((key) => one[key] === other[key]);

type Absent = null | undefined;
const textOf = (value: string | Absent): string | null => (value == null ? null : storable(value));

/** Checks a write and makes the row it would be alone. @throws StoreError of kind `invalid` */
export function runRowOf(write: RunWrite): RunRow {
  const check = new InputCheck();
  const keyOf = (path: string, value: string | Absent) => (value == null ? null : check.key(path, value));
  const countOf = (path: string, value: number | Absent) => (value == null ? null : check.count(path, value));
  const row: RunRow = {
    id: check.key('id', write.id),
    sequence: check.count('sequence', write.sequence),
    workflowId: check.key('workflowId', write.workflowId),
    temporalRunId: keyOf('temporalRunId', write.temporalRunId),
    kind: check.key('kind', write.kind),
    site: keyOf('site', write.site),
    revision: countOf('revision', write.revision),
    title: textOf(write.title),
    labels: write.labels === undefined ? null : check.json('labels', write.labels),
    parameters: write.parameters === undefined ? null : check.json('parameters', write.parameters),
    phase: check.key('phase', write.phase),
    outcome: keyOf('outcome', write.outcome),
    startedBy: textOf(write.startedBy),
    reason: textOf(write.reason),
    startedAt: check.time('startedAt', write.startedAt),
    endedAt: write.endedAt == null ? null : check.time('endedAt', write.endedAt),
    failedNodes: countOf('failedNodes', write.failedNodes),
  };
  check.done();
  return row;
}

/** The same for the nodes of a run, with all that is wrong with any of them. */
export function runNodeRowsOf(runId: string, writes: readonly RunNodeWrite[]): RunNodeRow[] {
  const check = new InputCheck();
  const rows = writes.map((write, index): RunNodeRow => {
    const at = `nodes[${index}].`;
    const timeOf = (path: string, value: string | Absent) => (value == null ? null : check.time(at + path, value));
    return {
      runId,
      node: check.key(`${at}node`, write.node),
      sequence: check.count(`${at}sequence`, write.sequence),
      state: check.key(`${at}state`, write.state),
      group: textOf(write.group),
      step: textOf(write.step),
      attempts: write.attempts == null ? null : check.count(`${at}attempts`, write.attempts),
      startedAt: timeOf('startedAt', write.startedAt),
      endedAt: timeOf('endedAt', write.endedAt),
      reason: textOf(write.reason),
      systemId: textOf(write.systemId),
      lateResult: write.lateResult == null ? null : check.json(`${at}lateResult`, write.lateResult),
    };
  });
  check.done();
  return rows;
}
