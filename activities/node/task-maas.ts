import {
  type KnownMachine,
  MaasConfigurationError,
  MaasError,
  type MachineContext,
  markerOf,
  resolveMachine,
} from '@sitewright/maas';
import { ApplicationFailure } from '@temporalio/activity';
import { OrderRefused, type OrderSource } from '../../src/agent/index.ts';
import { type MaasCall, type MaasWork, type MaasWorkEnd, maasTaskTypes } from '../../src/agent/master/index.ts';
import { mayRunOn, type NodeStanding } from '../../src/core/graph-types.ts';
import type { Store } from '../../src/store/index.ts';
import type { RunTask, TaskEnd } from '../graph-contract.ts';
import { RUN_STOPPED } from '../run/holds.ts';
import type { SilenceReports } from '../run/maas-silence.ts';
import { forgetTags } from '../site/tags.ts';
import type { WorkHere } from './task.ts';

/** Identifies the machine of a node in MAAS. */
export interface NodeMachine {
  readonly hostname: string;
  readonly bootMac?: string;
  /** Needed where two domains have the host name. */
  readonly domain?: string;
  /** The node's name in the marker of its machine; absent where no site deploys it. */
  readonly deployedAs?: string;
  /** On which a run deployed the node. */
  readonly known?: KnownMachine | undefined;
  /** The site that must hold the machine. */
  readonly site: string;
  /** The name under which the node's orders are stored. */
  readonly agent: string;
  /** Its cluster's current intention for it, which may have changed since the plan. */
  readonly standing?: NodeStanding;
}

export interface MaasParts {
  /** Throws when MAAS is not configured. */
  readonly maas: () => MachineContext;
  /** Undefined if the run's cluster has no such node. */
  readonly machineOf: (run: string, node: string) => Promise<NodeMachine | undefined>;
  /** The orders of a node. */
  readonly orders: (node: { readonly site: string; readonly node: string }) => Pick<OrderSource, 'fetch'>;
  /** Called before the first change that a try makes; rejects when the run does not have its cluster, or is paused. */
  readonly mayStart: (run: string) => Promise<void>;
  /** Called before each further change; rejects when the run does not have its cluster. */
  readonly prove: (run: string) => Promise<void>;
  /** The tags that sites gave their machines. */
  readonly givenTags: Pick<Store['givenTags'], 'get' | 'forget'>;
  /** Both as in `ActivityDependencies`. */
  readonly silence?: SilenceReports;
  readonly endIdentity?: (site: string, node: string, by: 'release') => Promise<void>;
}

/** Steps that each task reaches: it has its order; it may have changed something. */
const [TAKEN, BEGUN] = ['started', 'begun'];

const refused = (message: string): TaskEnd => ({
  outcome: 'refused',
  message: `was not run: ${message}`.slice(0, 300),
});

/**
 * Runs a task through MAAS from the orchestrator's host. Throws on a transient failure of MAAS, so that Temporal
 * retries.
 *
 * @returns undefined for a task type that MAAS does not run
 */
