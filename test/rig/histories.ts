import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { temporal } from '@temporalio/proto';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { expect, inject } from 'vitest';

const folder = new URL('../replay/histories/', import.meta.url);
/** Stack traces carry paths, identities the host: neither belongs in a file for others. */
const root = fileURLToPath(new URL('../../', import.meta.url));

/** Steps that the Web UI would show without a summary: activities, timers, children. */
function withoutSummary({ events }: temporal.api.history.v1.IHistory): string[] {
  return (events ?? []).flatMap((event) => {
    const what =
      event.activityTaskScheduledEventAttributes?.activityType?.name ??
      event.startChildWorkflowExecutionInitiatedEventAttributes?.workflowType?.name ??
      (event.timerStartedEventAttributes && 'timer');
    return what && !event.userMetadata?.summary ? [what] : [];
  });
}

/**
 * Fetches a run's history, and checks that each of its steps has a summary; with RECORD_HISTORIES=<version> also keeps it as
 * `<workflow>--<situation>--v<version>.json` for the replay test. Overwrites one of the same version: until that version is
 * released, it promises nothing. Then `npm run release` refuses a history that has changed.
 */
export async function recordHistory(
  handle: Pick<WorkflowHandle, 'fetchHistory'>,
  name: string,
): Promise<temporal.api.history.v1.IHistory> {
  const history = await handle.fetchHistory();
  expect(withoutSummary(history)).toEqual([]);
  const version = process.env.RECORD_HISTORIES;
  if (version) {
    mkdirSync(folder, { recursive: true });
    const text = JSON.stringify(JSON.parse(historyToJSON(history)))
      .replaceAll(root, '')
      .replaceAll(/"\d+@[^"-]+/g, '"worker@host');
    writeFileSync(new URL(`${name}--v${version}.json`, folder), `${text}\n`);
  }
  return history;
}

type Histories = readonly { readonly workflowId: string; readonly history: temporal.api.history.v1.IHistory }[];

/** Replays the histories of runs with the current code. */
export async function expectReplay(histories: Histories): Promise<void> {
  expect(await replayErrors(histories)).toEqual(histories.map(() => undefined));
}

/** Of a replay, by history; undefined: it was replayed as it was recorded. */
export async function replayErrors(
  histories: Histories,
  workflowBundle: WorkerOptions['workflowBundle'] = { codePath: inject('workflowBundlePath') },
): Promise<readonly (Error | undefined)[]> {
  const errors = [];
  for await (const { error } of Worker.runReplayHistories({ workflowBundle }, histories)) errors.push(error);
  return errors;
}

const TRIES = 5;

/**
 * The error of the first try whose history is not replayed as it was recorded. What leads to it is a matter of moments, which a busy
 * machine misses.
 */
export async function inSomeTry(replay: () => Promise<readonly (Error | undefined)[]>): Promise<string> {
  for (let tries = 0; tries < TRIES; tries++) {
    const [error] = await replay();
    if (error !== undefined) return error.message;
  }
  return `none in ${TRIES} tries`;
}
