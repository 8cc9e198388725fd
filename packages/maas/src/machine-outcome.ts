import { describeFailure, type MaasFailure } from './failure.ts';
import type { LayoutRefused } from './layout/apply-layout.ts';
import type { Machine, MachineSummary } from './machine.ts';
import { markerOf } from './machine-hold.ts';
import type { LoggedRequest } from './machine-log.ts';
import { machineStatusName } from './status.ts';

/** A change an operation sends to MAAS. */
export type MachineAction =
  | 'create'
  | 'commission'
  | 'test'
  | 'configure'
  | 'allocate'
  | 'annotate'
  | 'deploy'
  | 'untag'
  | 'release'
  | 'abort';

/** Something the operator should know although the operation succeeded. */
export interface MachineWarning {
  readonly code:
    | 'adopted'
    | 'os-unknown'
    | 'layout-unknown'
    | 'not-marked'
    | 'label-not-set'
    | 'was-broken'
    | 'commissioned'
    | 'tested'
    | 'released'
    | 'released-before'
    | 'tags-kept'
    | 'hostname-differs'
    | 'mac-differs'
    | 'erase-not-applied'
    | 'nothing-to-release'
    | 'details-missing';
  readonly message: string;
}

/** A script of commissioning or testing that did not pass. */
export interface FailedScript {
  readonly name: string;
  readonly statusName: string;
  readonly exitStatus: number | undefined;
  /** Its last lines of output. */
  readonly lastLines: readonly string[];
}

interface WithText {
  readonly message: string;
  readonly hint: string;
}

/**
 * Why an operation on one machine failed. Plain data for reports and histories. An unreachable MAAS
 * is not among them; that is thrown as a retryable `MaasError`.
 */
export type MachineFailure =
  | (WithText & { readonly kind: 'unknown-machine'; readonly hostname: string })
  | (WithText & { readonly kind: 'ambiguous-hostname'; readonly candidates: readonly string[] })
  | (WithText & { readonly kind: 'mac-in-use'; readonly usedBy: string })
  /** MAAS no longer has the machine. */
  | (WithText & { readonly kind: 'vanished'; readonly systemId: string })
  | (WithText & { readonly kind: 'other-owner'; readonly owner: string })
  | (WithText & { readonly kind: 'other-site'; readonly site: string; readonly node: string })
  | (WithText & { readonly kind: 'other-run'; readonly run: string })
  | (WithText & { readonly kind: 'not-marked' })
  | (WithText & { readonly kind: 'other-os'; readonly wanted: string; readonly actual: string })
  | (WithText & { readonly kind: 'other-layout' })
  /** Its interfaces or disks cannot be configured as described. */
  | (WithText & {
      readonly kind: 'layout-refused';
      readonly problems: readonly string[];
      /** Earlier changes, in order. */
      readonly changed: readonly string[];
    })
  /** MAAS accepts a change of its interfaces or disks, and the machine stays as it was. */
  | (WithText & {
      readonly kind: 'layout-stuck';
      readonly wanted: string;
      readonly found: string;
      readonly difference: string;
      readonly changed: readonly string[];
    })
  | (WithText & { readonly kind: 'locked' })
  /** A state the operation cannot leave. */
  | (WithText & { readonly kind: 'wrong-state'; readonly status: number; readonly statusName: string })
  | (WithText & { readonly kind: 'commissioning-failed'; readonly scripts: readonly FailedScript[] })
  | (WithText & { readonly kind: 'testing-failed'; readonly scripts: readonly FailedScript[] })
  | (WithText & { readonly kind: 'deployment-failed'; readonly reason: string; readonly events: readonly string[] })
  /** Someone aborted or released our work; it is not started again against their will. */
  | (WithText & { readonly kind: Interference; readonly request?: LoggedRequest })
  | (WithText & { readonly kind: 'release-failed'; readonly status: number; readonly reason: string })
  /** MAAS refuses the call permanently; has its text. */
  | (WithText & { readonly kind: 'refused'; readonly action: MachineAction | 'read'; readonly maas: MaasFailure })
  /** MAAS answers but fails for this machine even after retries (no rack reaches its BMC, an internal error). */
  | (WithText & { readonly kind: 'maas-error'; readonly action: MachineAction; readonly maas: MaasFailure })
  | (WithText & { readonly kind: 'no-effect'; readonly action: MachineAction; readonly status: number })
  | (WithText & { readonly kind: 'timed-out'; readonly status: number; readonly statusName: string });

/** Interference of people with a machine in MAAS during a run. */
type Interference = 'deployment-aborted' | 'commissioning-aborted' | 'released-by-hand';

