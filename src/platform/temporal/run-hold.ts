import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { QUERIES } from '../../../workflows/protocol.js';
import type { Paused } from '../../core/run/index.js';

/** A worker answers in milliseconds; more than this means that none does. */
const LIMIT_MS = 10_000;

/** Between two questions to a run: thousands of tasks ask, and each question costs its worker milliseconds. */
const LONGEST_PAUSE_MS = 200;
/** Pause per time that an answer took. Tasks that follow each other hardly wait, and questions take a tenth of a worker's time. */
const PAUSE_PER_ANSWER = 9;

/** What keeps a run from starting anything new. */
interface RunHold {
  readonly paused: Paused | null;
  /** It ends: nothing starts any more. */
  readonly stopping: boolean;
}

/**
 * Asks a run whether it starts anything new. Rejects if its workflow does not answer.
 *
 * @param runId null: of the newest execution of the workflow
 */
export type HoldLookup = (workflowId: string, runId: string | null) => Promise<RunHold>;

interface Question {
  readonly answer: Promise<RunHold>;
  /** Resolves when the next one may be asked. */
  readonly over: Promise<unknown>;
  next?: Promise<RunHold>;
}

/**
 * Asks the workflows themselves: an answer covers every signal that the server had accepted before the question, also one
 * that no worker has processed yet. One question per run is under way at a time, as the server keeps few waiting; who asks
 * meanwhile, or soon after, shares the next one.
 */
export function holdLookup(client: Client): HoldLookup {
  const asked = new Map<string, Question>();

  async function ask(workflowId: string, runId: string | null): Promise<RunHold> {
    const handle = client.workflow.getHandle(workflowId, runId ?? undefined);
    const { paused, stopping } = await client.connection.withDeadline(Date.now() + LIMIT_MS, () =>
      handle.query<RunHold>(QUERIES.status),
    );
    return { paused, stopping };
  }

  function start(workflowId: string, runId: string | null): Promise<RunHold> {
    const key = JSON.stringify([workflowId, runId]);
    const answer = ask(workflowId, runId);
    const question: Question = { answer, over: pauseAfter(answer) };
    asked.set(key, question);
    void question.over.then(() => {
      if (asked.get(key) === question) asked.delete(key);
    });
    return answer;
  }

  return (workflowId, runId) => {
    const current = asked.get(JSON.stringify([workflowId, runId]));
    if (current === undefined) return start(workflowId, runId);
    current.next ??= current.over.then(() => start(workflowId, runId));
    return current.next;
  };
}

async function pauseAfter(answer: Promise<unknown>): Promise<void> {
  const asked = performance.now();
  await answer.catch(() => undefined);
  await delay(Math.min(LONGEST_PAUSE_MS, PAUSE_PER_ANSWER * (performance.now() - asked)));
}
