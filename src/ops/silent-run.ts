import { optionalTsToDate } from '@temporalio/common/lib/time.js';
import { WorkerVersions } from '../platform/temporal/worker-versions.ts';
import type { TemporalAccess } from './dependencies.ts';
import { asProblem, problem } from './problem.ts';
import { callTemporal, noWorker, pollsOf } from './temporal-calls.ts';

type SilenceReason =
  /** By Temporal itself, and not by `run pause`. */
  | { readonly kind: 'paused'; readonly by: string; readonly reason: string; readonly at: string | null }
  /** `message`: of the first attempt. Temporal records no later one. */
  | { readonly kind: 'failing'; readonly attempt: number; readonly message: string }
  /** `current`: another version, which gets the new runs. */
  | { readonly kind: 'no-worker-of-version'; readonly version: string; readonly current: string | null };

/** Enough to find the last failure: attempts after the first leave no event. */
const EVENTS = 20;

/**
 * Why an open run does not answer. When its workflow task fails repeatedly, workers are running, but none can continue it,
 * and neither cancel nor stop reaches it. When the version that started it has no worker, others do not help.
 *
 * @returns the error to throw
 */
export async function explainSilence(
  temporal: TemporalAccess,
  run: { readonly id: string; readonly workflowId: string; readonly temporalRunId: string | null },
  error: unknown,
): Promise<unknown> {
  if (asProblem(error).code !== 'worker-unavailable') return error;
  const found = await callTemporal(temporal, () => reasonOf(temporal, run)).catch(() => null);
  if (found === null) return error;
  if (found.kind === 'paused') {
    const { by, reason, at } = found;
    const details = [at && `at ${at}`, by && `by ${by}`, reason && `(${reason})`].filter(Boolean).join(' ');
    return problem(
      'paused-in-temporal',
      `the workflow of run ${run.id} was paused in Temporal${details && ` ${details}`}: tasks that are running finish, the run starts nothing new and takes only requests to resume, to stop and to cancel`,
      { hint: resumeHint(run) },
    );
  }
  if (found.kind === 'no-worker-of-version') {
    const { version, current } = found;
    const others = current === null ? '' : `; new runs go to ${current}`;
    const move = current === null ? '' : `, or move its runs there: sitewright worker drain ${version} --move`;
    return problem(
      'worker-unavailable',
      `run ${run.id} needs a worker of version ${version}, and none is running${others}. The run is safe and continues when one is back`,
      { hint: `Start a worker of that version${move}` },
    );
  }
  return problem(
    'workflow-task-failing',
    `no worker can continue run ${run.id}: its workflow task has failed ${found.attempt - 1} times. Temporal reports: ${found.message}`,
    {
      hint: `Start a worker of a version that can (docs/reference/troubleshooting.md, "A run that does not continue"). Or end the run, which aborts nothing in MAAS: temporal workflow terminate --workflow-id '${run.workflowId}'`,
    },
  );
}

/** How a person has Temporal go on. */
const resumeHint = ({ id, workflowId }: { readonly id: string; readonly workflowId: string }): string =>
  `Resume it: sitewright run resume ${id}. Or with Temporal's CLI: temporal workflow unpause --workflow-id '${workflowId}'`;

/** A run that has shown nothing new for so long waits for something; or it has no worker. */
const QUIET_MS = 60_000;

/**
 * Why an open run does not continue, and what to do, as a warning for its status; null: a worker looks after it, as far as Temporal
 * tells.
 *
 * @param run with the time of its last status
 */
export async function whyUnattended(
  temporal: TemporalAccess,
  run: Parameters<typeof explainSilence>[1] & { readonly statusAt: string | null },
  execution: { readonly isOverdue: boolean; readonly isPaused: boolean } | undefined,
): Promise<string | null> {
  const isQuiet = run.statusAt !== null && Date.now() - Date.parse(run.statusAt) > QUIET_MS;
  if (!execution?.isPaused && !execution?.isOverdue && !(isQuiet && (await isWithoutWorker(temporal)))) return null;
  const { message, hint } = asProblem(await explainSilence(temporal, run, noWorker('')));
  return hint === undefined ? message : `${message}. ${hint}`;
}

const isWithoutWorker = (temporal: TemporalAccess): Promise<boolean> =>
  callTemporal(temporal, () => pollsOf(temporal)).then(
    ({ recent }) => recent === 0,
    () => false,
  );

async function reasonOf(
  { client, connection, namespace, taskQueue }: TemporalAccess,
  { workflowId, temporalRunId: runId }: { readonly workflowId: string; readonly temporalRunId: string | null },
): Promise<SilenceReason | null> {
  const execution = { workflowId, runId: runId ?? '' };
  const { workflowService } = connection;
  const described = await workflowService.describeWorkflowExecution({ namespace, execution });
  const pause = described.workflowExtendedInfo?.pauseInfo;
  if (pause) {
    const at = optionalTsToDate(pause.pausedTime)?.toISOString() ?? null;
    return { kind: 'paused', by: pause.identity ?? '', reason: pause.reason ?? '', at };
  }
  const attempt = described.pendingWorkflowTask?.attempt ?? 1;
  if (attempt > 1) {
    const request = { namespace, execution, maximumPageSize: EVENTS };
    const { history } = await workflowService.getWorkflowExecutionHistoryReverse(request);
    const failed = history?.events?.find((event) => event.workflowTaskFailedEventAttributes);
    const failure = failed?.workflowTaskFailedEventAttributes?.failure;
    // A task that only timed out has no worker, or a slow one.
    const message = failure?.cause?.message ?? failure?.message;
    if (message) return { kind: 'failing', attempt, message: message.slice(0, 500) };
  }
  const version = described.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
  if (!version) return null;
  const deployment = await new WorkerVersions(client, taskQueue).look();
  const own = deployment?.versions.find((one) => one.version === version);
  if (own !== undefined && own.workers.length > 0) return null;
  const current = deployment?.current ?? null;
  return { kind: 'no-worker-of-version', version, current: current === version ? null : current };
}
