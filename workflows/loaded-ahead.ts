import type { WorkflowInternalsInterceptor } from '@temporalio/workflow';
import { failure } from './failures.ts';
import { LOADED_AHEAD } from './protocol.ts';

/** The id that the SDK gives a query that arrives without a workflow task. */
const QUERY_ALONE = 'legacy_query';

/**
 * Refuses a query for which the worker may have executed a part of the run ahead of its workflow task; the worker then drops the
 * run and reads it again.
 *
 * A query waits for a worker like a workflow task. If a task ends or a signal arrives meanwhile, the SDK's core executes them for
 * the query, and reports the resulting commands of the run with the next workflow task. Decisions by time then differ from what a replay
 * decides at the time of the history, so that no worker could replay the run again. Seen with SDK 1.24 where more runs are looked
 * at than a worker keeps, and when a worker starts or stops. Core executes them at the time of
 * - the workflow task before, if the next one has not started;
 * - the next one, if that has started. It may be lost, with the worker that it was given to, and tried again later. The same is seen
 *   where a worker has read a run for a workflow task of its own: the first query after it is refused for nothing.
 *
 * The query fails once: asked again, it waits for the workflow task. Nothing but a query is refused, unless the run is still
 * there afterwards: a workflow task refused by mistake would be refused for ever.
 */
export function refuseQueriesAhead(): WorkflowInternalsInterceptor {
  let last: string | undefined;
  let wasReplaying = false;
  let isAhead = false;
  let isRefused = false;
  return {
    activate(input, next) {
      const { jobs, timestamp, isReplaying } = input.activation;
      if (jobs?.some(({ queryWorkflow }) => queryWorkflow)) {
        isRefused ||= isAhead && jobs.some(({ queryWorkflow }) => queryWorkflow?.queryId === QUERY_ALONE);
      } else {
        const now = `${timestamp?.seconds}.${timestamp?.nanos}`;
        isAhead = !isReplaying && (wasReplaying || now === last);
        wasReplaying = isReplaying === true;
        last = now;
      }
      if (isRefused) throw failure('LoadedAhead', LOADED_AHEAD);
      next(input);
    },
  };
}
