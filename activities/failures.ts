import { ApplicationFailure } from '@temporalio/activity';
import type { NodeResult } from '../src/core/deployment/index.js';
import { pascalCase } from '../src/core/pascal-case.js';
import {
  MaasConfigurationError,
  MaasError,
  type MachineFailure,
  type MachineOutcome,
  retryAfterSeconds,
} from '../src/maas/index.js';
import { StoreError } from '../src/store/index.js';

/** Store troubles that pass by themselves; all others need a person and end the activity for good. */
const PASSING_STORE_FAILURES = new Set(['unreachable', 'busy', 'full', 'read-only', 'closed', 'schema-behind']);

/**
 * What Temporal is told when a service was not there, or refuses for good. Only message and kind travel:
 * a cause could carry a header or an address with a password into the history.
 */
function asActivityFailure(error: unknown): unknown {
  if (error instanceof MaasError) {
    const after = retryAfterSeconds(error.failure);
    return ApplicationFailure.create({
      message: error.message,
      type: `Maas${pascalCase(error.failure.kind)}`,
      nonRetryable: !error.failure.retryable,
      ...(after === undefined ? {} : { nextRetryDelay: after * 1000 }),
    });
  }
  if (error instanceof MaasConfigurationError)
    return ApplicationFailure.nonRetryable(error.message, 'MaasNotConfigured');
  if (error instanceof StoreError) {
    const { kind, message, hint } = error.failure;
    return ApplicationFailure.create({
      message: `${message} (${hint})`,
      type: `Store${pascalCase(kind)}`,
      nonRetryable: !PASSING_STORE_FAILURES.has(kind),
    });
  }
  return error;
}

/** Runs an activity's work with its errors translated. */
export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asActivityFailure(error);
  }
}

/** A machine's outcome as the workflow needs it. */
export function asNodeResult(outcome: MachineOutcome): NodeResult {
  if (outcome.ok) {
    return {
      ok: true,
      system_id: outcome.machine.systemId,
      ...(outcome.warnings.length > 0 ? { warnings: outcome.warnings.map((warning) => warning.message) } : {}),
    };
  }
  const { failure, machine } = outcome;
  return {
    ok: false,
    ...(machine ? { system_id: machine.systemId } : {}),
    failure: { kind: failure.kind, message: withDetails(failure), hint: failure.hint },
  };
}

/** The failure's sentence with what MAAS logged about it; short enough for a history of a thousand nodes. */
function withDetails(failure: MachineFailure): string {
  const events = failure.kind === 'deployment-failed' ? failure.events : [];
  return [failure.message, ...events.slice(0, 3)].join('; ').slice(0, 600);
}
