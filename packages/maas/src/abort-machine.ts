import { systemClock } from './clock.ts';
import type { Machine } from './machine.ts';
import { type Claim, holdOf, markerOf } from './machine-hold.ts';
import { type MachineOutcome, notMarked, otherOwner, otherRun, otherSite } from './machine-outcome.ts';
import {
  carryOut,
  defaultPatience,
  type MachineContext,
  type OperationOptions,
  type Progress,
  type Step,
} from './operation.ts';
import { MachineStatus } from './status.ts';
import { agentNameOf } from './unmarked-machine.ts';

interface AbortRequest {
  readonly systemId: string;
  readonly site: string;
  /** Abort a deployment only if it is of this run; without it, any deployment of the site. */
  readonly run?: string;
  readonly comment?: string;
  /** Timeout for the abort to take effect; default 60 s. */
  readonly settleMs?: number;
}

/**
 * Aborts a deployment or commissioning of ours, once. If none is running, this is a success with
 * no action; not before a deployment of a machine that is allocated and marked for it can be on its way no more. The outcome's machine has the state after the abort (an aborted deployment
 * leaves the machine Allocated to us), since MAAS' answer to `abort` still has the old one.
 */
export async function abortMachine(
  context: MachineContext,
  request: AbortRequest,
  options: OperationOptions = {},
): Promise<MachineOutcome> {
  const { systemId, site, run } = request;
  const { signal } = options;
  const claim = { me: await context.client.username(signal), site, ...(run === undefined ? {} : { run }) };
  const clock = context.clock ?? systemClock;
  let isMarked = false;
  const look = (): Promise<MachineOutcome> => {
    const end = clock.now() + (request.settleMs ?? 60_000);
    return carryOut(
      context,
      systemId,
      {
        decide(machine, progress) {
          isMarked = machine.status === MachineStatus.Allocated && holdOf(machine, claim) === 'ours';
          return decideAbort(machine, claim, progress);
        },
        perform: () => context.client.machines.abort(systemId, request.comment ?? agentNameOf(site), signal),
      },
      { ...options, urgent: true, deadline: Math.min(end, options.deadline ?? end) },
    );
  };
  const outcome = await look();
  if (!isMarked || outcome.actions.length > 0) return outcome;
  await clock.sleep(context.patience?.settleMs ?? defaultPatience.settleMs, signal);
  return look();
}

/** The next step towards a machine with nothing of ours running. */
export function decideAbort(
  machine: Machine,
  claim: Pick<Claim, 'me' | 'site'> & { readonly run?: string },
  progress: Progress,
): Step {
  const { status } = machine;
  if (status === MachineStatus.Commissioning || status === MachineStatus.Testing) {
    if (holdOf(machine, claim) === 'other-owner') return { do: 'fail', failure: otherOwner(machine) };
    return progress.acknowledged.has('abort') ? { do: 'wait' } : { do: 'act', action: 'abort' };
  }
  if (status !== MachineStatus.Deploying) return { do: 'done' };
  const hold = holdOf(machine, claim);
  if (hold === 'other-owner' || hold === 'free') return { do: 'fail', failure: otherOwner(machine) };
  if (hold === 'other-site') return { do: 'fail', failure: otherSite(machine) };
  if (hold === 'unmarked') return { do: 'fail', failure: notMarked(machine) };
  const marked = markerOf(machine)?.run ?? '';
  if (claim.run !== undefined && marked !== '' && marked !== claim.run)
    return { do: 'fail', failure: otherRun(machine) };
  return progress.acknowledged.has('abort') ? { do: 'wait' } : { do: 'act', action: 'abort' };
}
