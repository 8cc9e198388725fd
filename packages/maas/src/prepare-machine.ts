import type { MaasClient } from './client.ts';
import type { ResultType } from './diagnostic-calls.ts';
import { isMaasFailure } from './failure.ts';
import type { MachineLayout } from './layout/machine-layout.ts';
import type { Lack, Machine } from './machine.ts';
import type { CommissionOptions } from './machine-calls.ts';
import { holdOf } from './machine-hold.ts';
import { MachineLog } from './machine-log.ts';
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
} from './machine-outcome.ts';
import { carryOut, type MachineContext, type OperationOptions, type Progress, type Step } from './operation.ts';
import { isMachineStatus, MachineStatus, machineStatusName } from './status.ts';
import { agentNameOf, stepForUnmarked, type UnmarkedUse, useOf } from './unmarked-machine.ts';

interface PrepareRequest {
  readonly systemId: string;
  readonly site: string;
  readonly commission?: CommissionOptions;
  /**
   * Start of this request, ms since 1970, the same for all attempts of one activity. A commissioning
   * that started later and failed is then the result, even for an attempt after a crash; without it
   * such an attempt commissions again.
   */
  readonly since?: number;
  /** The layout that the deployment will configure. */
  readonly layout?: MachineLayout | undefined;
  /** See `DeployRequest.adopt`. */
  readonly adopt?: boolean | undefined;
}

/** Who prepares a machine, and what is known about its last commissioning. */
interface PrepareClaim {
  readonly me: string;
  readonly site: string;
  /** The failed commissioning belongs to this request. */
  readonly failedForThisRequest: boolean;
  /** A commissioning of this request was aborted by someone else: only an abort ends without a result. */
  readonly abortedForThisRequest: boolean;
  /** It was commissioned, and is Ready. */
  readonly commissionedForThisRequest: boolean;
  /** The layout that the documents configure anyway. */
  readonly described: readonly Lack[];
  readonly adopts?: boolean | undefined;
  /** Known once MAAS was asked. */
  readonly use?: UnmarkedUse | undefined;
}

/** Requirements that a deployment with this layout no longer has. */
export const describedBy = (layout: MachineLayout | undefined): readonly Lack[] => [
  ...(layout?.storage ? ['root' as const] : []),
  ...(layout?.ports ? ['network' as const] : []),
];

/**
 * Takes a machine to a state from which it can be deployed: commissions a new or failed one, releases
 * our failed deployment, waits for running operations. Our machine in use is left unchanged.
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
  const described = describedBy(request.layout);
  let before: Awaited<ReturnType<typeof whatHappenedSince>>;
  let use: UnmarkedUse | undefined;
  return carryOut(
    context,
    systemId,
    {
      decide(machine, progress) {
        const claim = {
          me,
          site,
          described,
          adopts: request.adopt,
          use,
          failedForThisRequest: before === 'failed',
          abortedForThisRequest: before === 'aborted',
          commissionedForThisRequest: before === 'commissioned',
        };
        return decidePrepare(machine, claim, progress);
      },
      async recall() {
        before = await whatHappenedSince(context, request, signal);
        return before !== undefined;
      },
      async findUser(machine) {
        use = await useOf(client, machine, site, signal);
      },
      perform: async (action) => {
        if (action === 'test') {
          const failed = await failedScripts(client, systemId, 'testing', signal);
          return client.machines.test(
            systemId,
            failed.map(({ name }) => name),
            signal,
          );
        }
        return action === 'release'
          ? client.machines.release(systemId, { comment: `${agentNameOf(site)}: preparing the node` }, signal)
          : client.machines.commission(systemId, request.commission, signal);
      },
      async explain(failure: MachineFailure, machine: Machine): Promise<MachineFailure> {
        if (!('scripts' in failure) && failure.kind !== 'commissioning-aborted') return failure;
        try {
          // MAAS restores the earlier state, which may be a failed one.
          const request = (await MachineLog.read(client, systemId, signal)).abortion('commissioning');
          if (request || !('scripts' in failure)) return interference('commissioning-aborted', machine, request);
          const type = failure.kind === 'testing-failed' ? 'testing' : 'commissioning';
          const scripts = await failedScripts(client, systemId, type, signal);
          return { ...failure, scripts, message: `${failure.message}${scriptsText(scripts)}` };
        } catch (error) {
          // The failure is more important than its details.
          if (isMaasFailure(error, 'unauthorised', 'worker-clock') || signal?.aborted) throw error;
          return failure;
        }
      },
    },
    options,
  );
}

const LACKS: Readonly<Record<Lack, string>> = {
  root: 'no root filesystem',
  network: 'no interface with an address',
};

/** The next step towards a deployable machine, from one reading. */
export function decidePrepare(machine: Machine, claim: PrepareClaim, progress: Progress): Step {
  const { status } = machine;
  if (!isMachineStatus(status)) return { do: 'wait' };
  const hold = holdOf(machine, claim);
  const fail = (failure: MachineFailure): Step => ({ do: 'fail', failure });
  const refusal = (): Step | undefined => {
    if (hold === 'other-owner') return fail(otherOwner(machine));
    if (hold === 'other-site') return fail(otherSite(machine));
    return hold === 'unmarked' && !claim.adopts ? stepForUnmarked(machine, claim.use, progress) : undefined;
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
    progress.acknowledged.has('test') ||
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
    case MachineStatus.Ready: {
      const held = refusal();
      if (held) return held;
      // Such as after a layout that was applied in part, and is described no more.
      const missing = machine.lacks.filter((lack) => !claim.described.includes(lack));
      if (missing.length === 0 || hasCommissioned || claim.commissionedForThisRequest) return { do: 'done' };
      const why = missing.map((lack) => LACKS[lack]).join(' and ');
      return commission('commissioned', `${machine.hostname} had ${why}; it was commissioned again`);
    }
    case MachineStatus.Allocated:
    case MachineStatus.Deploying:
      return refusal() ?? { do: 'done' };
    case MachineStatus.Deployed:
      return hold === 'free' ? fail(otherOwner(machine)) : (refusal() ?? { do: 'done' });
    // Until a machine is Ready, its owner only started its commissioning and has no claim to it.
    case MachineStatus.New:
      if (hasCommissioned || claim.abortedForThisRequest) return fail(interference('commissioning-aborted', machine));
      return commission('commissioned', `${machine.hostname} was New; it was commissioned`);
    case MachineStatus.Broken: {
      if (hasCommissioned) return fail(wrongState(machine, 'prepared'));
      // One that was marked broken with its power on keeps its holder: it may be in use, and is fixed as Deployed.
      const held = refusal();
      if (held) return held;
      const why = machine.errorDescription === '' ? '' : ` ("${machine.errorDescription}")`;
      return commission('was-broken', `${machine.hostname} was marked broken${why}; it was commissioned again`);
    }
    case MachineStatus.FailedCommissioning:
      if (hasCommissioned || claim.failedForThisRequest) return fail(commissioningFailed(machine));
      return commissionAgain();
    case MachineStatus.FailedTesting:
      if (hasCommissioned || claim.failedForThisRequest) return fail(testingFailed(machine));
      // MAAS commissions no such machine.
      return (
        refusal() ?? {
          do: 'act',
          action: 'test',
          warnings: [
            { code: 'tested', message: `${machine.hostname} was Failed testing; the tests that had failed ran again` },
          ],
        }
      );
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
    // Do not ignore a failed erase: there may be data on the disks.
    case MachineStatus.FailedDiskErasing:
      return refusal() ?? fail(releaseFailed(machine));
    default:
      return fail(wrongState(machine, 'prepared'));
  }
}

