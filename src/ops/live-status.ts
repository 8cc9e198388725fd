import { setTimeout as delay } from 'node:timers/promises';
import type { FoundExecution } from '../platform/temporal/is-run-open.ts';
import type { RunSummary } from '../store/index.ts';
import type { AnyRunStatus } from './workflow-calls.ts';

/** A run whose worker has processor to spare answers in a tenth of this. */
const PATIENCE_MS = 250;
const AGAIN_MS = 150;
/** An older answer is too far from the current state of the run. */
const OLDEST_MS = 10_000;

/** Answer of a run. */
interface Answer {
  readonly status: AnyRunStatus;
  readonly askedAt: number;
  readonly runId: string;
  /** Events of its history that the answer knows of, at least. */
  readonly events: number;
}

interface LiveStatusOptions {
  /** Asks the run's workflow. */
  readonly ask: (run: RunSummary, limitMs?: number) => Promise<AnyRunStatus>;
  readonly execution: (run: RunSummary) => Promise<FoundExecution | null>;
  /** Whether operators have requested anything of the execution since its history had so many events. */
  readonly requestedSince: (run: RunSummary, execution: FoundExecution, events: number) => Promise<boolean>;
}

/**
 * The statuses of open runs. Temporal answers a query with the next turn of the workflow, for which a busy run may need
 * seconds. Then its last answer will do, with its time, unless an operator has requested something since: no one sees the
 * state from before their own request.
 */
export function liveStatuses({ ask, execution, requestedSince }: LiveStatusOptions) {
  const answers = new Map<string, Answer>();

  const isRecent = ({ askedAt }: Answer): boolean => Date.now() - askedAt < OLDEST_MS;

  function keep(run: string, answer: Answer): void {
    for (const [other, kept] of answers) if (!isRecent(kept)) answers.delete(other);
    if ((answers.get(run)?.askedAt ?? 0) <= answer.askedAt) answers.set(run, answer);
  }

  /** The last answer, if it shows every request of an operator. */
  async function lastAnswer(run: RunSummary, now: FoundExecution): Promise<AnyRunStatus | undefined> {
    const last = answers.get(run.id);
    if (last === undefined || !isRecent(last) || last.runId !== now.runId || !now.isOpen) return undefined;
    if (await requestedSince(run, now, last.events)) return undefined;
    return { ...last.status, as_of: new Date(last.askedAt).toISOString() };
  }

  return {
    /** @param known the run's execution, looked up for this call */
    async of(
      run: RunSummary,
      { execution: known, limitMs }: { readonly execution?: FoundExecution | undefined; readonly limitMs?: number },
    ): Promise<AnyRunStatus> {
      const askedAt = Date.now();
      const answered = ask(run, limitMs).then((status) => {
        if (known !== undefined) keep(run.id, { status, askedAt, runId: known.runId, events: known.events });
        return status;
      });
      answered.catch(() => undefined);
      let now = known;
      for (let waitMs = PATIENCE_MS; answers.has(run.id); waitMs = AGAIN_MS, now = undefined) {
        const status = await Promise.race([answered, delay(waitMs, undefined, { ref: false })]);
        if (status !== undefined) return status;
        // The answer itself will have the error.
        now ??= (await execution(run).catch(() => null)) ?? undefined;
        if (now === undefined) break;
        // Messages that arrive during a workflow task reach the history after it.
        if (now.inTurn) continue;
        const last = await lastAnswer(run, now).catch(() => undefined);
        if (last === undefined) break;
        return last;
      }
      return answered;
    },
  };
}
