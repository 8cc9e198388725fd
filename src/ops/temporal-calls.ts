import {
  isGrpcServiceError,
  NamespaceNotFoundError,
  QueryNotRegisteredError,
  QueryRejectedError,
  ServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ValueError } from '@temporalio/common';
import { reportOfRun } from '../core/next-steps.ts';
import type { TemporalAccess } from './dependencies.ts';
import { asProblem, problem } from './problem.ts';

/** gRPC's codes. */
const CANCELLED = 1;
const INVALID_ARGUMENT = 3;
const DEADLINE_EXCEEDED = 4;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const RESOURCE_EXHAUSTED = 8;
const FAILED_PRECONDITION = 9;
const UNAVAILABLE = 14;

/** A worker answers a query in milliseconds; a slower one is down or stuck. */
const USUAL_LIMIT_MS = 5_000;
const PROBE_LIMIT_MS = 3_000;
/** The client's pauses between its retries ignore the deadline. */
const GRACE_MS = 250;

/**
 * Calls Temporal with a time limit, and distinguishes: no server, a server without one of our workers, and everything
 * else.
 */
export const callTemporal = <T>(temporal: Reached, work: () => Promise<T>, limitMs?: number): Promise<T> =>
  calling(temporal, work, '', limitMs);

/** As `callTemporal`, for an operator's request. If the answer is lost, the error notes that it may have been executed. */
export const requestOfTemporal = <T>(temporal: Reached, work: () => Promise<T>, limitMs?: number): Promise<T> =>
  calling(temporal, work, `; ${MAY_HAVE_BEEN_TAKEN}`, limitMs);

const MAY_HAVE_BEEN_TAKEN =
  "the request may have been executed: check the run ('sitewright run list --open', 'sitewright run status RUN') before you repeat it";

type Reached = Pick<TemporalAccess, 'address' | 'connection' | 'namespace' | 'patience'>;

/** @param ifLost added to the message if the server may have done the work */
async function calling<T>(
  { address, connection, namespace, patience = 1 }: Reached,
  work: () => Promise<T>,
  ifLost: string,
  usualMs: number = USUAL_LIMIT_MS,
): Promise<T> {
  const limitMs = usualMs * patience;
  const unreachable = (why: string) =>
    problem('temporal-unreachable', `Temporal at ${address} ${why}`, {
      hint: "Start it ('sitewright up'), or correct temporal.address. 'sitewright doctor' checks it.",
    });
  try {
    return await within(limitMs + GRACE_MS, () => connection.withDeadline(Date.now() + limitMs, work));
  } catch (error) {
    if (error instanceof QueryNotRegisteredError || error instanceof QueryRejectedError) {
      throw problem('worker-unavailable', `the run did not answer: ${error.message}`, {
        hint: 'Is the worker of this version running? sitewright doctor',
      });
    }
    if (error instanceof ValueError) {
      throw problem('undecodable', `the answer from Temporal cannot be decoded: ${error.message}`, {
        hint: "Copy the worker's key file to this machine (temporal.encryption_key_file), then ask again.",
      });
    }
    if (error instanceof NamespaceNotFoundError) {
      throw problem('temporal-unreachable', `Temporal at ${address} has no namespace ${namespace}`, {
        hint: `temporal operator namespace create --namespace ${namespace}, or correct temporal.namespace.`,
      });
    }
    const code = isFullOfQueries(error) ? DEADLINE_EXCEEDED : grpcCode(error);
    if (code === UNAVAILABLE) throw unreachable(`cannot be reached${ifLost}`);
    if (code === RESOURCE_EXHAUSTED) throw unreachable('has no capacity at the moment');
    if (code === INVALID_ARGUMENT) {
      throw problem('invalid', `Temporal refused it: ${(error as Error).message}`, { hint: 'Correct the request.' });
    }
    // At the time limit, the server may be first and report that the call was cancelled.
    if (code === DEADLINE_EXCEEDED || code === CANCELLED || code === FAILED_PRECONDITION) {
      // A hanging server looks like a missing worker until the server itself is called.
      const answers = await connection
        .withDeadline(Date.now() + PROBE_LIMIT_MS, () => connection.workflowService.getSystemInfo({}))
        .catch(() => undefined);
      if (answers === undefined) throw unreachable(`does not answer${ifLost}`);
      throw noWorker(ifLost);
    }
    if (code === undefined || code === NOT_FOUND || code === ALREADY_EXISTS) throw error;
    throw unreachable(`failed: ${detailsOf(error)}${ifLost}`);
  }
}

export const noWorker = (more: string) =>
  problem(
    'worker-unavailable',
    `no worker answered for the run; the run is safe and continues when one is back${more}`,
    { hint: "Start a worker: 'sitewright worker'. 'sitewright doctor' checks it." },
  );

/** A worker polls every minute; Temporal lists a dead one for five. */
const POLLS_WITHIN_MS = 120_000;

/** Which workers ask for work of the installation's task queue. */
export async function pollsOf({ connection, namespace, taskQueue }: TemporalAccess) {
  const queue = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: 1,
  });
  const polls = (queue.pollers ?? []).map((one) => Number(one.lastAccessTime?.seconds ?? 0) * 1000);
  return {
    /** Milliseconds since 1970; null: none is known. */
    last: polls.length === 0 ? null : Math.max(...polls),
    /** Workers that are there, as far as Temporal knows. */
    recent: polls.filter((at) => Date.now() - at < POLLS_WITHIN_MS).length,
  };
}

/** Why a query of a run has no answer, if that is more specific than the error: one that has ended stays with the build that ended it. */
export function unanswered({ id, outcome }: { readonly id: string; readonly outcome: string | null }, error: unknown) {
  const isForgotten = error instanceof WorkflowNotFoundError;
  const isLeft = outcome !== null && asProblem(error).code === 'worker-unavailable';
  if (!isForgotten && !isLeft) return error;
  const message = isForgotten
    ? `Temporal no longer has a record of run ${id}`
    : `run ${id} has ended, and its version has no workers left`;
  return problem(isForgotten ? 'not-found' : 'worker-unavailable', message, {
    hint: `Its report is kept: ${reportOfRun(id)}`,
  });
}

class TimeLimitError extends Error {}

async function within<T>(limitMs: number, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimeLimitError()), limitMs);
  });
  try {
    return await Promise.race([work(), limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** The server buffers few queries of a run for a missing worker, then refuses more. */
const isFullOfQueries = (error: unknown): boolean =>
  grpcCode(error) === RESOURCE_EXHAUSTED && /query buffer/i.test(detailsOf(error));

function detailsOf(error: unknown): string {
  const inner = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(inner) ? inner.details : String(inner);
}

function grpcCode(error: unknown): number | undefined {
  if (error instanceof TimeLimitError) return DEADLINE_EXCEEDED;
  if (isGrpcServiceError(error)) return error.code;
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return DEADLINE_EXCEEDED;
  if (error instanceof ServiceError && isGrpcServiceError(error.cause)) return error.cause.code;
  return undefined;
}