/** Result of an operation on one machine. */
export type MachineOutcome =
  | {
      readonly ok: true;
      readonly machine: MachineSummary;
      /** Changes that took effect, in order; empty when none was needed. */
      readonly actions: readonly MachineAction[];
      readonly warnings: readonly MachineWarning[];
    }
  | {
      readonly ok: false;
      readonly failure: MachineFailure;
      /** As last read; absent when it was not found. */
      readonly machine?: MachineSummary;
      readonly actions: readonly MachineAction[];
      readonly warnings: readonly MachineWarning[];
    };

const named = (machine: Machine): string => `${machine.hostname} (${machine.systemId})`;
const state = (machine: Machine): string => machineStatusName(machine.status);

export const otherOwner = (machine: Machine): MachineFailure => ({
  kind: 'other-owner',
  owner: machine.owner ?? '',
  message:
    machine.owner === null
      ? `${named(machine)} is ${state(machine)}, and MAAS names no owner`
      : `${named(machine)} is ${state(machine)} and belongs to the MAAS user ${machine.owner}`,
  hint: 'ask its owner to release it, or remove the node from the site',
});

export function otherSite(machine: Machine): MachineFailure {
  const { site = '', node = '' } = markerOf(machine) ?? {};
  return {
    kind: 'other-site',
    site,
    node,
    message: `${named(machine)} is ${state(machine)} for site ${site}, node ${node}`,
    hint: 'a machine belongs to one site: release it there first',
  };
}

export function otherRun(machine: Machine): MachineFailure {
  const run = markerOf(machine)?.run ?? '';
  return {
    kind: 'other-run',
    run,
    message: `${named(machine)} is ${state(machine)} for another run (${run})`,
    hint: 'it is left unchanged for that run',
  };
}

/** @param signs of who uses it */
export const notMarked = (machine: Machine, signs: readonly string[] = []): MachineFailure => ({
  kind: 'not-marked',
  message: `${named(machine)} is ${state(machine)} under our MAAS user, but not by this site${signs.length === 0 ? '' : ` (${signs.join('; ')})`}`,
  hint: 'release it in MAAS if it is not needed, or adopt it: site deploy SITE --adopt NODE',
});

const interferences: Readonly<Record<Interference, string>> = {
  'deployment-aborted': 'the deployment was aborted in MAAS',
  'commissioning-aborted': 'the commissioning was aborted in MAAS',
  'released-by-hand': 'the machine was released in MAAS while this run held it',
};

/** @param request from MAAS' log, if it was found */
export function interference(kind: Interference, machine: Machine, request?: LoggedRequest): MachineFailure {
  const by = request?.by ? ` by the MAAS user ${request.by}` : '';
  const why = request?.comment ? ` ("${request.comment}")` : '';
  const when = request ? `${by}${why} on ${request.at} UTC` : '';
  return {
    kind,
    ...(request ? { request } : {}),
    message: `${interferences[kind]}${when}: ${named(machine)} is ${state(machine)}${heldBy(machine)}`,
    hint: 'it is left unchanged, since someone may have had a reason; retry the node, or start the run again, to deploy it',
  };
}

/** The new holder, if it was allocated again after its release. */
function heldBy(machine: Machine): string {
  if (machine.owner === null || markerOf(machine) !== undefined) return '';
  return `, held by ${machine.owner} without the marker of a site`;
}

export const otherOs = (machine: Machine, wanted: string): MachineFailure => {
  const actual = `${machine.osystem}/${machine.distroSeries}`;
  return {
    kind: 'other-os',
    wanted,
    actual,
    message: `${named(machine)} is Deployed with ${actual}, not with ${wanted}`,
    hint: 'redeploy the node (release, then deploy) to change its operating system',
  };
};

export const otherLayout = (machine: Machine): MachineFailure => ({
  kind: 'other-layout',
  message: `${named(machine)} is Deployed with other interfaces, disks or kernel options than its documents describe`,
  hint: 'redeploy the node (release, then deploy) to change them',
});

export const layoutFailed = (machine: Machine, { problem, hint, changed, message }: LayoutRefused): MachineFailure => ({
  ...(problem.kind === 'refused'
    ? { kind: 'layout-refused', problems: problem.problems }
    : { ...problem, kind: 'layout-stuck' }),
  changed,
  message: `${named(machine)} cannot be configured as described: ${message}`,
  hint,
});

export const locked = (machine: Machine): MachineFailure => ({
  kind: 'locked',
  message: `${named(machine)} is locked in MAAS`,
  hint: 'unlock it in MAAS first',
});

const stateHints: Readonly<Record<number, string>> = {
  0: 'prepare (commission) it first',
  2: 'prepare (commission) it first',
  3: 'find out why it is missing in MAAS, and set it to New',
  5: 'remove the reservation',
  7: 'it is retired: remove the node from the site, or enlist the machine again',
  8: 'repair it and mark it fixed, or prepare (commission) it',
  13: 'check its power control, then release it again',
  15: 'the erase of its disks failed: release it again, with or without erasing',
  16: 'someone is working on it: exit rescue mode first',
  17: 'someone is working on it: exit rescue mode first',
  18: 'exit rescue mode first',
  20: 'check its power control, then exit rescue mode again',
  22: 'repair it and test it again in MAAS, or override the failed tests there',
};

