import { Context } from '@temporalio/activity';
import type { ResolvedNode } from '../src/documents/index.js';
import {
  holdOf,
  isMaasFailure,
  MaasError,
  type Machine,
  type MachineContext,
  MachineStatus,
  machineStatusName,
} from '../src/maas/index.js';
import type { SiteActivities, SiteCheck, SiteCheckAnswer } from './contract.js';
import type { ActivityDependencies } from './dependencies.js';
import { translated } from './failures.js';
import { alive } from './node-calls.js';
import type { SiteCache } from './site-cache.js';
import { syncTags } from './site-tags.js';

/** Checks of a site as a whole. They look again every `interval` seconds until `timeout` is over. */
export function siteCheckActivities(
  deps: ActivityDependencies,
  cache: SiteCache,
): Pick<SiteActivities, 'verify_site' | 'prepare_site' | 'inspect_nodes'> {
  return {
    verify_site: (request) => untilTrue(request, (signal) => verifySite(deps, cache, request, signal)),
    prepare_site: (request) => untilTrue(request, (signal) => prepareSite(deps, cache, request, signal)),
    inspect_nodes: ({ site, revision }) =>
      translated(async () => {
        const nodes = await nodesOf(cache, { site, revision });
        const maas = deps.maas();
        const me = await maas.client.username();
        const counts: Record<string, number> = {};
        const problems: { node: string; problem: string }[] = [];
        await Promise.all(
          nodes.map(async (node) => {
            const problem = problemOf(await maas.lookup.find(node.name), { me, site }, counts);
            if (problem) problems.push({ node: node.name, problem });
          }),
        );
        problems.sort((a, b) => (a.node < b.node ? -1 : 1));
        return { counts, problems: problems.slice(0, 300) };
      }),
  };
}

type Finding = SiteCheckAnswer & {
  /** Looking again cannot help. */
  readonly final?: boolean;
};

/** A check that fails is made again until its time is up; what it found last is the answer. */
function untilTrue(
  request: SiteCheck,
  check: (signal: AbortSignal | undefined) => Promise<Finding>,
): Promise<SiteCheckAnswer> {
  return alive(async ({ signal }) => {
    const deadline = Date.now() + request.pace.timeout * 1000;
    for (;;) {
      const { final, ...answer } = await check(signal);
      const left = deadline - Date.now();
      if (answer.ok || final || left <= 0) return answer;
      await Context.current().sleep(Math.min(left, Math.max(1, request.pace.interval) * 1000));
    }
  });
}

/**
 * MAAS answers, takes the key, and knows machines of this site. Only these nodes are asked about: a full
 * list of a big MAAS takes longer than a site's check may.
 */
async function verifySite(
  deps: ActivityDependencies,
  cache: SiteCache,
  request: SiteCheck,
  signal: AbortSignal | undefined,
): Promise<Finding> {
  const maas = deps.maas();
  const nodes = await nodesOf(cache, request);
  const warnings: string[] = [];
  let absent: string[];
  try {
    await maas.client.version(signal);
    const user = await maas.client.whoami(signal);
    if (!user.isSuperuser) {
      warnings.push(`${user.username} is no administrator of MAAS: machines that are not Ready cannot be commissioned`);
    }
    absent = await findAbsent(maas, nodes, signal);
  } catch (error) {
    if (!(error instanceof MaasError)) throw error;
    const { hint, retryable } = error.failure;
    const problem = hint === undefined ? error.message : `${error.message}: ${hint}`;
    return { ok: false, problems: [problem], warnings, final: !retryable };
  }
  if (nodes.length > 0 && absent.length === nodes.length && nodes.every((node) => node.boot_mac === undefined)) {
    const problem = `MAAS at ${maas.client.root} knows none of the ${nodes.length} nodes of site ${request.site}: is it the right MAAS, and are they enlisted?`;
    return { ok: false, problems: [problem], warnings };
  }
  for (const name of absent.slice(0, 10)) warnings.push(`MAAS knows no machine named ${name}`);
  if (absent.length > 10) warnings.push(`and ${absent.length - 10} more nodes that MAAS does not know`);
  return { ok: true, problems: [], warnings };
}

async function prepareSite(
  deps: ActivityDependencies,
  cache: SiteCache,
  request: SiteCheck,
  signal: AbortSignal | undefined,
): Promise<Finding> {
  const maas = deps.maas();
  const nodes = await nodesOf(cache, request);
  try {
    const missing = await findMissingImages(deps, maas, nodes, signal);
    if (missing.length > 0) return { ok: false, problems: missing, warnings: [] };
    return { ok: true, problems: [], warnings: await syncTags(maas, nodes, signal) };
  } catch (error) {
    if (!(error instanceof MaasError) || !error.failure.retryable) throw error;
    return { ok: false, problems: [error.message], warnings: [] };
  }
}

async function nodesOf(
  cache: SiteCache,
  { site, revision, nodes }: Pick<SiteCheck, 'site' | 'revision' | 'nodes'>,
): Promise<readonly ResolvedNode[]> {
  const parsed = await cache.load(site, { number: revision });
  const all = parsed.ok ? parsed.site.nodes : [];
  return nodes ? all.filter((node) => nodes.includes(node.name)) : all;
}

async function findAbsent(
  maas: MachineContext,
  nodes: readonly ResolvedNode[],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const found = await Promise.all(nodes.map((node) => maas.lookup.find(node.name, signal)));
  return nodes.filter((_node, index) => found[index]!.length === 0).map((node) => node.name);
}

/** Series that documents or settings name and MAAS has no image of: every deploy would be refused. */
async function findMissingImages(
  deps: ActivityDependencies,
  maas: MachineContext,
  nodes: readonly ResolvedNode[],
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const wanted = new Set(nodes.flatMap((node) => node.distro_series ?? deps.settings.distro_series ?? []));
  if (wanted.size === 0) return [];
  let names: string[];
  try {
    names = (await maas.client.diagnostics.bootResources(signal)).map((resource) => resource.name);
  } catch (error) {
    // Somebody who may not list images may still deploy them.
    if (isMaasFailure(error, 'forbidden')) return [];
    throw error;
  }
  // Version numbers ("22.04") are MAAS' own aliases: it alone can say whether it has them.
  const checkable = [...wanted].filter((series) => /^[a-z][\w-]*(\/[\w.-]+)?$/.test(series));
  const has = (series: string) => names.some((name) => name === series || name.endsWith(`/${series}`));
  return checkable
    .filter((series) => !has(series))
    .map(
      (series) =>
        `MAAS has no image of ${series} (it has ${names.join(', ') || 'none'}): import it, or correct the documents`,
    );
}

/** What keeps a machine from being as a deployed site wants it; also counts states. */
function problemOf(
  found: readonly Machine[],
  claim: { me: string; site: string },
  counts: Record<string, number>,
): string | null {
  const [machine] = found;
  const state = found.length > 1 ? 'ambiguous' : machine ? machineStatusName(machine.status) : 'unknown to MAAS';
  counts[state] = (counts[state] ?? 0) + 1;
  if (!machine) return 'MAAS knows no machine of this name';
  if (found.length > 1) return `MAAS knows ${found.length} machines of this name`;
  if (machine.status !== MachineStatus.Deployed) return `is ${state}, not Deployed`;
  const hold = holdOf(machine, claim);
  return hold === 'ours' ? null : `is Deployed, but not by this site (${hold}, owner ${machine.owner ?? 'nobody'})`;
}
