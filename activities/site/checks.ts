import {
  checkLayout,
  decideNow,
  decideRelease,
  hiddenFrom,
  holdOf,
  isMaasFailure,
  type KnownMachine,
  MaasError,
  type MaasUser,
  type Machine,
  type MachineContext,
  MachineStatus,
  machineStatusName,
  machinesNamed,
  missingSeries,
  needsKernelOptions,
  noProgress,
  resolveMachine,
  syncNetworks,
  useOf,
} from '@sitewright/maas';
import type { NetworkSettings } from '@sitewright/maas/machine-layout';
import { Context } from '@temporalio/activity';
import { given } from '../../src/core/data/given.ts';
import { counted, someOf } from '../../src/core/text/text.ts';
import type { ResolvedNode } from '../../src/documents/index.ts';
import type { SiteActivities, SiteCheck, SiteCheckAnswer } from '../contract.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import { assertMayStart, proveClaim } from '../run/fencing.ts';
import { withHeartbeats } from '../run/heartbeats.ts';
import { reserveAddresses } from './addresses.ts';
import type { SiteCache } from './cache.ts';
import { syncTags } from './tags.ts';

/** Checks of a site as a whole. A failed check is repeated every `interval` seconds until `timeout`. */
export function siteCheckActivities(
  deps: ActivityDependencies,
  cache: SiteCache,
): Pick<SiteActivities, 'verify_site' | 'prepare_site' | 'inspect_nodes'> {
  return {
    verify_site: (request) => untilPassed(deps, cache, request, verifySite),
    prepare_site: (request) => untilPassed(deps, cache, request, prepareSite),
    inspect_nodes: ({ site, revision, nodes: names }) =>
      withHeartbeats(deps, async ({ signal }) => {
        const nodes = await nodesOf(cache, { site, revision, ...given({ nodes: names }) });
        const maas = deps.maas();
        const user = await maas.client.user(signal);
        const known = await knownMachines(deps, site);
        const counts: Record<string, number> = {};
        const problems: { node: string; problem: string }[] = [];
        await Promise.all(
          nodes.map(async (node) => {
            const found = await machinesNamed(maas, node.name, known.get(node.name), signal);
            const problem = problemOf(found, { user, site }, counts);
            if (problem) problems.push({ node: node.name, problem });
          }),
        );
        problems.sort((a, b) => (a.node < b.node ? -1 : 1));
        return { counts, problems: problems.slice(0, 300) };
      }),
  };
}

type Finding = SiteCheckAnswer & {
  /** Repeating the check cannot help. */
  readonly final?: boolean;
};

/** The machines on which runs deployed nodes, by node: one that was renamed in MAAS is found by its id. */
type KnownMachines = ReadonlyMap<string, KnownMachine>;

const knownMachines = async ({ store }: ActivityDependencies, site: string): Promise<KnownMachines> =>
  new Map((await store.deployedMachines.list(site)).map((machine) => [machine.node, machine]));

interface CheckSubject {
  readonly deps: ActivityDependencies;
  readonly maas: ReturnType<ActivityDependencies['maas']>;
  readonly known: KnownMachines;
  readonly nodes: readonly ResolvedNode[];
  readonly networks: readonly NetworkSettings[];
  readonly request: SiteCheck;
  readonly signal: AbortSignal | undefined;
}

/** Repeats a failed check until its timeout. Returns the last result. */
function untilPassed(
  deps: ActivityDependencies,
  cache: SiteCache,
  request: SiteCheck,
  check: (subject: CheckSubject) => Promise<Finding>,
): Promise<SiteCheckAnswer> {
  return withHeartbeats(deps, async ({ signal }) => {
    const deadline = Date.now() + request.pace.timeout * 1000;
    for (;;) {
      const { final, ...answer } = await check({
        deps,
        maas: deps.maas(),
        known: await knownMachines(deps, request.site),
        nodes: await nodesOf(cache, request),
        networks: await networksOf(cache, request),
        request,
        signal,
      });
      const left = deadline - Date.now();
      if (answer.ok || final || left <= 0) return answer;
      await Context.current().sleep(Math.min(left, Math.max(1, request.pace.interval) * 1000));
    }
  });
}

/**
 * Checks that MAAS answers, accepts the key and knows machines of this site. Looks up only the site's nodes: listing
 * all machines of a big MAAS takes longer than the check may.
 */