export function maasTask(deps: MaasParts, request: RunTask): WorkHere | undefined {
  const type = maasTaskTypes.get(request.type);
  if (type === undefined) return undefined;
  return async (onProgress, from, cancel, leave) => {
    const startedAt = new Date().toISOString();
    if (request.mode === 'noop')
      return { outcome: 'skipped', message: 'nothing was done: this is a noop run', changed: false };
    const machine = await deps.machineOf(request.run, request.node);
    if (machine === undefined) return refused(`the cluster of the run has no node ${request.node}`);
    if (machine.standing !== undefined && !mayRunOn(request.type, machine.standing))
      return refused(`node ${request.node} is not pending removal from its cluster, so its machine is kept`);
    const report = (last: string) =>
      onProgress({ gen: request.generation, phase: 'running', offset: { stdout: 0, stderr: 0 }, last });
    // What an earlier try has begun, a pause lets finish.
    let hasBegun = from !== undefined && from.last !== TAKEN;
    const mayChange = async (): Promise<void> => {
      await (hasBegun ? deps.prove : deps.mayStart)(request.run);
      if (!hasBegun) report(BEGUN);
      hasBegun = true;
    };
    const { run, task } = request;
    const key = { ...request, node: machine.agent };
    let parameters: Readonly<Record<string, unknown>>;
    try {
      const orders = deps.orders({ site: machine.site, node: machine.agent });
      ({ parameters } = (await orders.fetch(key)).execution);
    } catch (error) {
      if (error instanceof OrderRefused) return refused(error.message);
      throw error;
    }
    report(from?.last ?? TAKEN);
    try {
      const options = {
        parameters,
        reached: from?.last,
        reach: report,
        mayChange,
        options: {
          signal: AbortSignal.any([cancel, leave]),
          acting: async (action: string, isFirst: boolean) => {
            await (isFirst ? deps.mayStart : deps.prove)(request.run);
            if (action === 'release') await deps.endIdentity?.(machine.site, machine.agent, 'release');
          },
        },
        comment: `sitewright: run ${run}, task ${task}`,
      };
      const tried = () => carryOut(deps, type, machine, options);
      const end = await (deps.silence === undefined ? tried() : deps.silence.during(undefined, tried));
      return taskEnd(end, startedAt);
    } catch (error) {
      if (leave.aborted) return undefined;
      if (error instanceof ApplicationFailure && error.type === RUN_STOPPED)
        return { outcome: 'not_reached', message: error.message };
      const times = { started_at: startedAt, ended_at: new Date().toISOString() };
      if (cancel.aborted) return { outcome: 'cancelled', message: 'work started in MAAS continues there', ...times };
      if (error instanceof MaasError && !error.failure.retryable)
        return { outcome: 'failed', message: error.message.slice(0, 300), ...times };
      // The configuration does not change while this process runs.
      if (error instanceof MaasConfigurationError) return refused(error.message);
      throw error;
    }
  };
}

async function carryOut(
  deps: Pick<MaasParts, 'maas' | 'givenTags'>,
  type: MaasWork,
  { hostname, bootMac, domain, deployedAs, known, site }: NodeMachine,
  of: Pick<MaasCall, 'parameters' | 'reached' | 'reach' | 'mayChange' | 'options' | 'comment'>,
): Promise<MaasWorkEnd> {
  const maas = deps.maas();
  const released: MaasCall['released'] = (outcome) => forgetTags(deps, site, outcome);
  const more = { ...of, maas, hostname, site, released };
  if (!type.needsMachine) return await type.run({ systemId: '', ...more });
  const asked = { hostname, bootMac, domain, known };
  const found = await resolveMachine(maas, asked, more.options.signal ?? undefined);
  if (!found.ok) return { ok: false, message: `${found.failure.message}; ${found.failure.hint}` };
  const marker = markerOf(found.machine);
  // Machines are renamed in MAAS, and the marker has the node that this one was deployed as.
  if (deployedAs !== undefined && marker?.site === site && marker.node !== '' && marker.node !== deployedAs) {
    const message = `machine ${found.machine.hostname} (${found.machine.systemId}) was deployed as node ${marker.node}, not as ${deployedAs}`;
    return { ok: false, message: `${message}; give each machine the name of its node in MAAS` };
  }
  const { systemId } = found.machine;
  const givenTags = await deps.givenTags.get(site, systemId);
  return await type.run({ ...more, systemId, options: { ...more.options, givenTags } });
}

function taskEnd(end: MaasWorkEnd, startedAt: string): TaskEnd {
  const times = { started_at: startedAt, ended_at: new Date().toISOString(), tries: 1 };
  if (!end.ok) return { outcome: 'failed', message: end.message.slice(0, 300), ...times };
  const warnings = end.warnings.join('; ').slice(0, 300);
  return { outcome: 'success', changed: end.changed, ...(warnings === '' ? {} : { message: warnings }), ...times };
}
