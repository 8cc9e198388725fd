import {
  MaasConfigurationError,
  MaasError,
  type MachineFailure,
  type MachineOutcome,
  retryAfterSeconds,
} from '@sitewright/maas';
import { ApplicationFailure } from '@temporalio/activity';
import type { NodeResult } from '../src/core/deployment/baremetal.ts';
import { pascalCase } from '../src/core/text/casing.ts';
import { StoreError } from '../src/store/index.ts';

/** Transient store failures. All others need a person and fail the activity without a retry. */
const TRANSIENT_STORE_FAILURES = new Set(['unreachable', 'busy', 'full', 'read-only', 'closed', 'schema-behind']);

/**
 * The failure that Temporal records when a service is unavailable or refuses for good. Contains only message and kind:
 * a cause could put a header or an address with a password into the history.
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
      nonRetryable: !TRANSIENT_STORE_FAILURES.has(kind),
    });
  }
  return error;
}

/** Runs an activity's work and translates its errors for Temporal. */
export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asActivityFailure(error);
  }
}

/** Converts a machine's outcome for the workflow. */
export function asNodeResult(outcome: MachineOutcome): NodeResult {
  if (outcome.ok) {
    return {
      ok: true,
      system_id: outcome.machine.systemId,
      ...(outcome.machine.model !== '' && { model: outcome.machine.model }),
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

/** The failure's message with MAAS's log about it, short enough for a history of a thousand nodes. */
function withDetails(failure: MachineFailure): string {
  const events = failure.kind === 'deployment-failed' ? failure.events : [];
  return [failure.message, ...events.slice(0, 3)].join('; ').slice(0, 600);
}
