import type { MaasClient } from './client.ts';
import { fitsDistroSeries } from './distro-series.ts';
import { isMaasFailure, MaasError } from './failure.ts';
import { applyLayout, layoutDigest } from './layout/apply-layout.ts';
import { kernelTag } from './layout/kernel-options.ts';
import type { MachineLayout } from './layout/machine-layout.ts';
import type { Machine } from './machine.ts';
import type { DeployOptions } from './machine-calls.ts';
import {
  type Claim,
  holdOf,
  isAnnotationKey,
  isOfThisRun,
  type Marker,
  markerAnnotations,
  markerOf,
} from './machine-hold.ts';
import { MachineLog } from './machine-log.ts';
import {
  deploymentFailed,
  interference,
  locked,
  type MachineFailure,
  type MachineOutcome,
  type MachineWarning,
  otherLayout,
  otherOs,
  otherOwner,
  otherRun,
  otherSite,
  wrongState,
} from './machine-outcome.ts';
import type { WholeMachine } from './machine-state.ts';
import { carryOut, type MachineContext, type OperationOptions, type Progress, type Step } from './operation.ts';
import { releaseMachine } from './release-machine.ts';
import { isMachineStatus, MachineStatus } from './status.ts';
import { agentNameOf, stepForUnmarked, type UnmarkedUse, useOf } from './unmarked-machine.ts';

export interface DeployRequest extends Pick<DeployOptions, 'distroSeries' | 'hweKernel' | 'userData'> {
  readonly systemId: string;
  readonly site: string;
  readonly node: string;
  /** See `Claim.run`: the same for all attempts of one activity, different for each new request. */
  readonly run: string;
  /** Further workload annotations for the machine. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Interfaces, disks and kernel options to configure before the deployment. */
  readonly layout?: MachineLayout | undefined;
  /** Take the machine over as it is, if our MAAS user uses it without a marker; otherwise it is refused. */
  readonly adopt?: boolean | undefined;
}

/** The result of a deployment. */
type DeployOutcome = MachineOutcome & {
  /** Whether the machine was deployed for this request, by this call or an earlier attempt whose result was lost. */
  readonly isReinstalled: boolean;
};