/**
 * The result of a commissioning or testing that an earlier attempt started after the request. Details are optional: no
 * answer means there was none.
 */
async function whatHappenedSince(
  { client }: MachineContext,
  { systemId, since }: PrepareRequest,
  signal: AbortSignal | undefined,
): Promise<'failed' | 'aborted' | 'commissioned' | undefined> {
  if (since === undefined) return undefined;
  try {
    const { status, lacks } = await client.machines.read(systemId, signal);
    if (status === MachineStatus.New) {
      const log = await MachineLog.read(client, systemId, signal);
      return log.wasCommissioningAbortedSince(since) ? 'aborted' : undefined;
    }
    const isReady = status === MachineStatus.Ready && lacks.length > 0;
    if (!isReady && status !== MachineStatus.FailedCommissioning && status !== MachineStatus.FailedTesting)
      return undefined;
    const type = status === MachineStatus.FailedTesting ? 'testing' : 'commissioning';
    const results = await client.diagnostics.scriptResults(systemId, type, {}, signal);
    const isOfThisRequest = results.some(({ startedAt }) => startedAt !== undefined && startedAt * 1000 >= since);
    if (!isOfThisRequest) return undefined;
    return isReady ? 'commissioned' : 'failed';
  } catch (error) {
    // The operation's own reading reports problems of the machine itself.
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

/** MAAS' script states that are not failures: pending, running, passed, installing, skipped, … */
const harmless = new Set([0, 1, 2, 7, 9, 10, 11, 12]);

const maxScripts = 10;
const maxLines = 10;
const longestLine = 300;

/** The failed scripts of the latest commissioning or testing, with the end of their output. */
async function failedScripts(
  client: MaasClient,
  systemId: string,
  type: ResultType,
  signal?: AbortSignal,
): Promise<readonly FailedScript[]> {
  const results = await client.diagnostics.scriptResults(systemId, type, { includeOutput: true }, signal);
  return results
    .filter((result) => !harmless.has(result.status) || (result.exitStatus ?? 0) !== 0)
    .slice(0, maxScripts)
    .map((result) => ({
      name: result.name,
      statusName: result.statusName,
      exitStatus: result.exitStatus,
      lastLines: result.output
        .split('\n')
        .map((line) => line.trimEnd().slice(0, longestLine))
        .filter((line) => line !== '')
        .slice(-maxLines),
    }));
}
