import { holdOf, MachineStatus, machinesNamed } from '@sitewright/maas';
import { clusterOfSite } from '../../src/clusters/cluster-of-site.ts';
import { maintenanceOfSite } from '../../src/clusters/maintenance.ts';
import { notInDocuments } from '../../src/clusters/named-in-documents.ts';
import { checksOfSite } from '../../src/clusters/package-checks.ts';
import { enterMachines } from '../../src/clusters/site-machines.ts';
import { plannedCheck } from '../../src/core/checks/check.ts';
import type { SitePace, SitePlan } from '../../src/core/contracts/site-run.ts';
import { given } from '../../src/core/data/given.ts';
import { checkHolds } from '../../src/core/deployment/check-holds.ts';
import type { GroupPlan } from '../../src/core/deployment/group-plan.ts';
import { planGroups } from '../../src/core/deployment/plan-groups.ts';
import { targetedStrategy } from '../../src/core/deployment/strategy.ts';
import { groupToWire, toRanges } from '../../src/core/site-run/plan.ts';
import {
  canonicalJson,
  type DeploymentConfiguration,
  type ResolvedNode,
  type ResolvedSite,
} from '../../src/documents/index.ts';
import { roomFor } from '../../src/runs/permits.ts';
import {
  type DeployedMachine,
  parseRevisionReference,
  type ResolvedRevision,
  type RevisionRecord,
  StoreError,
} from '../../src/store/index.ts';
import type { LoadPlan, LoadPlanAnswer, SiteActivities } from '../contract.ts';
import type { ActivityDependencies, ActivitySettings } from '../dependencies.ts';
import { proveClaim } from '../run/fencing.ts';
import { withHeartbeats } from '../run/heartbeats.ts';
import { limitedSite } from '../run/permits.ts';
import type { SiteCache } from './cache.ts';
import { markProvisioned } from './cluster.ts';
import { maintenanceWarnings, minimumWarnings, targetsInMaintenance, withoutNodes } from './maintenance.ts';

/** The plan for a workflow from a resolved revision: node names, groups, time limits, and nodes that need no work. */
export function planActivities(deps: ActivityDependencies, cache: SiteCache): Pick<SiteActivities, 'load_plan'> {
  return { load_plan: (request) => withHeartbeats(deps, ({ signal }) => loadPlan(deps, cache, request, signal)) };
}

async function loadPlan(
  deps: ActivityDependencies,
  cache: SiteCache,
  request: LoadPlan,
  signal: AbortSignal | undefined,
): Promise<LoadPlanAnswer> {
  const { site } = request;
  await proveClaim(deps, { site });
  const text = String(request.revision ?? 'latest');
  const reference = parseRevisionReference(text);
  const notFound: LoadPlanAnswer = { ok: false, failure: { kind: 'revision-not-found', site, revision: text } };
  if (reference === undefined) return notFound;
  let revision: ResolvedRevision;
  try {
    revision = await cache.load(site, reference);
  } catch (error) {
    // A conflict: a hash prefix that matches several revisions.
    if (error instanceof StoreError && ['not-found', 'conflict'].includes(error.failure.kind)) return notFound;
    throw error;
  }
  const { record } = revision;
  if (revision.site === null)
    return {
      ok: false,
      failure: { kind: 'documents-invalid', site, revision: record.number, problems: findingsOf(record, 'error') },
    };

  const resolved = { ...revision.site, checks: await checksOfSite(deps.store, site, revision.site.checks) };
  const { nodes, configuration } = resolved;
  const targets = request.nodes;
  const missing = notInDocuments(request, resolved);
  if (missing !== null) return { ok: false, failure: missing };
  const kept = await maintenanceOfSite(deps.store, site);
  const refused = targetsInMaintenance(targets ?? [], kept);
  if (refused !== null) return { ok: false, failure: refused };

  // A targeted run plans and reports only its own nodes.
  const wanted = targets ? nodes.filter((node) => targets.includes(node.name)) : nodes;
  const planned = wanted.filter(({ name }) => !kept.has(name));
  const groups = targets
    ? planGroups(targetedStrategy(targets), planned)
    : withoutNodes(resolved.groups, nodes, (node) => kept.has(node.name));
  const wantedNames = wanted.map(({ name }) => name);
  const holds = checkHolds(request.hold_before ?? [], groups, wantedNames);
  const difference =
    request.kind === 'update_site' ? await findDifference(deps, cache, site, planned, signal) : NO_DIFFERENCE;
  const names = nodes.map(({ name }) => name);
  await enterMachines(deps.store, site, names);
  const cluster = await clusterOfSite(deps.store, site);
  // Nodes that an update skips have their systems already.
  const done = difference.done.map((index) => planned[index]!.name);
  await markProvisioned(deps.store, site, done, false);
  const isKept = (name: string): boolean => kept.has(name);
  const leftOut = [...wantedNames, ...difference.removed].filter(isKept);
  const maintenance = leftOut.map((node) => ({ node, ...kept.get(node)! }));
  const plan: SitePlan = {
    site,
    revision: record.number,
    hash: record.hash,
    ...given({ commit: record.commitId ?? undefined, commit_url: record.commitUrl ?? undefined }),
    nodes: planned.map((node) => node.name),
    groups: groups.map(groupToWire),
    pace: paceOf(configuration, deps.settings),
    done: toRanges(difference.done),
    removed: difference.removed.filter((name) => !isKept(name)),
    ...given({
      ...{ cluster, maintenance: maintenance.length === 0 ? undefined : maintenance },
      checks: checksOf(request, resolved, groups),
      limits: await limitsOf(deps, cache, request, planned, difference),
    }),
    warnings: [
      ...maintenanceWarnings(maintenance),
      ...minimumWarnings(resolved.groups, groups),
      ...holds.warnings,
      ...findingsOf(record, 'warning'),
    ].slice(0, 20),
  };
  return { ok: true, plan };
}

