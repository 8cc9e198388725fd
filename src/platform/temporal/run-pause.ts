import type { Client } from '@temporalio/client';
import { QUERIES } from '../../../workflows/protocol.js';
import type { Paused } from '../../core/run/index.js';

/** A worker answers in milliseconds; more than this means that none does. */
const LIMIT_MS = 10_000;

/** Says whether a run is paused, and by whom. Rejects if its workflow does not answer. */
export type PauseLookup = (workflowId: string, runId: string) => Promise<Paused | null>;

/**
 * Asks the workflows themselves: an answer covers every signal that the server had accepted before the question, also one
 * that no worker has processed yet. One question per run is under way at a time, as the server keeps few waiting; who asks
 * meanwhile shares the next one.
 */
export function pauseLookup(client: Client): PauseLookup {
  const asked = new Map<string, { readonly answer: Promise<Paused | null>; next?: Promise<Paused | null> }>();

  async function ask(workflowId: string, runId: string): Promise<Paused | null> {
    const handle = client.workflow.getHandle(workflowId, runId);
    const { paused } = await client.connection.withDeadline(Date.now() + LIMIT_MS, () =>
      handle.query<{ readonly paused: Paused | null }>(QUERIES.status),
    );
    return paused;
  }

  function start(workflowId: string, runId: string): Promise<Paused | null> {
    const question = { answer: ask(workflowId, runId) };
    asked.set(runId, question);
    const forget = (): void => {
      if (asked.get(runId) === question) asked.delete(runId);
    };
    question.answer.then(forget, forget);
    return question.answer;
  }

  return (workflowId, runId) => {
    const current = asked.get(runId);
    if (current === undefined) return start(workflowId, runId);
    current.next ??= current.answer.then(
      () => start(workflowId, runId),
      () => start(workflowId, runId),
    );
    return current.next;
  };
}
