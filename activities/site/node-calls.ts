import {
  abortMachine,
  agentNameOf,
  deployMachine,
  type MachineContext,
  MachineStatus,
  type MachineSummary,
  machineFacts,
  machineStatusName,
  type OperationOptions,
  prepareMachine,
  releaseMachine,
  resolveMachine,
} from '@sitewright/maas';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { given } from '../../src/core/data/given.ts';
import type { NodeResult } from '../../src/core/deployment/baremetal.ts';
import { IN_FLIGHT } from '../../src/core/deployment/failures.ts';
import { claimedName } from '../../src/core/run/claimed-name.ts';
import type { ResolvedNode } from '../../src/documents/index.ts';
import { type Store, unlessNotFound } from '../../src/store/index.ts';
import type { AbortAnswer, NodeCall, SiteActivities } from '../contract.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import { asNodeResult } from '../failures.ts';
import { assertMayStart, proveClaim } from '../run/fencing.ts';
import { withHeartbeats } from '../run/heartbeats.ts';
import { provePermit } from '../run/permits.ts';
import type { SiteCache } from './cache.ts';
import { markProvisioned, markReleased } from './cluster.ts';
import { recordDeployed } from './deployed-machine.ts';
import { forgetTags, removedTags, restoreTags } from './tags.ts';

type NodeActivities = Pick<
  SiteActivities,
  'prepare_node' | 'deploy_node' | 'release_node' | 'abort_node' | 'look_at_node'
>;

