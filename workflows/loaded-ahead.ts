import type { WorkflowInternalsInterceptor } from '@temporalio/workflow';
import { failure } from './failures.js';
import { LOADED_AHEAD } from './protocol.js';

/** The id that the SDK gives a query that arrives without a workflow task. */
const QUERY_ALONE = 'legacy_query';

/**
 * Starts a run again from its history when its worker has executed a part of it for a query, ahead of a workflow task.
 *
 * A worker that does not keep a run reads its whole history to answer a query. If a task has just ended or a signal has just
 * arrived, and their workflow task has not started, the SDK's core executes them at the time of the workflow task before, and
 * keeps the run for the one to come. What the run then orders differs from what the history says, so that no worker could
 * replay it again. Seen with SDK 1.24 where more runs are looked at than a worker keeps, and when a worker starts.
 *
 * The workflow task fails once, and the server sends it again at once. The answer to the query is right, and a run that
 * only queries have loaded is left alone.
 */
export function startAgainWhenAhead(): WorkflowInternalsInterceptor {
  let last: string | undefined;
  let isAhead = false;
  let isForQuery = false;
  return {
    activate(input, next) {
      const { jobs, timestamp, isReplaying } = input.activation;
      if (jobs?.some(({ queryWorkflow }) => queryWorkflow)) {
        isForQuery ||= isAhead && jobs.some(({ queryWorkflow }) => queryWorkflow?.queryId === QUERY_ALONE);
      } else {
        // Not sooner: what is executed ahead looks like a workflow task, and one refused by mistake would be refused for ever.
        if (isForQuery) throw failure('LoadedAhead', LOADED_AHEAD);
        const now = `${timestamp?.seconds}.${timestamp?.nanos}`;
        isAhead = !isReplaying && now === last;
        last = now;
      }
      next(input);
    },
  };
}
