import type { TemporalAccess } from './dependencies.js';
import { asProblem, problem } from './problem.js';
import { callTemporal } from './temporal-calls.js';

interface FailingTask {
  readonly attempt: number;
  /** Of the first attempt: Temporal records no later one. */
  readonly message: string;
}

/** Enough to find the last failure: attempts after the first leave no event. */
const EVENTS = 20;

/**
 * An open run without an answer, as what it is: when its workflow task fails again and again, workers are there, but none can
 * continue it, and neither cancel nor stop reaches it.
 *
 * @returns the error to throw
 */
export async function explainSilence(
  temporal: TemporalAccess,
  run: { readonly id: string; readonly workflowId: string; readonly temporalRunId: string | null },
  error: unknown,
): Promise<unknown> {
  if (asProblem(error).code !== 'worker-unavailable') return error;
  const task = await callTemporal(temporal, () => failingTask(temporal, run)).catch(() => null);
  if (task === null) return error;
  return problem(
    'workflow-task-failing',
    `no worker can continue run ${run.id}: its workflow task has failed ${task.attempt - 1} times. Temporal says: ${task.message}`,
    {
      hint: `Start a worker of a version that can (docs/troubleshooting.md, "A run that does not continue"). Or end the run, which aborts nothing in MAAS: temporal workflow terminate --workflow-id '${run.workflowId}'`,
    },
  );
}

async function failingTask(
  { connection, namespace }: TemporalAccess,
  { workflowId, temporalRunId: runId }: { readonly workflowId: string; readonly temporalRunId: string | null },
): Promise<FailingTask | null> {
  const execution = { workflowId, runId: runId ?? '' };
  const { workflowService } = connection;
  const { pendingWorkflowTask } = await workflowService.describeWorkflowExecution({ namespace, execution });
  const attempt = pendingWorkflowTask?.attempt ?? 1;
  if (attempt < 2) return null;
  const { history } = await workflowService.getWorkflowExecutionHistoryReverse({
    namespace,
    execution,
    maximumPageSize: EVENTS,
  });
  const failed = history?.events?.find((event) => event.workflowTaskFailedEventAttributes);
  const failure = failed?.workflowTaskFailedEventAttributes?.failure;
  // A task that only timed out has no worker, or a slow one.
  return failure
    ? { attempt, message: (failure.cause?.message ?? failure.message ?? 'no reason').slice(0, 500) }
    : null;
}