export const wrongState = (machine: Machine, operation: string): MachineFailure => ({
  kind: 'wrong-state',
  status: machine.status,
  statusName: state(machine),
  message: `${named(machine)} is ${state(machine)}, it cannot be ${operation}${because(machine)}`,
  hint: stateHints[machine.status] ?? 'check the machine in MAAS',
});

export const commissioningFailed = (machine: Machine): MachineFailure => ({
  kind: 'commissioning-failed',
  scripts: [],
  message: `commissioning of ${named(machine)} failed${because(machine)}`,
  hint: 'check the failed scripts, then prepare the node again',
});

export const testingFailed = (machine: Machine): MachineFailure => ({
  kind: 'testing-failed',
  scripts: [],
  message: `the hardware tests of ${named(machine)} failed${because(machine)}`,
  hint: 'repair the hardware, or override the failed tests in MAAS',
});

export const deploymentFailed = (machine: Machine): MachineFailure => ({
  kind: 'deployment-failed',
  reason: machine.errorDescription || machine.statusMessage,
  events: [],
  message: `deployment of ${named(machine)} failed${because(machine)}`,
  hint: 'check the installation log in MAAS; retry the node to release it and deploy it again',
});

export const releaseFailed = (machine: Machine): MachineFailure => ({
  kind: 'release-failed',
  status: machine.status,
  reason: machine.errorDescription || machine.statusMessage,
  message: `release of ${named(machine)} ended in ${state(machine)}${because(machine)}`,
  hint: stateHints[machine.status] ?? 'check the machine in MAAS',
});

export const vanished = (systemId: string): MachineFailure => ({
  kind: 'vanished',
  systemId,
  message: `MAAS has no machine ${systemId} any more`,
  hint: 'it was deleted in MAAS: enlist it again, or remove the node from the site',
});

export const timedOut = (machine: Machine): MachineFailure => ({
  kind: 'timed-out',
  status: machine.status,
  statusName: state(machine),
  message: `${named(machine)} was still ${state(machine)} at the timeout`,
  hint: 'MAAS continues its work unless it is aborted',
});

export const refused = (action: MachineAction | 'read', maas: MaasFailure): MachineFailure => ({
  kind: 'refused',
  action,
  maas,
  message: describeFailure(maas),
  hint: maas.hint ?? 'MAAS will not do this for the machine in its current state',
});

export const maasErrorFor = (action: MachineAction, maas: MaasFailure): MachineFailure => ({
  kind: 'maas-error',
  action,
  maas,
  message: describeFailure(maas),
  hint: 'check that a rack controller is up and reaches the BMC of the machine',
});

export const noEffect = (machine: Machine, action: MachineAction): MachineFailure => ({
  kind: 'no-effect',
  action,
  status: machine.status,
  message: `MAAS accepts ${action} of ${named(machine)}, but it stays ${state(machine)}`,
  hint: 'check the machine in MAAS',
});

/** Failures over the state of a machine, after which operators want to know the changes. */
const stateFailures: ReadonlySet<MachineFailure['kind']> = new Set([
  'other-owner',
  'other-site',
  'other-run',
  'other-os',
  'other-layout',
  'layout-refused',
  'layout-stuck',
  'locked',
  'wrong-state',
  'refused',
]);

const actionTexts: Readonly<Record<MachineAction, string>> = {
  create: 'created it',
  commission: 'commissioned it',
  test: 'tested it again',
  configure: 'configured its interfaces and disks',
  allocate: 'allocated it',
  annotate: 'marked it',
  deploy: 'started to deploy it',
  untag: 'removed our tags from it',
  release: 'released it',
  abort: 'aborted it',
};

/** The failure with the changes the step had made. */
export function withChanges(
  failure: MachineFailure,
  actions: readonly MachineAction[],
  isFirstTry: boolean,
): MachineFailure {
  // A partly applied layout reports that itself.
  if (!stateFailures.has(failure.kind) || ('changed' in failure && failure.changed.length > 0)) return failure;
  if (actions.length > 0) {
    const done = [...new Set(actions)].map((action) => actionTexts[action]).join(', ');
    return { ...failure, hint: `${failure.hint}; before that, this step had ${done}` };
  }
  // An earlier attempt may have changed something.
  return isFirstTry ? { ...failure, hint: `${failure.hint}; this step changed nothing` } : failure;
}

/** `error_description` stays after its failure, so it is quoted only for failed states. */
function because(machine: Machine): string {
  const failed = [2, 8, 11, 13, 15, 18, 20, 22].includes(machine.status);
  return failed && machine.errorDescription !== '' ? `: ${machine.errorDescription}` : '';
}
