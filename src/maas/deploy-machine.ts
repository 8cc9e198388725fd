import { fitsDistroSeries } from './distro-series.js';
import { isMaasFailure } from './failure.js';
import type { Machine } from './machine.js';
import type { DeployOptions } from './machine-calls.js';
import { type Claim, holdOf, isOfThisRun, markerAnnotations, markerOf } from './machine-hold.js';
import {
  deploymentAborted,
  deploymentFailed,
  locked,
  type MachineFailure,
  type MachineOutcome,
  type MachineWarning,
  otherOs,
  otherOwner,
  otherSite,
  wrongState,
} from './machine-outcome.js';
import { carryOut, type MachineContext, type OperationOptions, type Progress, type Step } from './operation.js';
import { isMachineStatus, MachineStatus } from './status.js';

export interface DeployRequest extends Pick<DeployOptions, 'distroSeries' | 'hweKernel' | 'userData'> {
  readonly systemId: string;
  readonly site: string;
  readonly node: string;
  /** See `Claim.run`: the same over repetitions of one activity, another for each new wish. */
  readonly run: string;
  /** Further workload annotations for the machine. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** What became of a deployment. */
export type DeployOutcome = MachineOutcome & {
  /** Whether the machine was deployed for this wish, by this call or by one before it that nobody heard the end of. */
  readonly isDeployedAnew: boolean;
};

/**
 * Takes a Ready or Allocated machine to Deployed, exactly once, whatever is repeated or lost on the
 * way: allocate, mark as ours, deploy, wait. See `decideDeploy` for what it does from each state.
 */
export async function deployMachine(
  context: MachineContext,
  request: DeployRequest,
  options: OperationOptions = {},
): Promise<DeployOutcome> {
  const { machines, diagnostics } = context.client;
  const { systemId, site, node, run } = request;
  const claim: Claim = { me: await context.client.username(options.signal), site, run };
  const { signal } = options;
  const agentName = `sitewright:${site}`;
  let isOurDeployment = false;
  let isMarkedForThis = false;
  const outcome = await carryOut(
    context,
    systemId,
    {
      decide(machine, progress) {
        isMarkedForThis = isOfThisRun(machine, claim);
        return decideDeploy(machine, claim, request.distroSeries, progress);
      },
      optional: new Set(['annotate'] as const),
      perform(action, machine) {
        switch (action) {
          case 'allocate':
            return machines.allocate(systemId, { agentName, comment: run }, signal);
          case 'annotate': {
            // Only of a deployment that is ours do we know what it was to install.
            const series =
              isOurDeployment || machine.status === MachineStatus.Allocated ? request.distroSeries : undefined;
            const marker = { site, node, run, ...(series === undefined ? {} : { series }) };
            return machines.annotate(systemId, markerAnnotations(marker, request.labels), signal);
          }
          case 'release':
            return machines.release(systemId, { comment: `${agentName}: clearing a failed deployment` }, signal);
          default: {
            isOurDeployment = true;
            const { distroSeries, hweKernel, userData } = request;
            const form = {
              ...(distroSeries === undefined ? {} : { distroSeries }),
              ...(hweKernel === undefined ? {} : { hweKernel }),
              ...(userData === undefined ? {} : { userData }),
            };
            return machines.deploy(systemId, { ...form, agentName, comment: run }, signal);
          }
        }
      },
      async explain(failure: MachineFailure): Promise<MachineFailure> {
        if (failure.kind !== 'deployment-failed') return failure;
        try {
          const events = await diagnostics.events({ systemIds: [systemId], level: 'ERROR', limit: 5 }, signal);
          const lines = events.map((e) =>
            [e.type, e.description]
              .filter((text) => text !== '')
              .join(': ')
              .slice(0, 500),
          );
          return { ...failure, events: lines };
        } catch (error) {
          // The failure itself matters more than its details.
          if (isMaasFailure(error, 'unauthorised') || signal?.aborted) throw error;
          return failure;
        }
      },
    },
    options,
  );
  // A machine that was taken over as it is gets our mark, too.
  const isAdopted = outcome.warnings.some(({ code }) => code === 'adopted');
  const isDeployedAnew = outcome.ok && (outcome.actions.includes('deploy') || (isMarkedForThis && !isAdopted));
  return { ...outcome, isDeployedAnew };
}

/**
 * The next step towards Deployed, from one reading. Of the failed deployments only one from before
 * this wish is released and tried again; one that happened for this wish is the result.
 */
export function decideDeploy(
  machine: Machine,
  claim: Claim,
  wantedSeries: string | undefined,
  progress: Progress,
): Step {
  const { status } = machine;
  if (!isMachineStatus(status)) return { do: 'wait' };
  const hold = holdOf(machine, claim);
  const refusal = (): Step | undefined => {
    if (hold === 'other-owner') return { do: 'fail', failure: otherOwner(machine) };
    if (hold === 'other-site') return { do: 'fail', failure: otherSite(machine) };
    return undefined;
  };
  const mayMark = !progress.acknowledged.has('annotate') && !progress.givenUp.has('annotate');
  switch (status) {
    case MachineStatus.Ready:
      // A commissioning that was refused half-way leaves us owner of a Ready machine. `allocate` does
      // not find such a one; `deploy` takes it.
      return refusal() ?? { do: 'act', action: hold === 'free' ? 'allocate' : 'deploy' };
    case MachineStatus.Allocated: {
      // Not of a real MAAS; it has no owner to mark, and `deploy` makes us that.
      if (hold === 'free') return { do: 'act', action: 'deploy' };
      const held = refusal();
      if (held) return held;
      const isMine = isOfThisRun(machine, claim);
      if (isMine && progress.waitedOn.has(MachineStatus.Deploying)) {
        return { do: 'fail', failure: deploymentAborted(machine) };
      }
      if (hold === 'unmarked' && mayMark && !progress.acknowledged.has('allocate') && !progress.graceOver) {
        return { do: 'wait-for-marker' };
      }
      return { do: 'act', action: !isMine && mayMark ? 'annotate' : 'deploy' };
    }
    case MachineStatus.Deploying: {
      const held = refusal();
      if (held) return held;
      if (hold !== 'unmarked' || !mayMark) return { do: 'wait' };
      if (!progress.sent.has('deploy') && !progress.graceOver) return { do: 'wait-for-marker' };
      return { do: 'act', action: 'annotate' };
    }
    case MachineStatus.Deployed:
      return refusal() ?? decideDeployed(machine, claim, wantedSeries, progress, mayMark);
    case MachineStatus.FailedDeployment: {
      const held = refusal();
      if (held) return held;
      const isOfThisWish =
        progress.sent.has('deploy') || progress.waitedOn.has(MachineStatus.Deploying) || isOfThisRun(machine, claim);
      if (isOfThisWish) return { do: 'fail', failure: deploymentFailed(machine) };
      if (machine.locked) return { do: 'fail', failure: locked(machine) };
      return { do: 'act', action: 'release' };
    }
    case MachineStatus.Commissioning:
    case MachineStatus.Testing:
    case MachineStatus.Releasing:
    case MachineStatus.DiskErasing:
    case MachineStatus.ExitingRescueMode:
      return { do: 'wait' };
    default:
      return { do: 'fail', failure: wrongState(machine, 'deployed') };
  }
}

function decideDeployed(
  machine: Machine,
  claim: Claim,
  wantedSeries: string | undefined,
  progress: Progress,
  mayMark: boolean,
): Step {
  const hold = holdOf(machine, claim);
  if (hold === 'free') return { do: 'fail', failure: otherOwner(machine) };
  const wanted = wantedSeries ?? '';
  // A series may have several names; what we asked for in these very words is the wanted one.
  const wasAskedFor = hold === 'ours' && wanted !== '' && markerOf(machine)?.series === wanted;
  const fits = wasAskedFor ? 'yes' : fitsDistroSeries(machine, wantedSeries);
  // What we ourselves have deployed for this wish is what was wanted, by whatever name MAAS calls it.
  const isOurDeed = progress.sent.has('deploy');
  if (fits === 'no' && !isOurDeed) return { do: 'fail', failure: otherOs(machine, wanted) };
  const warnings: MachineWarning[] = [];
  if (fits === 'unknown' && !isOurDeed) {
    const message = `MAAS does not say which system ${machine.hostname} runs (a refused release blanks it), or ${wanted} is a version not known here; it counts as the wanted one`;
    warnings.push({ code: 'os-unknown', message });
  }
  if (hold === 'unmarked' && !isOurDeed) {
    const message = `${machine.hostname} was Deployed already under our MAAS user, not by this site; it is taken over as it is`;
    warnings.push({ code: 'adopted', message });
    // Said here and not with the marking, which a crash may separate from the end.
    if (mayMark) return { do: 'act', action: 'annotate', warnings };
  }
  if (hold === 'unmarked' && isOurDeed && mayMark) return { do: 'act', action: 'annotate' };
  return { do: 'done', warnings };
}