/** Each activity reads the real state of the node's machine first and continues from there. */
export function nodeActivities(deps: ActivityDependencies, cache: SiteCache): NodeActivities {
  /** @param ends passed to `endIdentity` before MAAS changes the machine */
  const onMachine =
    (ends: 'release' | 'deploy', work: (machine: Found, options: OperationOptions) => Promise<NodeResult>) =>
    (request: NodeCall) =>
      withHeartbeats(deps, async (options) => {
        const { site, node } = request;
        await proveClaim(deps, { site }, request.run_id);
        const found = await findMachine(deps, cache, request, options.signal);
        if (!found.ok) return found.result;
        const carriedOut = work(found, {
          ...options,
          givenTags: await deps.store.givenTags.get(site, found.systemId),
          maxIntervalMs: Math.max(0.05, request.interval) * 1000,
          // From here on the old installation, or a copy of it, can no longer authenticate.
          acting: async (action, isFirst) => {
            // A step may take an hour. Once it has changed something, it is running work, which a pause lets finish.
            await (isFirst ? assertMayStart : proveClaim)(deps, { site }, request.run_id);
            if (request.permit !== undefined) {
              const overrides = request.permit === 'overridden';
              await provePermit(deps, cache, {
                site,
                run_id: request.run_id,
                work: 'deploy',
                machine: node,
                overrides,
              });
            }
            if (action === 'release' || action === 'deploy') await deps.endIdentity?.(site, node, ends);
          },
        });
        return carriedOut.catch((error: unknown) => {
          const { signal } = options;
          // A worker that ends has no result: another one goes on.
          const isCutShort = Context.current().cancellationDetails?.cancelRequested === true;
          const request = isCutShort && signal ? found.maas.client.givenUp(signal) : undefined;
          if (request === undefined) throw error;
          const message = `MAAS had not answered ${request}`;
          return { ok: false, failure: { kind: IN_FLIGHT, message } } satisfies NodeResult;
        });
      });

  return {
    prepare_node: onMachine('release', async ({ maas, systemId, node, request, warnings }, options) => {
      const since = Context.current().info.scheduledTimestampMs;
      return withWarnings(
        asNodeResult(
          await prepareMachine(
            maas,
            { systemId, site: request.site, since, layout: node.layout, adopt: request.adopt },
            options,
          ),
        ),
        warnings,
      );
    }),

    deploy_node: onMachine('deploy', async ({ maas, systemId, node, request, warnings: found }, options) => {
      const warnings = [...found];
      const series = node.distro_series ?? deps.settings.distro_series;
      const run = request.attempt > 1 ? `${request.run_id}#${request.attempt}` : request.run_id;
      const userData = deps.userData ? await deps.userData(request.site, request.node, run) : deps.settings.user_data;
      const deployment = {
        systemId,
        site: request.site,
        node: request.node,
        run,
        labels: node.labels,
        layout: node.layout,
        adopt: request.adopt,
        ...given({ distroSeries: series, hweKernel: node.hwe_kernel, userData }),
      };
      const outcome = await deployMachine(maas, deployment, options);
      if (outcome.ok) {
        const prove = async () => void (await proveClaim(deps, { site: request.site }, request.run_id));
        const restored = await restoreTags(
          deps.store,
          maas,
          request.site,
          node,
          outcome.machine,
          prove,
          options.signal,
        );
        warnings.push(...restored.warnings);
        const whole = await maas.client.layouts.machine(systemId, options.signal);
        const facts = machineFacts(whole.hardware);
        const reported = new Map([[request.node, facts]]);
        await prove();
        const before = (await cache.lastGoodNodes(request.site)).get(request.node);
        const tags = { added: node.tags, removed: removedTags(node, before) };
        if (request.adopt && outcome.warnings.some(({ code }) => code === 'adopted'))
          await auditAdoption(deps.store, request, systemId);
        await recordDeployed(deps.store, request, whole, outcome.isReinstalled, tags);
        await markProvisioned(deps.store, request.site, [request.node], outcome.isReinstalled, reported);
      }
      return withWarnings(asNodeResult(outcome), warnings);
    }),

    release_node: onMachine('release', async ({ maas, systemId, request }, options) => {
      const comment = `${agentNameOf(request.site)}: run ${request.run_id}`;
      const outcome = await releaseMachine(
        maas,
        { systemId, site: request.site, comment, run: request.run_id, ...(request.erase ? { erase: true } : {}) },
        options,
      );
      const isKept = outcome.warnings.some(({ code }) => code === 'released-before');
      if (outcome.ok && !isKept) {
        await recordReleased(deps.store, request);
        await forgetTags(deps.store, request.site, outcome);
      }
      return asNodeResult(outcome);
    }),

    abort_node: (request) =>
      withHeartbeats(deps, (options) =>
        unlessMaasIsSilent(deps, request, options.signal, async (signal) => {
          await proveClaim(deps, { site: request.site }, request.run_id);
          const found = await findMachine(deps, cache, request, signal);
          if (!found.ok) return nothingToAbort(found.result);
          const { maas, systemId } = found;
          const outcome = await abortMachine(
            maas,
            { systemId, site: request.site, comment: `sitewright: run ${request.run_id}` },
            {
              ...options,
              signal,
              acting: async () => void (await proveClaim(deps, { site: request.site }, request.run_id)),
            },
          );
          if (!outcome.ok) {
            const { kind, message } = outcome.failure;
            return { found: kind === 'timed-out' ? 'running' : 'failed', message };
          }
          // The call that released it did not come to record that.
          if (isBare(outcome.machine)) await recordReleased(deps.store, request);
          if (outcome.actions.includes('abort'))
            return { found: 'aborted', message: `aborted; ${describe(outcome.machine)}` };
          return answerFor(outcome.machine);
        }),
      ),

    look_at_node: (request) =>
      withHeartbeats(deps, async (options) => {
        const found = await findMachine(deps, cache, request, options.signal);
        return found.ok
          ? answerFor(await found.maas.client.machines.read(found.systemId, options.signal))
          : nothingToAbort(found.result);
      }),
  };
}

/** Once for each run. */
async function auditAdoption(store: Store, { site, node, run_id }: NodeCall, systemId: string): Promise<void> {
  // A store that was restored may not have it: its next record ends the run.
  const run = await store.runs.get(run_id).catch(unlessNotFound);
  await store.audit.append({
    id: `adopt-${run_id}-${node}`,
    actor: run?.startedBy ?? claimedName(undefined),
    action: 'machine.adopt',
    target: `site/${site}`,
    details: { node, run: run_id, system_id: systemId },
    ...given({ reason: run?.reason ?? undefined }),
  });
}

async function recordReleased(store: Store, { site, node }: NodeCall): Promise<void> {
  await store.deployedMachines.forget(site, node);
  await markReleased(store, site, [node]);
}

const BARE: readonly number[] = [
  MachineStatus.Ready,
  MachineStatus.Allocated,
  MachineStatus.Releasing,
  MachineStatus.DiskErasing,
];

/** Whether a machine has no operating system, or loses it now. */
const isBare = ({ status }: MachineSummary): boolean => BARE.includes(status);

