import { isGrpcServiceError, QueryNotRegisteredError, QueryRejectedError, ServiceError } from '@temporalio/client';
import { problem } from './problem.js';

/** gRPC's codes for "nobody is there" and "nobody answered in time". */
const UNAVAILABLE = 14;
const DEADLINE_EXCEEDED = 4;
const FAILED_PRECONDITION = 9;

/** Calls Temporal and tells apart: no server, a server without a worker of ours, and everything else. */
export async function callTemporal<T>(address: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof QueryNotRegisteredError || error instanceof QueryRejectedError) {
      throw problem('worker-unavailable', `the run did not answer: ${error.message}`, {
        hint: 'Is the worker of this version running? sitewright doctor',
      });
    }
    const code = grpcCode(error);
    if (code === UNAVAILABLE) {
      throw problem('temporal-unreachable', `Temporal at ${address} cannot be reached`, {
        hint: "Start it ('sitewright up'), or correct temporal.address. 'sitewright doctor' checks it.",
      });
    }
    if (code === DEADLINE_EXCEEDED || code === FAILED_PRECONDITION) {
      throw problem(
        'worker-unavailable',
        'no worker answered for the run; the run itself is safe and goes on when one is back',
        { hint: "Start a worker: 'sitewright worker'. 'sitewright doctor' checks it." },
      );
    }
    throw error;
  }
}

function grpcCode(error: unknown): number | undefined {
  if (isGrpcServiceError(error)) return error.code;
  if (error instanceof ServiceError && isGrpcServiceError(error.cause)) return error.cause.code;
  return undefined;
}
