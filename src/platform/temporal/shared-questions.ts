import { setTimeout as delay } from 'node:timers/promises';

/** Between two questions to a run: thousands of tasks ask, and each question costs its worker milliseconds. */
const LONGEST_PAUSE_MS = 200;
/** Pause per time that an answer took. Tasks that follow each other hardly wait, and questions take a tenth of a worker's time. */
const PAUSE_PER_ANSWER = 9;

/** Asks about an execution of a workflow; null: the newest of the workflow. */
type Ask<T> = (workflowId: string, runId: string | null) => Promise<T>;

interface Question<T> {
  readonly answer: Promise<T>;
  /** Resolves when the next one may be asked. */
  readonly over: Promise<unknown>;
  next?: Promise<T>;
}

/**
 * One query per execution runs at a time; concurrent and later callers share the next one. An answer is always to a query
 * sent after the call.
 */
export function sharedQuestions<T>(ask: Ask<T>): Ask<T> {
  const asked = new Map<string, Question<T>>();

  function start(workflowId: string, runId: string | null): Promise<T> {
    const key = JSON.stringify([workflowId, runId]);
    const answer = ask(workflowId, runId);
    const question: Question<T> = { answer, over: pauseAfter(answer) };
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
