import { isMaasFailure } from './failure.js';
import type { Machine } from './machine.js';
import type { CommissionOptions } from './machine-calls.js';
import { holdOf } from './machine-hold.js';
import {
  commissioningFailed,
  type FailedScript,
  locked,
  type MachineFailure,
  type MachineOutcome,
  type MachineWarning,
  otherOwner,
  otherSite,
  releaseFailed,
  testingFailed,
  wrongState,
} from './machine-outcome.js';
import { carryOut, type MachineContext, type OperationOptions, type Progress, type Step } from './operation.js';
import { failedScripts } from './script-failures.js';
import { isMachineStatus, MachineStatus } from './status.js';

export interface PrepareRequest {
  readonly systemId: string;
  readonly site: string;
  readonly commission?: CommissionOptions;
  /**
   * When this wish began, ms since 1970, the same over repetitions of one activity. A commissioning
   * that started later and failed is then the result, also for a repetition after a crash; without it
   * such a repetition commissions once more.
   */
  readonly since?: number;
}

/** Who asks for a machine to be prepared, and what is known of its last commissioning. */
export interface PrepareClaim {
  readonly me: string;
  readonly site: string;
  /** The failed commissioning that was found belongs to this wish. */
  readonly failedForThisWish: boolean;
}

/**
 * Takes a machine to a state from which it can be deployed: commissions a new or failed one, releases
 * our failed deployment, waits for what is under way. A machine of ours that is in use is left as it is.
 */
export async function prepareMachine(
  context: MachineContext,
  request: PrepareRequest,
  options: OperationOptions = {},
): Promise<MachineOutcome> {
  const { client } = context;
  const { systemId, site } = request;
  const { signal } = options;
  const me = await client.username(signal);
  const failedForThisWish = await hasFailedSince(context, request, signal);
  const claim: PrepareClaim = { me, site, failedForThisWish };
  return carryOut(
    context,
    systemId,
    {
      decide: (machine, progress) => decidePrepare(machine, claim, progress),
      perform: (action) =>
        action === 'release'
          ? client.machines.release(systemId, { comment: `sitewright:${site}: preparing the node` }, signal)
          : client.machines.commission(systemId, request.commission, signal),
      async explain(failure: MachineFailure): Promise<MachineFailure> {
        if (failure.kind !== 'commissioning-failed' && failure.kind !== 'testing-failed') return failure;
        try {
          const type = failure.kind === 'testing-failed' ? 'testing' : 'commissioning';
          const scripts = await failedScripts(client, systemId, type, signal);
          return { ...failure, scripts, message: `${failure.message}${scriptsText(scripts)}` };
        } catch (error) {
          // The failure itself matters more than its details.
          if (isMaasFailure(error, 'unauthorised') || signal?.aborted) throw error;
          return failure;
        }
      },
    },
    options,
  );
}

/** The next step towards a deployable machine, from one reading. */
export function decidePrepare(machine: Machine, claim: PrepareClaim, progress: Progress): Step {
  const { status } = machine;
  if (!isMachineStatus(status)) return { do: 'wait' };
  const hold = holdOf(machine, claim);
  const fail = (failure: MachineFailure): Step => ({ do: 'fail', failure });
  const refusal = (): Step | undefined => {
    if (hold === 'other-owner') return fail(otherOwner(machine));
    if (hold === 'other-site') return fail(otherSite(machine));
    return undefined;
  };
  const release = (): Step => {
    const held = refusal();
    if (held) return held;
    return machine.locked ? fail(locked(machine)) : { do: 'act', action: 'release' };
  };
  const hasCommissioned =
    progress.acknowledged.has('commission') ||
    progress.waitedOn.has(MachineStatus.Commissioning) ||
    progress.waitedOn.has(MachineStatus.Testing);
  switch (status) {
    case MachineStatus.Ready:
      return refusal() ?? { do: 'done' };
    case MachineStatus.Allocated:
    case MachineStatus.Deploying:
      return refusal() ?? { do: 'done' };
    case MachineStatus.Deployed:
      return hold === 'free' ? fail(otherOwner(machine)) : (refusal() ?? { do: 'done' });
    // Until a machine is Ready its owner is only the one who had it commissioned: nobody's claim.
    case MachineStatus.New:
      return { do: 'act', action: 'commission' };
    case MachineStatus.Broken: {
      if (hasCommissioned) return fail(wrongState(machine, 'prepared'));
      const why = machine.errorDescription === '' ? '' : ` ("${machine.errorDescription}")`;
      const message = `${machine.hostname} was marked broken${why}; it is commissioned again`;
      const warnings: MachineWarning[] = [{ code: 'was-broken', message }];
      return { do: 'act', action: 'commission', warnings };
    }
    case MachineStatus.FailedCommissioning:
      if (hasCommissioned || claim.failedForThisWish) return fail(commissioningFailed(machine));
      return { do: 'act', action: 'commission' };
    case MachineStatus.FailedTesting:
      if (hasCommissioned || claim.failedForThisWish) return fail(testingFailed(machine));
      return { do: 'act', action: 'commission' };
    case MachineStatus.FailedDeployment:
      return release();
    case MachineStatus.FailedReleasing:
      return progress.acknowledged.has('release') || progress.waitedOn.has(MachineStatus.Releasing)
        ? (refusal() ?? fail(releaseFailed(machine)))
        : release();
    case MachineStatus.Commissioning:
    case MachineStatus.Testing:
    case MachineStatus.Releasing:
    case MachineStatus.DiskErasing:
    case MachineStatus.ExitingRescueMode:
      return { do: 'wait' };
    // An erase that failed is not passed over in silence: there may be data on the disks.
    case MachineStatus.FailedDiskErasing:
      return refusal() ?? fail(releaseFailed(machine));
    default:
      return fail(wrongState(machine, 'prepared'));
  }
}

/** Whether commissioning or testing started after the wish and did not pass. Details are optional: no answer means no. */
async function hasFailedSince(
  { client }: MachineContext,
  { systemId, since }: PrepareRequest,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (since === undefined) return false;
  let status: number;
  try {
    status = (await client.machines.read(systemId, signal)).status;
  } catch (error) {
    // The operation's own reading will tell it properly.
    if (isMaasFailure(error, 'not-found', 'forbidden')) return false;
    throw error;
  }
  if (status !== MachineStatus.FailedCommissioning && status !== MachineStatus.FailedTesting) return false;
  const type = status === MachineStatus.FailedTesting ? 'testing' : 'commissioning';
  try {
    const results = await client.diagnostics.scriptResults(systemId, type, {}, signal);
    return results.some((result) => result.startedAt !== undefined && result.startedAt * 1000 >= since);
  } catch (error) {
    if (isMaasFailure(error, 'not-found', 'forbidden', 'no-such-endpoint', 'invalid')) return false;
    throw error;
  }
}

function scriptsText(scripts: readonly FailedScript[]): string {
  if (scripts.length === 0) return '';
  const parts = scripts.map(
    (s) => `${s.name} (${s.exitStatus === undefined ? s.statusName : `exit status ${s.exitStatus}`})`,
  );
  return `; did not pass: ${parts.join(', ')}`;
}