/**
 * Takes a Ready or Allocated machine to Deployed, exactly once, even if calls are repeated or lost on the
 * way: configure interfaces, disks and kernel options, allocate, mark as ours, deploy, wait. See `decideDeploy` for the step from each state.
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
  const { layout } = request;
  const wanted: DeployTarget = { series: request.distroSeries, layout: layout && layoutDigest(layout) };
  const me = await client.username(signal);
  let claim: DeployClaim = { me, site, run, adopts: request.adopt };
  const agentName = agentNameOf(site);
  const refusedLabels = Object.keys(request.labels ?? {}).filter((key) => key !== '' && !isAnnotationKey(key));
  let isMarkedForThis = false;
  let latest: WholeMachine | undefined;
  const configure = async (machine: Machine): Promise<Machine | 'unchanged'> => {
    const found = latest?.machine === machine ? latest : await client.layouts.whole(systemId, signal);
    const acting = async () => options.acting?.('configure', false);
    const applied = await applyLayout(client, found, layout ?? {}, acting, signal);
    return applied.changes.length === 0 ? 'unchanged' : applied.machine;
  };
  const allocate = async (): Promise<Machine> => {
    try {
      const allocated = await machines.allocate(systemId, { agentName, comment: run }, signal);
      if (allocated.systemId !== systemId) throw await otherMachine(client, systemId, allocated, agentName, signal);
      return allocated;
    } catch (error) {
      // Only the log tells whose allocation it is, when the answer was lost.
      if (error instanceof MaasError && error.failure.outcomeUnknown)
        claim = { ...claim, isAllocated: (await MachineLog.read(client, systemId, signal)).isAllocatedFor(run) };
      throw error;
    }
  };
  const outcome = await carryOut(
    context,
    systemId,
    {
      decide(machine, progress) {
        isMarkedForThis = isOfThisRun(machine, claim);
        return decideDeploy(machine, claim, wanted, progress);
      },
      async read(urgent) {
        latest = await client.layouts.whole(systemId, signal, urgent);
        return latest.machine;
      },
      isHeld: (machine) => isOfThisRun(machine, claim),
      // Optional for a machine that is already running; no machine is deployed unmarked.
      isOptional: (action, { status }) => action === 'annotate' && status === MachineStatus.Deployed,
      perform(action, machine) {
        const { status } = machine;
        switch (action) {
          case 'configure':
            return configure(machine);
          case 'allocate':
            return allocate();
          case 'annotate': {
            // Only for our own deployment do we know the requested series and layout.
            const deployed = status === MachineStatus.Deployed ? {} : wanted;
            const marker: Marker = { site, node, run, ...stated(deployed) };
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
        const log = await MachineLog.read(client, systemId, signal);
        const reached = log.progressOf(run);
        if (reached) claim = { ...claim, reached, isAllocated: log.isAllocatedFor(run) };
        return reached !== undefined;
      },
      async findUser(machine) {
        claim = { ...claim, use: await useOf(client, machine, site, signal) };
      },
      explain: (failure, machine) => explainDeploy(client, failure, machine, run, signal),
    },
    options,
  );
  const ended = await givenBack(context, request, outcome, claim, options);
  // A machine that was taken over unchanged is marked, too.
  const isAdopted = outcome.warnings.some(({ code }) => code === 'adopted');
  const isReinstalled = outcome.ok && (outcome.actions.includes('deploy') || (isMarkedForThis && !isAdopted));
  const warnings = refusedLabels.map<MachineWarning>((key) => ({
    code: 'label-not-set',
    message: `label ${key} was not set in MAAS: names may contain only letters, digits, ., -, _ and /`,
  }));
  return { ...ended, warnings: [...ended.warnings, ...warnings], isReinstalled };
}

/** MAAS, or what stands in front of it, has allocated another machine than the one that was asked for. It is released again. */
async function otherMachine(
  client: MaasClient,
  wanted: string,
  { systemId, hostname }: Machine,
  agentName: string,
  signal: AbortSignal | undefined,
): Promise<MaasError> {
  const released = await client.machines
    .release(systemId, { comment: `${agentName}: allocated instead of ${wanted}` }, signal)
    .then(
      () => 'it was released again',
      (error: unknown) => `it stays allocated: ${error instanceof Error ? error.message : String(error)}`,
    );
  return new MaasError({
    kind: 'unexpected',
    request: 'POST machines/?op=allocate',
    text: `MAAS allocated ${hostname} (${systemId}) instead of the machine ${wanted} that was asked for; ${released}`,
    outcomeUnknown: false,
    retryable: false,
    hint: 'check that nothing between Sitewright and MAAS changes requests, and that MAAS knows the parameter system_id',
  });
}

/**
 * Releases a machine that nobody wants and that we hold: one that we allocated and that MAAS will not deploy, such as without the
 * image, and one that a person released right before our deployment reached MAAS, which then takes it as a new allocation.
 */
async function givenBack(
  context: MachineContext,
  { systemId, site, run }: DeployRequest,
  outcome: MachineOutcome,
  claim: Claim,
  options: OperationOptions,
): Promise<MachineOutcome> {
  if (outcome.ok) return outcome;
  const { failure } = outcome;
  const isRefused = failure.kind === 'refused' && failure.action === 'deploy';
  if (!isRefused && failure.kind !== 'released-by-hand') return outcome;
  const before = isRefused ? `${failure.hint}; ` : '';
  const after = isRefused ? '' : '; retry the node, or start the run again, to deploy it';
  const hint = (what: string): MachineOutcome => ({
    ...outcome,
    failure: { ...failure, hint: `${before}${what}${after}` },
  });
  const { client } = context;
  let released: MachineOutcome;
  try {
    const machine = await client.machines.read(systemId, options.signal);
    const isHeld = isRefused
      ? machine.status === MachineStatus.Allocated && isOfThisRun(machine, claim)
      : holdOf(machine, claim) === 'unmarked' && (await isLastDeployedFor(client, systemId, run, options.signal));
    if (!isHeld) return outcome;
    const why = isRefused ? 'MAAS refuses to deploy it' : 'released by hand right before its deployment';
    released = await releaseMachine(context, { systemId, site, comment: `${agentNameOf(site)}: ${why}` }, options);
  } catch (error) {
    // The failure is more important.
    if (!(error instanceof MaasError)) throw error;
    return hint(`we hold it: ${error.message}`);
  }
  const said = hint(released.ok ? 'it was released again' : `we hold it: ${released.failure.message}`);
  const now = released.machine && { machine: released.machine };
  return { ...said, ...now, actions: [...outcome.actions, ...released.actions] };
}

