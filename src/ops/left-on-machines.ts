import { setTimeout as delay } from 'node:timers/promises';
import {
  holdOf,
  isInUse,
  leftOn,
  MaasConfigurationError,
  type Machine,
  type MachineContext,
  takeOff,
} from '@sitewright/maas';
import { whileUnclaimed } from '../runs/claims.ts';
import type { Store } from '../store/index.ts';

const EVERY_MS = 600_000;
/** A change that MAAS has not answered by then is given up; a run that opens meanwhile waits longer. */
const LIMIT_MS = 20_000;

interface Looking {
  readonly store: Pick<Store, 'sites' | 'claims' | 'deployedMachines' | 'givenTags'>;
  readonly maas: () => MachineContext;
  readonly log?: (fields: Readonly<Record<string, unknown>>, message: string) => void;
}

interface Left {
  readonly machine: Machine;
  readonly tags: readonly string[];
}

/**
 * Looks every ten minutes for machines that people or other tools have taken from a site in MAAS, and takes off what its runs put
 * there: nobody inherits our kernel options. A release by a run does the same.
 */
export function keepMachinesClean(deps: Looking, everyMs = EVERY_MS) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const done = (async () => {
    let failed: string | undefined;
    for (;;) {
      await delay(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      const failure = await cleanAll(deps, signal).then(
        () => undefined,
        (error: unknown) => (error instanceof MaasConfigurationError ? undefined : String(error)),
      );
      if (failure !== undefined && failure !== failed && !signal.aborted)
        deps.log?.({ error: failure }, 'what runs left on machines cannot be taken off at the moment');
      failed = failure;
    }
  })();
  return {
    async stop(): Promise<void> {
      stopping.abort();
      await done;
    },
  };
}

async function cleanAll(deps: Looking, signal: AbortSignal): Promise<void> {
  for (const { name } of await deps.store.sites.list()) await takeOffLeft(deps, name, signal);
}

/** Takes off what runs of a site left on machines that it does not have any more, unless a run has the site. */
export async function takeOffLeft(deps: Looking, site: string, stop: AbortSignal): Promise<void> {
  const { store, log } = deps;
  const { client } = deps.maas();
  if ((await store.claims.holder({ site })) !== null) return;
  if ((await leftBy(deps, client, site, stop)).length === 0) return;
  await whileUnclaimed(store, { site }, async () => {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(LIMIT_MS)]);
    for (const { machine, tags } of await leftBy(deps, client, site, signal)) {
      const { kept, warnings } = await takeOff(client, machine, tags, signal);
      const { hostname: name, systemId } = machine;
      if (kept.length === 0) await store.givenTags.forget(site, systemId);
      for (const { message } of warnings) log?.({ site, machine: name }, message);
      const gone = tags.filter((tag) => !kept.includes(tag));
      if (gone.length > 0) log?.({ site, machine: name, tags: gone }, 'took off what runs left on a machine');
    }
  });
}

/**
 * A machine that the site deployed, and that is not its any more; or one that others use. One that is free and was never deployed
 * keeps the tags of its documents.
 */
async function leftBy(
  { store }: Looking,
  client: MachineContext['client'],
  site: string,
  signal: AbortSignal,
): Promise<readonly Left[]> {
  const [deployed, given] = await Promise.all([store.deployedMachines.list(site), store.givenTags.list(site)]);
  const wereOurs = new Set(deployed.map(({ systemId }) => systemId));
  const systemIds = [...new Set([...wereOurs, ...given.keys()])];
  if (systemIds.length === 0) return [];
  const me = await client.username(signal);
  const machines = await client.machines.list({ systemIds }, signal);
  return machines.flatMap((machine) => {
    const { systemId, status } = machine;
    const isLeft = holdOf(machine, { me, site }) !== 'ours' && (wereOurs.has(systemId) || isInUse(status));
    const tags = isLeft ? leftOn(machine, given.get(systemId) ?? []) : [];
    return tags.length === 0 ? [] : [{ machine, tags }];
  });
}