/** How many of the nodes that need work the limits of the site let be changed at a time; undefined if it has none. */
async function limitsOf(
  { store }: ActivityDependencies,
  cache: SiteCache,
  { kind, site }: LoadPlan,
  planned: readonly ResolvedNode[],
  { done }: Difference,
): Promise<SitePlan['limits']> {
  const limited = kind === 'test_site' ? null : await limitedSite(cache, site);
  if (limited === null) return undefined;
  const isDone = new Set(done);
  const toDo = planned.flatMap(({ name }, index) => (isDone.has(index) ? [] : [name]));
  return { at_a_time: await roomFor(store, limited, toDo) };
}

/** The checks of the rollouts; to test a site, those that are named, or all. */
function checksOf(
  { kind, checks: wanted }: LoadPlan,
  { checks = [] }: ResolvedSite,
  groups: readonly GroupPlan[],
): SitePlan['checks'] {
  const ofRollouts = groups.flatMap(({ rollout }) => rollout?.checks ?? []);
  const names = new Set(kind === 'test_site' ? (wanted ?? checks.map(({ name }) => name)) : ofRollouts);
  return names.size === 0 ? undefined : checks.filter(({ name }) => names.has(name)).map(plannedCheck);
}

const findingsOf = ({ site, diagnostics }: RevisionRecord, severity: 'error' | 'warning'): string[] =>
  diagnostics
    .filter((one) => one.severity === severity)
    .map((one) => `${one.file ?? site}:${one.line ?? 1}: ${one.message}`);

interface Difference {
  readonly done: readonly number[];
  readonly removed: readonly string[];
}

const NO_DIFFERENCE: Difference = { done: [], removed: [] };

/**
 * Finds nodes that an update can skip: their documents are unchanged since the last good revision, and MAAS
 * confirms that we have deployed their machines for this site.
 */
async function findDifference(
  deps: ActivityDependencies,
  cache: SiteCache,
  site: string,
  nodes: readonly ResolvedNode[],
  signal: AbortSignal | undefined,
): Promise<Difference> {
  const old = await cache.lastGoodNodes(site);
  if (old.size === 0) return NO_DIFFERENCE;
  const now = new Set(nodes.map((node) => node.name));
  const removed = [...old.keys()].filter((name) => !now.has(name));
  const known = new Map((await deps.store.deployedMachines.list(site)).map((machine) => [machine.node, machine]));
  const missed = await documentsOfMachines(cache, site, known);
  const unchanged = nodes.flatMap((node, index) => {
    const earlier = missed.get(node.name) ?? old.get(node.name);
    return earlier && canonicalJson(earlier) === canonicalJson(node) ? [index] : [];
  });
  const maas = deps.maas();
  const me = await maas.client.username(signal);
  const deployed = await Promise.all(
    unchanged.map(async (index) => {
      const { name } = nodes[index]!;
      const found = await machinesNamed(maas, name, known.get(name), signal);
      const [machine] = found;
      return (
        found.length === 1 && machine?.status === MachineStatus.Deployed && holdOf(machine, { me, site }) === 'ours'
      );
    }),
  );
  return { done: unchanged.filter((_index, position) => deployed[position]), removed };
}

/**
 * The documents by which machines were deployed before the last good revision: the runs since then did not touch those, as they were
 * unchanged, or in maintenance.
 */
async function documentsOfMachines(
  cache: SiteCache,
  site: string,
  machines: ReadonlyMap<string, DeployedMachine>,
): Promise<ReadonlyMap<string, ResolvedNode>> {
  const found = new Map<string, ResolvedNode>();
  for (const number of new Set([...machines.values()].map(({ revision }) => revision))) {
    const { site: documents } = await cache.load(site, { number });
    for (const node of documents?.nodes ?? [])
      if (machines.get(node.name)?.revision === number) found.set(node.name, node);
  }
  return found;
}

function paceOf({ physical_provisioner: physical }: DeploymentConfiguration, settings: ActivitySettings): SitePace {
  return {
    verify_site: { interval: physical.verify_interval, timeout: physical.verify_timeout },
    prepare_site: { interval: physical.prepare_site_interval, timeout: physical.prepare_site_timeout },
    prepare: { interval: physical.prepare_node_interval, timeout: physical.prepare_node_timeout },
    deploy: { interval: physical.deploy_interval, timeout: physical.deploy_timeout },
    release: { interval: physical.destroy_interval, timeout: physical.destroy_timeout },
    max_parallel_nodes: Math.min(physical.max_parallel_nodes, settings.max_parallel_nodes),
    heartbeat_seconds: settings.heartbeat_seconds,
  };
}