/** Whether nobody has used the machine, by MAAS' log, since this run deployed it. */
async function isLastDeployedFor(
  client: MaasClient,
  systemId: string,
  run: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const last = (await MachineLog.read(client, systemId, signal)).lastUse();
  return last?.what === 'deployed' && last.comment === run;
}

/** Adds details from MAAS' log to a failure: the errors of this deployment, or who interfered. */
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
    // The failure is more important than its details.
    if (isMaasFailure(error, 'unauthorised', 'worker-clock') || signal?.aborted) throw error;
    return failure;
  }
}

/** The request of a deployment. */
interface DeployTarget {
  readonly series: string | undefined;
  /** Digest of the layout; absent when MAAS keeps its own. */
  readonly layout?: string | undefined;
}

const stated = ({ series, layout }: Partial<DeployTarget>): Pick<Marker, 'series' | 'layout'> => ({
  ...(series === undefined ? {} : { series }),
  ...(layout === undefined ? {} : { layout }),
});

/** The owner of a deployment, and its progress so far by MAAS' log. */
export interface DeployClaim extends Claim {
  readonly reached?: 'allocated' | 'deployed' | 'aborted';
  /** This run was the last to allocate the machine. */
  readonly isAllocated?: boolean;
  /** See `DeployRequest.adopt`. */
  readonly adopts?: boolean | undefined;
  /** Known once MAAS was asked. */
  readonly use?: UnmarkedUse;
}

/** States in which a machine that we allocated is still allocated, or that explain why not. */
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
 * The next step towards Deployed, from one reading. Only a failed deployment from before
 * this request is released and tried again; one of this request is the result. Machines
 * that people aborted or released meanwhile are not restarted: that needs a new request.
 */