async function verifySite({ deps, maas, known, nodes, request, signal }: CheckSubject): Promise<Finding> {
  const warnings: string[] = [];
  let absent: string[];
  let hidden: string;
  try {
    await maas.client.version(signal);
    const user = await maas.client.whoami(signal);
    hidden = hiddenFrom(user);
    const found = await findMachines(maas, known, nodes, signal);
    absent = found.filter(({ machines }) => machines.length === 0).map(({ node }) => node);
    // One who may not edit all machines may edit those of a resource pool.
    const kept = user.editsMachines ? [] : await findUneditable(maas, found, signal);
    if (kept.length > 0) {
      warnings.push(
        `${user.username} may not edit ${someOf(kept, 5)} in MAAS: machines that are not Ready cannot be commissioned or configured`,
      );
    }
    const missing = await findMissingImages(deps, maas, nodes, signal);
    if (missing) return { ...missing, warnings };
    const withoutRight = await findWithoutKernelOptions(maas, nodes, found, request.release === true, signal);
    if (withoutRight.length > 0) {
      const problem = `${user.username} may not change tags in MAAS, by which machines get kernel options: ${someOf(withoutRight, 5)} would be deployed without theirs. Give the user the right can_edit_global_entities, or take kernel_params out of the documents`;
      return { ok: false, problems: [problem], warnings, final: true };
    }
    const refused = request.release ? await findUnreleasable(maas, known, request.site, nodes, signal) : [];
    if (refused.length > 0) return { ok: false, problems: ['nothing was released', ...refused], warnings, final: true };
  } catch (error) {
    if (!(error instanceof MaasError)) throw error;
    return { ok: false, problems: [error.message], warnings, final: !error.failure.retryable };
  }
  if (nodes.length > 0 && absent.length === nodes.length && nodes.every((node) => node.boot_mac === undefined)) {
    const problem = `MAAS at ${maas.client.root} knows none of the ${counted(nodes.length, 'node')} of site ${request.site}${hidden}: is it the right MAAS, and are they enlisted?`;
    return { ok: false, problems: [problem], warnings };
  }
  for (const name of absent.slice(0, 10)) warnings.push(`MAAS knows no machine named ${name}${hidden}`);
  if (absent.length > 10) warnings.push(`and ${absent.length - 10} more nodes that MAAS does not know`);
  return { ok: true, problems: [], warnings };
}

async function prepareSite(subject: CheckSubject): Promise<Finding> {
  const { deps, maas, known, nodes, networks, request, signal } = subject;
  const { site } = request;
  let hasStarted = false;
  const acting = async (): Promise<void> => {
    await (hasStarted ? proveClaim : assertMayStart)(deps, { site });
    hasStarted = true;
  };
  await proveClaim(deps, { site });
  try {
    const missing = await findMissingImages(deps, maas, nodes, signal);
    if (missing) return missing;
    const synced = await syncNetworks(maas.client, networks, acting, signal);
    if (synced.problems.length > 0) return { ok: false, warnings: [], ...synced, final: true };
    const tags = await syncTags(deps.store, maas, { site, nodes, known, adopt: request.adopt }, acting, signal);
    const addresses = await reserveAddresses(deps.store, maas, site, acting, signal);
    return {
      ok: true,
      problems: [],
      warnings: [...tags.warnings, ...addresses.warnings],
      changes: [...synced.changes, ...tags.changes, ...addresses.changes],
    };
  } catch (error) {
    if (!(error instanceof MaasError) || !error.failure.retryable) throw error;
    return { ok: false, problems: [error.message], warnings: [] };
  }
}

async function nodesOf(
  cache: SiteCache,
  { site, revision, nodes }: Pick<SiteCheck, 'site' | 'revision' | 'nodes'>,
): Promise<readonly ResolvedNode[]> {
  const all = (await cache.load(site, { number: revision })).site?.nodes ?? [];
  return nodes ? all.filter((node) => nodes.includes(node.name)) : all;
}

async function networksOf(
  cache: SiteCache,
  { site, revision }: Pick<SiteCheck, 'site' | 'revision'>,
): Promise<readonly NetworkSettings[]> {
  return (await cache.load(site, { number: revision })).site?.networks ?? [];
}

interface FoundMachines {
  readonly node: string;
  readonly machines: readonly Machine[];
}

async function findMachines(
  maas: MachineContext,
  known: KnownMachines,
  nodes: readonly ResolvedNode[],
  signal: AbortSignal | undefined,
): Promise<readonly FoundMachines[]> {
  return await Promise.all(
    nodes.map(async ({ name }) => ({
      node: name,
      machines: await machinesNamed(maas, name, known.get(name), signal),
    })),
  );
}

/** Nodes whose machines the user may not commission and configure. */
async function findUneditable(
  { client }: MachineContext,
  found: readonly FoundMachines[],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const machines = found.flatMap(({ node, machines: [machine] }) => (machine ? [{ node, id: machine.systemId }] : []));
  const answers = await Promise.all(machines.map(({ id }) => client.mayEditMachine(id, signal)));
  return machines.filter((_machine, at) => !answers[at]).map(({ node }) => node);
}

