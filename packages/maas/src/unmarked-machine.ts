import type { MaasClient } from './client.ts';
import { isMaasFailure } from './failure.ts';
import type { Machine } from './machine.ts';
import { MachineLog } from './machine-log.ts';
import { notMarked } from './machine-outcome.ts';
import type { Progress, Step } from './operation.ts';
import { MachineStatus } from './status.ts';

/** Who uses a machine of our MAAS user that has no marker. */
export interface UnmarkedUse {
  /** Our site allocated it and had no time to mark it, or MAAS cleared the marker with a release of ours that it refused half-way. */
  readonly isOurs: boolean;
  /** By MAAS' log someone allocated it, and nobody has released it since. */
  readonly isAllocated: boolean;
  /** Signs of who uses it, for people: owner data, and the last request for it. */
  readonly signs: readonly string[];
}

/** The agent name with which we allocate machines, and with which comments of our requests begin. MAAS does not show it, but filters by it. */
export const agentNameOf = (site: string): string => `sitewright:${site}`;

/** @throws MaasError when MAAS cannot be reached, or refuses the key. */
export async function useOf(
  client: MaasClient,
  { systemId, annotations }: Machine,
  site: string,
  signal: AbortSignal | undefined,
): Promise<UnmarkedUse> {
  const [ours, log] = await Promise.all([
    isAllocatedBy(client, systemId, agentNameOf(site), signal),
    MachineLog.read(client, systemId, signal),
  ]);
  const last = log.lastUse();
  const isHalfReleased = last?.what === 'released' && isCommentOf(site, last.comment);
  const data = Object.entries(annotations).filter(([, value]) => value !== '');
  return {
    isOurs: ours || isHalfReleased,
    isAllocated: last !== undefined && last.what !== 'released',
    signs: [
      ...(data.length === 0
        ? []
        : [
            `owner data ${data
              .slice(0, 5)
              .map(([key, value]) => `${key}=${value}`)
              .join(', ')}`,
          ]),
      ...(last === undefined
        ? []
        : [
            `last ${last.what} by the MAAS user ${last.by}${last.comment === '' ? '' : ` ("${last.comment}")`} on ${last.at} UTC`,
          ]),
    ].map((sign) => sign.slice(0, 300)),
  };
}

async function isAllocatedBy(
  client: MaasClient,
  systemId: string,
  agentName: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    return (await client.machines.list({ systemIds: [systemId], agentNames: [agentName] }, signal)).length > 0;
  } catch (error) {
    if (!isMaasFailure(error, 'invalid')) throw error;
    return false;
  }
}

/** Our requests say so in their comments; those of tasks do not name the site. */
const isCommentOf = (site: string, comment: string): boolean =>
  comment === agentNameOf(site) || comment.startsWith(`${agentNameOf(site)}:`) || comment.startsWith('sitewright: ');

const inUse: ReadonlySet<number> = new Set([
  MachineStatus.Reserved,
  MachineStatus.Allocated,
  MachineStatus.Deploying,
  MachineStatus.Deployed,
  MachineStatus.FailedDeployment,
]);

/** Whether somebody uses a machine with this status. */
export const isInUse = (status: number): boolean => inUse.has(status);

/**
 * The step for a machine of our MAAS user that is in use and has no marker: find out who uses it, and refuse what is not ours.
 * `undefined`: it is ours.
 */
export function stepForUnmarked(
  machine: Machine,
  use: UnmarkedUse | undefined,
  progress: Pick<Progress, 'graceOver'>,
): Step | undefined {
  // A machine that was marked broken with its power on keeps its user; one whose commissioning was refused has none, but our owner.
  const isBroken = machine.status === MachineStatus.Broken;
  if (!isInUse(machine.status) && !isBroken) return undefined;
  // Whoever allocates a machine for a site marks it a moment later.
  if (machine.status === MachineStatus.Allocated && !progress.graceOver) return { do: 'wait-for-marker' };
  if (use === undefined) return { do: 'find-user' };
  return use.isOurs || (isBroken && !use.isAllocated)
    ? undefined
    : { do: 'fail', failure: notMarked(machine, use.signs) };
}

/** A decision from one reading, for those who do not carry it out: no grace period, and MAAS is asked for the user. */
export async function decideNow(
  decide: (use: UnmarkedUse | undefined, graceOver: boolean) => Step,
  find: () => Promise<UnmarkedUse>,
): Promise<Step> {
  const step = decide(undefined, true);
  return step.do === 'find-user' ? decide(await find(), true) : step;
}
