import type { MaasClient } from './client.js';
import { fitsDistroSeries } from './distro-series.js';
import { isMaasFailure } from './failure.js';
import type { Machine } from './machine.js';
import type { DeployOptions } from './machine-calls.js';
import { type Claim, holdOf, isAnnotationKey, isOfThisRun, markerAnnotations, markerOf } from './machine-hold.js';
import { MachineLog } from './machine-log.js';
import {
  deploymentFailed,
  interference,
  locked,
  type MachineFailure,
  type MachineOutcome,
  type MachineWarning,
  otherOs,
  otherOwner,
  otherRun,
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
  readonly isReinstalled: boolean;
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
  const { client } = context;
  const { machines } = client;
  const { systemId, site, node, run } = request;
  const { signal } = options;
  const me = await client.username(signal);
  let claim: DeployClaim = { me, site, run };
  const agentName = `sitewright:${site}`;
  const refusedLabels = Object.keys(request.labels ?? {}).filter((key) => key !== '' && !isAnnotationKey(key));
  let isMarkedForThis = false;
  const outcome = await carryOut(
    context,
    systemId,
    {
      decide(machine, progress) {
        isMarkedForThis = isOfThisRun(machine, claim);
        return decideDeploy(machine, claim, request.distroSeries, progress);
      },
      isHeld: (machine) => isOfThisRun(machine, claim),
      // A machine that runs already can do without; none is deployed unmarked.
      isOptional: (action, { status }) => action === 'annotate' && status === MachineStatus.Deployed,
      perform(action, { status }) {
        switch (action) {
          case 'allocate':
            return machines.allocate(systemId, { agentName, comment: run }, signal);
          case 'annotate': {
            // Only of a deployment that is ours do we know what it was to install.
            const series = status === MachineStatus.Deployed ? undefined : request.distroSeries;
            const marker = { site, node, run, ...(series === undefined ? {} : { series }) };
            return machines.annotate(systemId, markerAnnotations(marker, request.labels), signal);
          }
          case 'release':
            return machines.release(systemId, { comment: `${agentName}: clearing a failed deployment` }, signal);
          default: {
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
      async recall() {
        const begun = (await MachineLog.read(client, systemId, signal)).progressOf(run);
        if (begun) claim = { ...claim, begun };
        return begun !== undefined;
      },
      explain: (failure, machine) => explainDeploy(client, failure, machine, run, signal),
    },
    options,
  );
  // A machine that was taken over as it is gets our mark, too.
  const isAdopted = outcome.warnings.some(({ code }) => code === 'adopted');
  const isReinstalled = outcome.ok && (outcome.actions.includes('deploy') || (isMarkedForThis && !isAdopted));
  const warnings = refusedLabels.map<MachineWarning>((key) => ({
    code: 'label-not-set',
    message: `label ${key} was not set in MAAS: names there have letters, digits, ., -, _ and / only`,
  }));
  return { ...outcome, warnings: [...outcome.warnings, ...warnings], isReinstalled };
}

/** Adds to a failure what MAAS' log tells: the errors of this deployment, or who interfered. */
async function explainDeploy(
  client: MaasClient,
  failure: MachineFailure,
  machine: Machine,
  run: string,
  signal: AbortSignal | undefined,
): Promise<MachineFailure> {
  const { kind } = failure;
  if (kind !== 'deployment-failed' && kind !== 'deployment-aborted' && kind !== 'released-by-hand') return failure;
  try {
    const log = await MachineLog.read(client, machine.systemId, signal);
    if (kind === 'deployment-failed') return { ...failure, events: log.deploymentErrors(failure.message) };
    const request = kind === 'deployment-aborted' ? log.abortion('deployment') : log.releaseAfter(run);
    return interference(kind, machine, request);
  } catch (error) {
    // The failure itself matters more than its details.
    if (isMaasFailure(error, 'unauthorised') || signal?.aborted) throw error;
    return failure;
  }
}

/** Who wants a machine deployed, and how far this very wish got by MAAS' log. */
export interface DeployClaim extends Claim {
  readonly begun?: 'allocated' | 'deployed' | 'aborted';
}

/** States in which a machine that we took is still taken, or tells by itself why not. */
const keptStatuses: ReadonlySet<number> = new Set([
  MachineStatus.Allocated,
  MachineStatus.Deploying,
  MachineStatus.Deployed,
  MachineStatus.FailedDeployment,
  MachineStatus.Broken,
  MachineStatus.Missing,
  MachineStatus.Retired,
  MachineStatus.Reserved,
  MachineStatus.RescueMode,
  MachineStatus.EnteringRescueMode,
  MachineStatus.FailedEnteringRescueMode,
  MachineStatus.ExitingRescueMode,
  MachineStatus.FailedExitingRescueMode,
]);

/**
 * The next step towards Deployed, from one reading. Of the failed deployments only one from before
 * this wish is released and tried again; one that happened for this wish is the result. What people
 * aborted or released meanwhile is not begun again: that takes a new wish.
 */
export function decideDeploy(
  machine: Machine,
  claim: DeployClaim,
  wantedSeries: string | undefined,
  progress: Progress,
): Step {
  const { status } = machine;
  if (!isMachineStatus(status)) return { do: 'wait' };
  const hold = holdOf(machine, claim);
  const isMine = isOfThisRun(machine, claim);
  const refused = (): Step | undefined => {
    if (hold === 'other-owner') return { do: 'fail', failure: otherOwner(machine) };
    if (hold === 'other-site') return { do: 'fail', failure: otherSite(machine) };
    if (!isMine && wasMarked)
      return { do: 'fail', failure: hold === 'ours' ? otherRun(machine) : interference('released-by-hand', machine) };
    return undefined;
  };
  const wasMarked = progress.wasHeld || claim.begun === 'deployed' || claim.begun === 'aborted';
  const wasTaken = wasMarked || claim.begun === 'allocated' || progress.acknowledged.has('allocate');
  if (wasTaken && !isMine && !keptStatuses.has(status)) {
    return { do: 'fail', failure: interference('released-by-hand', machine) };
  }
  switch (status) {
    case MachineStatus.Ready:
      // A commissioning that was refused half-way leaves us owner of a Ready machine. `allocate` does
      // not find such a one; `deploy` takes it.
      return refused() ?? { do: 'act', action: hold === 'free' ? 'allocate' : isMine ? 'deploy' : 'annotate' };
    case MachineStatus.Allocated: {
      if (hold === 'free') return { do: 'fail', failure: otherOwner(machine) };
      const held = refused();
      if (held) return held;
      if (isMine && (claim.begun === 'aborted' || progress.waitedOn.has(MachineStatus.Deploying))) {
        return { do: 'fail', failure: interference('deployment-aborted', machine) };
      }
      if (hold === 'unmarked' && !progress.acknowledged.has('allocate') && !progress.graceOver) {
        return { do: 'wait-for-marker' };
      }
      return { do: 'act', action: isMine ? 'deploy' : 'annotate' };
    }
    case MachineStatus.Deploying:
      // Without a marker it is a person's, with our key: it is taken over when it is Deployed.
      return refused() ?? { do: 'wait' };
    case MachineStatus.Deployed:
      return refused() ?? decideDeployed(machine, claim, wantedSeries, progress);
    case MachineStatus.FailedDeployment: {
      const held = refused();
      if (held) return held;
      const isOfThisWish = isMine || progress.sent.has('deploy') || progress.waitedOn.has(MachineStatus.Deploying);
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

function decideDeployed(machine: Machine, claim: Claim, wantedSeries: string | undefined, progress: Progress): Step {
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
  if (hold === 'unmarked') {
    const message = `${machine.hostname} was Deployed already under our MAAS user, not by this site; it is taken over as it is`;
    warnings.push({ code: 'adopted', message });
    // Said here and not with the marking, which a crash may separate from the end.
    const mayMark = !progress.acknowledged.has('annotate') && !progress.givenUp.has('annotate');
    if (mayMark) return { do: 'act', action: 'annotate', warnings };
  }
  return { do: 'done', warnings };
}