export function decideDeploy(machine: Machine, claim: DeployClaim, wanted: DeployTarget, progress: Progress): Step {
  const { status } = machine;
  if (!isMachineStatus(status)) return { do: 'wait' };
  // A machine that was marked broken keeps its annotations when it is fixed, and has them when it is allocated: whoever
  // allocated it holds it, and the marker is an old one.
  const isOurAllocation = progress.acknowledged.has('allocate') || claim.isAllocated === true;
  const found = holdOf(machine, claim);
  const isStale = found === 'other-site' && status === MachineStatus.Allocated && isOurAllocation;
  const hold = isStale ? 'unmarked' : found;
  const isMine = isOfThisRun(machine, claim);
  const isTaken = hold !== 'unmarked' || isOurAllocation || claim.adopts === true;
  const foreign = (): Step | undefined => (isTaken ? undefined : stepForUnmarked(machine, claim.use, progress));
  const refused = (): Step | undefined => {
    if (hold === 'other-owner') return { do: 'fail', failure: otherOwner(machine) };
    if (hold === 'other-site') return { do: 'fail', failure: otherSite(machine) };
    if (!isMine && wasMarked)
      return { do: 'fail', failure: hold === 'ours' ? otherRun(machine) : interference('released-by-hand', machine) };
    return undefined;
  };
  const wasMarked = progress.wasHeld || claim.reached === 'deployed' || claim.reached === 'aborted';
  const wasTaken = wasMarked || claim.reached === 'allocated' || progress.acknowledged.has('allocate');
  if (wasTaken && !isMine && !keptStatuses.has(status)) {
    return { do: 'fail', failure: interference('released-by-hand', machine) };
  }
  // Disks can be changed only before the allocation, and whatever happened since is found before the deployment.
  const hasNothingToConfigure = wanted.layout === undefined && !machine.tags.includes(kernelTag(machine.systemId));
  const isConfigured = hasNothingToConfigure || progress.acknowledged.has('configure');
  switch (status) {
    case MachineStatus.Ready: {
      const held = refused();
      if (held) return held;
      if (!isConfigured) return { do: 'act', action: 'configure' };
      // A commissioning refused half-way leaves us as owner of a Ready machine. `allocate` does
      // not find such a machine; `deploy` accepts it.
      return { do: 'act', action: hold === 'free' ? 'allocate' : isMine ? 'deploy' : 'annotate' };
    }
    case MachineStatus.Allocated: {
      if (hold === 'free') return { do: 'fail', failure: otherOwner(machine) };
      const held = refused();
      if (held) return held;
      if (isMine && (claim.reached === 'aborted' || progress.waitedOn.has(MachineStatus.Deploying))) {
        return { do: 'fail', failure: interference('deployment-aborted', machine) };
      }
      const unmarked = foreign();
      if (unmarked) return unmarked;
      return { do: 'act', action: !isMine ? 'annotate' : isConfigured ? 'deploy' : 'configure' };
    }
    case MachineStatus.Deploying:
      return refused() ?? foreign() ?? { do: 'wait' };
    case MachineStatus.Deployed:
      return refused() ?? foreign() ?? decideDeployed(machine, claim, wanted, progress);
    case MachineStatus.FailedDeployment: {
      const held = refused();
      if (held) return held;
      const isOfThisRequest = isMine || progress.sent.has('deploy') || progress.waitedOn.has(MachineStatus.Deploying);
      if (isOfThisRequest) return { do: 'fail', failure: deploymentFailed(machine) };
      const unmarked = foreign();
      if (unmarked) return unmarked;
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

function decideDeployed(machine: Machine, claim: DeployClaim, target: DeployTarget, progress: Progress): Step {
  const hold = holdOf(machine, claim);
  if (hold === 'free') return { do: 'fail', failure: otherOwner(machine) };
  const wanted = target.series ?? '';
  // A series may have several names; if we requested it by exactly this name, it is the right one.
  const wasAskedFor = hold === 'ours' && wanted !== '' && markerOf(machine)?.series === wanted;
  const fits = wasAskedFor ? 'yes' : fitsDistroSeries(machine, target.series);
  // The deployment of this request has the requested series, whatever its name in MAAS.
  const isOurDeployment = progress.sent.has('deploy');
  if (fits === 'no' && !isOurDeployment) return { do: 'fail', failure: otherOs(machine, wanted) };
  const warnings: MachineWarning[] = [];
  if (target.layout !== undefined && !isOurDeployment) {
    const layout = hold === 'ours' ? markerOf(machine)?.layout : undefined;
    if (layout !== undefined && layout !== target.layout) return { do: 'fail', failure: otherLayout(machine) };
    if (layout === undefined) {
      const message = `${machine.hostname} was not deployed with the interfaces, disks and kernel options of its documents; they stay as they are until it is redeployed`;
      warnings.push({ code: 'layout-unknown', message });
    }
  }
  if (fits === 'unknown' && !isOurDeployment) {
    const message = `MAAS does not report which system ${machine.hostname} runs (a refused release clears it), or ${wanted} is an unknown version; it counts as the requested one`;
    warnings.push({ code: 'os-unknown', message });
  }
  if (hold === 'unmarked') {
    const message = claim.use?.isOurs
      ? `${machine.hostname} had lost its mark of this site; it is marked again`
      : `${machine.hostname} was already Deployed under our MAAS user, not by this site; it is taken over unchanged, as requested`;
    warnings.push({ code: 'adopted', message });
    // Warn here, not when marking: a crash may come between marking and the end.
    const canMark = !progress.acknowledged.has('annotate') && !progress.givenUp.has('annotate');
    if (canMark) return { do: 'act', action: 'annotate', warnings };
  }
  return { do: 'done', warnings };
}