/** Nodes that are to get kernel options, which the user has no right to give. */
async function findWithoutKernelOptions(
  { client }: MachineContext,
  nodes: readonly ResolvedNode[],
  found: readonly FoundMachines[],
  isRelease: boolean,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const wanted = nodes.flatMap(({ name, layout }) => {
    const machine = found.find(({ node }) => node === name)?.machines[0];
    const options = layout?.kernelOptions;
    // One that is deployed stays as it is, unless it is released first.
    const isKept = machine?.status === MachineStatus.Deployed && !isRelease;
    return machine && options !== undefined && !isKept ? [{ name, machine, options }] : [];
  });
  if (wanted.length === 0 || (await client.mayEditShared(signal))) return [];
  const needs = await Promise.all(
    wanted.map(({ machine, options }) => needsKernelOptions(client, machine, options, signal)),
  );
  return wanted.filter((_one, at) => needs[at]).map(({ name }) => name);
}

/** Finds series without an image in MAAS. Not final while MAAS imports images. */
async function findMissingImages(
  deps: ActivityDependencies,
  { client }: MachineContext,
  nodes: readonly ResolvedNode[],
  signal: AbortSignal | undefined,
): Promise<Finding | undefined> {
  const wanted = new Set(nodes.flatMap((node) => node.distro_series ?? deps.settings.distro_series ?? []));
  if (wanted.size === 0) return undefined;
  try {
    const images = await client.diagnostics.bootResources(signal);
    const names = [...new Set(images.map(({ name }) => name))].sort().join(', ') || 'none';
    const problems = missingSeries(wanted, images).map(
      (series) => `MAAS has no image of ${series} (it has ${names}): import it, or correct the documents`,
    );
    if (problems.length === 0) return undefined;
    return { ok: false, problems, warnings: [], final: !(await client.diagnostics.isImporting(signal)) };
  } catch (error) {
    // Users who may not list images may still deploy them.
    if (isMaasFailure(error, 'forbidden')) return undefined;
    throw error;
  }
}

/** Nodes that a release would refuse, each with the reason. All nodes are checked before the first is released. */
async function findUnreleasable(
  maas: MachineContext,
  known: KnownMachines,
  site: string,
  nodes: readonly ResolvedNode[],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const me = await maas.client.username(signal);
  const reasons = await Promise.all(
    nodes.map(async (node) => {
      const why = await whyNotRelease(maas, { me, site }, node, known.get(node.name), signal);
      return why === undefined ? [] : [`${node.name}: ${why.message} (${why.hint})`];
    }),
  );
  return reasons.flat();
}

async function whyNotRelease(
  maas: MachineContext,
  claim: { readonly me: string; readonly site: string },
  node: ResolvedNode,
  known: KnownMachine | undefined,
  signal: AbortSignal | undefined,
): Promise<{ readonly message: string; readonly hint: string } | undefined> {
  const request = { hostname: node.name, bootMac: node.boot_mac, domain: node.domain, known };
  const resolution = await resolveMachine(maas, request, signal);
  if (!resolution.ok) return resolution.failure;
  const { machine, hardware } = await maas.client.layouts.whole(resolution.machine.systemId, signal);
  const step = await decideNow(
    (use, graceOver) => decideRelease(machine, claim, { erase: false, use }, { ...noProgress, graceOver }),
    () => useOf(maas.client, machine, claim.site, signal),
  );
  if (step.do === 'fail') return step.failure;
  if (!node.layout) return undefined;
  // Anything that would be refused after the release, when the machine is empty.
  const { problems } = await checkLayout(maas.client, hardware, node.layout, signal);
  if (problems.length === 0) return undefined;
  const hint = 'correct the documents, or the machine and its networks in MAAS';
  return { message: `it cannot be configured as described: ${problems.join('; ')}`, hint };
}

/** How a machine differs from a deployed machine of the site, or null. Also counts states. */
function problemOf(
  found: readonly Machine[],
  { user, site }: { user: MaasUser; site: string },
  counts: Record<string, number>,
): string | null {
  const [machine] = found;
  const state = found.length > 1 ? 'ambiguous' : machine ? machineStatusName(machine.status) : 'unknown to MAAS';
  counts[state] = (counts[state] ?? 0) + 1;
  if (!machine) return `MAAS knows no machine of this name${hiddenFrom(user)}`;
  if (found.length > 1) return `MAAS knows ${found.length} machines of this name`;
  if (machine.status !== MachineStatus.Deployed) return `is ${state}, not Deployed`;
  const hold = holdOf(machine, { me: user.username, site });
  return hold === 'ours' ? null : `is Deployed, but not by this site (${hold}, owner ${machine.owner ?? 'none'})`;
}