/** An abort gives up when MAAS has not answered for this long, and it has itself tried for this long. */
const SILENT_MS = 30_000;
const TRIED_MS = 5_000;

/** Cancelling a run does not wait for a MAAS that hangs or is unreachable: unaborted work is reported. */
async function unlessMaasIsSilent(
  { maas }: Pick<ActivityDependencies, 'maas'>,
  { node }: NodeCall,
  cancelled: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<AbortAnswer>,
): Promise<AbortAnswer> {
  const { client } = maas();
  const { scheduledTimestampMs } = Context.current().info;
  const silent = new AbortController();
  const look = (): void => {
    const now = Date.now();
    const since = client.silentSince;
    const hasTried = now - scheduledTimestampMs >= TRIED_MS;
    if (since !== undefined && now - since >= SILENT_MS && hasTried) silent.abort(since);
  };
  const timer = setInterval(look, 1_000);
  try {
    return await work(cancelled === undefined ? silent.signal : AbortSignal.any([cancelled, silent.signal]));
  } catch (error) {
    look();
    if (!silent.signal.aborted || cancelled?.aborted) throw error;
    const since = new Date(Number(silent.signal.reason)).toISOString().slice(11, 16);
    return {
      found: 'failed',
      message: `MAAS has not answered since ${since} UTC: its work on ${node} was not aborted and may continue`,
    };
  } finally {
    clearInterval(timer);
  }
}

interface Found {
  readonly ok: true;
  readonly maas: MachineContext;
  readonly request: NodeCall;
  readonly node: ResolvedNode;
  readonly systemId: string;
  readonly warnings: readonly string[];
}

async function findMachine(
  deps: ActivityDependencies,
  cache: SiteCache,
  request: NodeCall,
  signal: AbortSignal | undefined,
): Promise<Found | { readonly ok: false; readonly result: NodeResult }> {
  const maas = deps.maas();
  const node = await findNode(cache, request);
  if (request.system_id !== undefined)
    return { ok: true, maas, request, node, systemId: request.system_id, warnings: [] };
  const resolution = await resolveMachine(
    maas,
    {
      hostname: request.node,
      bootMac: node.boot_mac,
      domain: node.domain,
      known: await deps.store.deployedMachines.get(request.site, request.node),
    },
    signal,
  );
  if (!resolution.ok) {
    const { kind, message, hint } = resolution.failure;
    return { ok: false, result: { ok: false, failure: { kind, message, hint } } };
  }
  return {
    ok: true,
    maas,
    request,
    node,
    systemId: resolution.machine.systemId,
    warnings: resolution.warnings.map((warning) => warning.message),
  };
}

/** The node in the run's revision, or in the last good one: needed to release a node removed from the documents. */
async function findNode(cache: SiteCache, { site, revision, node }: NodeCall): Promise<ResolvedNode> {
  const { site: wanted } = await cache.load(site, { number: revision });
  const found = wanted?.nodes.find(({ name }) => name === node) ?? (await cache.lastGoodNodes(site)).get(node);
  if (found) return found;
  throw ApplicationFailure.nonRetryable(`node ${node} is not in revision ${revision} of site ${site}`, 'NodeNotFound');
}

/** Reports the state of a machine after the end of its call. */
function answerFor(machine: MachineSummary): AbortAnswer {
  const message = describe(machine);
  switch (machine.status) {
    case MachineStatus.Deployed:
      return { found: 'deployed', message };
    case MachineStatus.Ready:
    case MachineStatus.Allocated:
      return { found: 'ready', message };
    case MachineStatus.Deploying:
    case MachineStatus.Commissioning:
    case MachineStatus.Testing:
    case MachineStatus.Releasing:
    case MachineStatus.DiskErasing:
      return { found: 'running', message };
    default:
      return { found: 'failed', message };
  }
}

const describe = (machine: MachineSummary): string =>
  `${machine.hostname} (${machine.systemId}) is ${machineStatusName(machine.status)}`;

function nothingToAbort(result: NodeResult): AbortAnswer {
  return { found: 'nothing', message: result.ok ? '' : result.failure.message };
}

function withWarnings(result: NodeResult, warnings: readonly string[]): NodeResult {
  if (!result.ok || warnings.length === 0) return result;
  return { ...result, warnings: [...warnings, ...(result.warnings ?? [])] };
}
