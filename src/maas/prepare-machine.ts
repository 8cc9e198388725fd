import { isMaasFailure } from './failure.js';
import type { Machine } from './machine.js';
import type { CommissionOptions } from './machine-calls.js';
import { holdOf } from './machine-hold.js';
import { MachineLog } from './machine-log.js';
import {
  commissioningFailed,
  type FailedScript,
  interference,
  locked,
  type MachineFailure,
  type MachineOutcome,
  otherOwner,
  otherSite,
  releaseFailed,
  testingFailed,
  wrongState,
} from './machine-outcome.js';
import { carryOut, type MachineContext, type OperationOptions, type Progress, type Step } from './operation.js';
import { failedScripts } from './script-failures.js';
import { isMachineStatus, MachineStatus, machineStatusName } from './status.js';

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
  /** A commissioning of this wish was aborted, by someone else: nothing but an abort ends without a verdict. */
  readonly abortedForThisWish: boolean;
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
  let before: 'failed' | 'aborted' | undefined;
  return carryOut(
    context,
    systemId,
    {
      decide(machine, progress) {
        const claim = { me, site, failedForThisWish: before === 'failed', abortedForThisWish: before === 'aborted' };
        return decidePrepare(machine, claim, progress);
      },
      async recall() {
        before = await whatHappenedSince(context, request, signal);
        return before !== undefined;
      },
      perform: (action) =>
        action === 'release'
          ? client.machines.release(systemId, { comment: `sitewright:${site}: preparing the node` }, signal)
          : client.machines.commission(systemId, request.commission, signal),
      async explain(failure: MachineFailure, machine: Machine): Promise<MachineFailure> {
        if (!('scripts' in failure) && failure.kind !== 'commissioning-aborted') return failure;
        try {
          // MAAS puts back the state from before, which may be a failed one.
          const request = (await MachineLog.read(client, systemId, signal)).abortion('commissioning');
          if (request || !('scripts' in failure)) return interference('commissioning-aborted', machine, request);
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
    if (machine.locked) return fail(locked(machine));
    const message = `${machine.hostname} was ${machineStatusName(status)}; it was released`;
    return { do: 'act', action: 'release', warnings: [{ code: 'released', message }] };
  };
  const hasCommissioned =
    progress.acknowledged.has('commission') ||
    progress.waitedOn.has(MachineStatus.Commissioning) ||
    progress.waitedOn.has(MachineStatus.Testing);
  const commission = (code: 'commissioned' | 'was-broken', message: string): Step => ({
    do: 'act',
    action: 'commission',
    warnings: [{ code, message }],
  });
  const commissionAgain = (): Step =>
    commission('commissioned', `${machine.hostname} was ${machineStatusName(status)}; it was commissioned again`);
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
      if (hasCommissioned || claim.abortedForThisWish) return fail(interference('commissioning-aborted', machine));
      return commission('commissioned', `${machine.hostname} was New; it was commissioned`);
    case MachineStatus.Broken: {
      if (hasCommissioned) return fail(wrongState(machine, 'prepared'));
      const why = machine.errorDescription === '' ? '' : ` ("${machine.errorDescription}")`;
      return commission('was-broken', `${machine.hostname} was marked broken${why}; it was commissioned again`);
    }
    case MachineStatus.FailedCommissioning:
      if (hasCommissioned || claim.failedForThisWish) return fail(commissioningFailed(machine));
      return commissionAgain();
    case MachineStatus.FailedTesting:
      if (hasCommissioned || claim.failedForThisWish) return fail(testingFailed(machine));
      return commissionAgain();
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

/**
 * How a commissioning or testing ended that began after the wish, in a process before this one. Details are optional: no
 * answer means that nothing did.
 */
async function whatHappenedSince(
  { client }: MachineContext,
  { systemId, since }: PrepareRequest,
  signal: AbortSignal | undefined,
): Promise<'failed' | 'aborted' | undefined> {
  if (since === undefined) return undefined;
  try {
    const { status } = await client.machines.read(systemId, signal);
    if (status === MachineStatus.New) {
      const log = await MachineLog.read(client, systemId, signal);
      return log.wasCommissioningAbortedSince(since) ? 'aborted' : undefined;
    }
    if (status !== MachineStatus.FailedCommissioning && status !== MachineStatus.FailedTesting) return undefined;
    const type = status === MachineStatus.FailedTesting ? 'testing' : 'commissioning';
    const results = await client.diagnostics.scriptResults(systemId, type, {}, signal);
    const isOfThisWish = results.some(({ startedAt }) => startedAt !== undefined && startedAt * 1000 >= since);
    return isOfThisWish ? 'failed' : undefined;
  } catch (error) {
    // What is wrong with the machine itself, the operation's own reading will tell properly.
    if (isMaasFailure(error, 'not-found', 'forbidden', 'no-such-endpoint', 'invalid')) return undefined;
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
