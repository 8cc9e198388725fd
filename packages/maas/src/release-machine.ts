import type { Machine } from './machine.ts';
import type { EraseOptions } from './machine-calls.ts';
import { type Claim, holdOf, markerOf } from './machine-hold.ts';
import { locked, type MachineOutcome, otherOwner, otherSite, releaseFailed, wrongState } from './machine-outcome.ts';
import { carryOut, type MachineContext, type OperationOptions, type Progress, type Step } from './operation.ts';
import { isMachineStatus, MachineStatus, machineStatusName } from './status.ts';
import { agentNameOf, stepForUnmarked, type UnmarkedUse, useOf } from './unmarked-machine.ts';

interface ReleaseRequest extends EraseOptions {
  readonly systemId: string;
  readonly site: string;
  /** For MAAS' log. */
  readonly comment?: string;
  /**
   * The run that releases the machine to deploy it again. A machine that it has marked since was released by it, and is
   * not released once more when the run, after a reset, has forgotten that.
   */
  readonly run?: string;
}

/**
 * Releases a machine and waits until it is Ready, or New if it was never commissioned.
 * Reads owner and marker right before: with an administrator's key MAAS would release any machine. One that someone uses with our
 * key and that has no marker is refused.
 */
export async function releaseMachine(
  context: MachineContext,
  request: ReleaseRequest,
  options: OperationOptions = {},
): Promise<MachineOutcome> {
  const { systemId, site, erase, secureErase, quickErase } = request;
  const { signal } = options;
  const claim = { me: await context.client.username(signal), site };
  const isErasing = erase === true || secureErase === true || quickErase === true;
  const form = {
    // MAAS uses the two kinds of erasing only together with `erase`.
    erase: isErasing,
    secureErase: secureErase === true,
    quickErase: quickErase === true,
    comment: request.comment ?? agentNameOf(site),
  };
  let use: UnmarkedUse | undefined;
  return carryOut(
    context,
    systemId,
    {
      decide: (machine, progress) =>
        decideRelease(machine, claim, { erase: isErasing, run: request.run, use }, progress),
      async findUser(machine) {
        use = await useOf(context.client, machine, site, signal);
      },
      leavesBare: (machine) => !isBackInService(machine, claim, request.run),
      perform: () => context.client.machines.release(systemId, form, signal),
    },
    options,
  );
}

/** The next step towards a free machine, from one reading. */
export function decideRelease(
  machine: Machine,
  claim: Pick<Claim, 'me' | 'site'>,
  wanted: {
    readonly erase: boolean;
    readonly run?: string | undefined;
    /** Known once MAAS was asked. */
    readonly use?: UnmarkedUse | undefined;
  },
  progress: Progress,
): Step {
  const { status } = machine;
  if (!isMachineStatus(status)) return { do: 'wait' };
  const wasReleased =
    progress.acknowledged.has('release') ||
    progress.waitedOn.has(MachineStatus.Releasing) ||
    progress.waitedOn.has(MachineStatus.DiskErasing);
  switch (status) {
    case MachineStatus.Ready:
    case MachineStatus.New: {
      // MAAS accepts a release of a machine that is already being released, but ignores its options.
      const mayBeUnerased =
        wanted.erase &&
        progress.waitedOn.has(MachineStatus.Releasing) &&
        !progress.waitedOn.has(MachineStatus.DiskErasing);
      if (!mayBeUnerased || progress.acknowledged.has('release')) return { do: 'done' };
      const message = `${machine.hostname} was already being released; it is unknown whether its disks were erased`;
      return { do: 'done', warnings: [{ code: 'erase-not-applied', message }] };
    }
    case MachineStatus.FailedCommissioning:
    case MachineStatus.Commissioning:
    case MachineStatus.Testing:
    case MachineStatus.FailedTesting:
    case MachineStatus.Broken:
    case MachineStatus.Missing:
    case MachineStatus.Retired: {
      const message = `${machine.hostname} is ${machineStatusName(status)}: no one holds it, there is nothing to release`;
      return { do: 'done', warnings: [{ code: 'nothing-to-release', message }] };
    }
    case MachineStatus.Releasing:
    case MachineStatus.DiskErasing:
      return { do: 'wait' };
    case MachineStatus.Reserved:
    case MachineStatus.Deployed:
    case MachineStatus.Deploying:
    case MachineStatus.Allocated:
    case MachineStatus.FailedDeployment:
    case MachineStatus.FailedReleasing:
    case MachineStatus.FailedDiskErasing:
      break;
    default:
      return { do: 'fail', failure: wrongState(machine, 'released') };
  }
  if (isBackInService(machine, claim, wanted.run)) {
    const message = `${machine.hostname} was released by this run before, and is ${IN_SERVICE.get(status)} since`;
    return { do: 'done', warnings: [{ code: 'released-before', message }] };
  }
  const hasFailed = status === MachineStatus.FailedReleasing || status === MachineStatus.FailedDiskErasing;
  if (hasFailed && wasReleased) return { do: 'fail', failure: releaseFailed(machine) };
  const hold = holdOf(machine, claim);
  if (hold === 'other-owner') return { do: 'fail', failure: otherOwner(machine) };
  if (hold === 'other-site') return { do: 'fail', failure: otherSite(machine) };
  if (hold === 'free' && !hasFailed) return { do: 'fail', failure: otherOwner(machine) };
  const unmarked = hold === 'unmarked' ? stepForUnmarked(machine, wanted.use, progress) : undefined;
  if (unmarked) return unmarked;
  if (machine.locked) return { do: 'fail', failure: locked(machine) };
  return { do: 'act', action: 'release' };
}

/** The result of a machine after its run released and marked it, by status. One whose deployment failed may be released again. */
const IN_SERVICE: ReadonlyMap<number, string> = new Map([
  [MachineStatus.Allocated, 'being deployed'],
  [MachineStatus.Deploying, 'deploying'],
  [MachineStatus.Deployed, 'deployed'],
]);

/** Only the marker survives a reset, which reverts the memory of the run. */
function isBackInService(machine: Machine, claim: Pick<Claim, 'me' | 'site'>, run: string | undefined): boolean {
  if (run === undefined || !IN_SERVICE.has(machine.status) || holdOf(machine, claim) !== 'ours') return false;
  const marked = markerOf(machine)!.run;
  // Retries of one run have numbers.
  return marked === run || marked.startsWith(`${run}#`);
}
