import { isInUse, MachineStatus, machineStatusName } from '@sitewright/maas';
import type { ServedRegion } from '@sitewright/maas-simulator';
import type { Execution } from '@sitewright/temporal-simulator';
import { fromPayload } from '../../../packages/temporal-simulator/src/sdk.ts';
import type { NodeReport, RunReport } from '../../../src/core/contracts/site-run-report.ts';
import { NOT_REDEPLOYED } from '../../../src/core/site-run/redeployed.ts';
import { SITE_RUN_OUTCOMES } from '../../../src/core/words.ts';
import type { RunRecord } from '../../../src/store/index.ts';
import type { Observer } from '../../../worker/parts/rehearsals/installation.ts';
import type { MaasRequest } from '../../../worker/parts/rehearsals/maas-port.ts';
import { caller, type World } from '../../../worker/parts/rehearsals/world.ts';
import type { GivenAnswer } from './hosts.ts';
import type { LimitChecks } from './limit-checks.ts';
import { RolloutChecks } from './rollout-checks.ts';

type By = ReturnType<typeof caller>;

/** What one try of an activity has asked so far. */
interface Try {
  /** When it last proved that its run has the site, and whether it has. */
  provenAt: number | null;
  /** When it was told that the run is not paused. */
  askedAt: number | null;
  changes: number;
}

interface Machine {
  readonly system_id: string;
  readonly hostname: string;
  readonly status: number;
  readonly owner: string | null;
  readonly owner_data?: Readonly<Record<string, string>>;
}

const CHANGES = /^\/api\/2\.0\/machines\/(?:([^/]+)\/)?(?:op-)?/;

/** Machine and operation of a request. */
function operationOf(method: string, path: string): readonly [id: string, operation: string] {
  const operation = new URLSearchParams(path.split('?')[1] ?? '').get('op') ?? method;
  return [CHANGES.exec(path)?.[1] ?? '', operation];
}

/** Failures that only say that something was unreachable for a while: a node does not fail by them. */
const PASSING = new Set(['StoreUnreachable', 'StoreBusy', 'MaasUnreachable', 'MaasConnectionLost', 'RunHeld', 'Error']);

/** Until then a pause may still be on its way to the workflow. */
const PAUSE_ARRIVES_WITHIN_MS = 90_000;

/** A proof is good for requests that leave so soon after it began, and for no others. */
const PROOF_LASTS_MS = 10_000;

/** Watches a site's run from outside: what its activities do to machines, and what its report says of them. */
export class SiteChecks implements Observer {
  readonly #world: World;
  readonly #region: ServedRegion;
  readonly #site: string;
  readonly #tries = new Map<string, Try>();
  /** Since when runs are paused, by workflow id: what the server has accepted. */
  readonly pausedSince = new Map<string, number>();
  /** Times that people touched a machine. */
  readonly touched = new Map<string, number>();
  /** Deployments that MAAS accepted, by machine and request. */
  readonly deployments = new Map<string, number>();
  readonly #closedReports = new Map<string, { readonly at: number; readonly count: number }>();
  /** Runs that have closed themselves in the store, with the time. */
  readonly #ended = new Map<string, number>();
  readonly #rollouts: RolloutChecks;
  /** What hosts have answered to the checks of documents. */
  answersOfHosts: readonly GivenAnswer[] = [];
  /** Null: nothing limits the changes of the site. */
  limits: LimitChecks | null = null;
  changes = 0;

  constructor(world: World, region: ServedRegion, site: string) {
    this.#world = world;
    this.#rollouts = new RolloutChecks(world, () => this.answersOfHosts);
    this.#region = region;
    this.#site = site;
  }

  #try(by: NonNullable<By>): Try {
    const key = `${by.runId} ${by.activity} ${by.attempt}`;
    const known = this.#tries.get(key) ?? { provenAt: null, askedAt: null, changes: 0 };
    this.#tries.set(key, known);
    return known;
  }

  readonly store: Observer['store'] = (call) => {
    this.limits?.store(call);
    const { port, method, args, result } = call;
    if (port === 'claims' && method === 'holder') {
      const by = caller();
      if (by === null) return;
      const claim = result as { workflowId: string; executionId: string } | null;
      const one = this.#try(by);
      one.provenAt = claim !== null && this.#isOf(by, claim) ? this.#world.time.now : null;
    }
    if (port === 'deployedMachines' && method === 'put') {
      const [{ node, runId = '' }] = args as [{ node: string; runId?: string }];
      this.#recordedMachines.set(node, [...(this.#recordedMachines.get(node) ?? []), runId]);
    }
    // A machine that is released is no node's any more; a run that dies before it has recorded a deployment knows of none.
    if (port === 'deployedMachines' && method === 'forget') this.#recordedMachines.delete(args[1] as string);
    if (port === 'sites' && method === 'markLastGood') this.#lastGood.push(args as never);
    if (port === 'runs' && method === 'end') {
      const [row] = args as [{ id: string; outcome: string }];
      if (result !== null) {
        this.#closed(row.id);
        this.#ended.set(row.id, this.#world.time.now);
      }
    }
  };

  /** Whether the claim is that of the execution, or of its parent. */
  #isOf(
    { workflowId, runId }: { workflowId: string; runId: string },
    claim: { workflowId: string; executionId: string },
  ): boolean {
    if (claim.workflowId === workflowId) return claim.executionId === runId;
    const execution = this.#world.temporal.find(workflowId, runId);
    return execution.parent?.workflowId === claim.workflowId;
  }

  /** Of runs that people started, by the run. */
  readonly inputs = new Map<string, Readonly<Record<string, unknown>>>();
  /** Runs that someone has approved. */
  readonly approved = new Set<string>();
  /** Machines of someone else: true with another key, false of another site. */
  readonly foreign = new Map<string, boolean>();
  readonly #lockedSince = new Map<string, number>();
  /** Runs that were reset after they had ended: another may have had the site since. */
  readonly comeBack = new Set<string>();
  /** Runs a part of which people have ended. */
  readonly partsTouched = new Set<string>();

  /** A person has marked a machine broken: the step that has it may commission it again. */
  markedBroken(id: string): void {
    for (const key of this.#commissionings.keys()) if (key.startsWith(`${id} `)) this.#commissionings.delete(key);
  }

  lockChanged(id: string, at: number): void {
    if (this.#lockedSince.has(id)) this.#lockedSince.delete(id);
    else this.#lockedSince.set(id, at);
  }

  /** An activity was scheduled for a node. */
  #scheduled(workflowId: string, activityId: string): void {
    const [verb = '', group = '', node = ''] = activityId.split(':');
    const isWork = verb === 'prepare' || verb === 'deploy' || verb === 'release';
    if (!isWork) return;
    const execution = this.#world.temporal.newest(workflowId)!;
    const { parent } = execution;
    const run = parent === undefined ? execution : this.#world.temporal.newest(parent.workflowId)!;
    const since = this.pausedSince.get(run.workflowId);
    if (since !== undefined && this.#knowsOfPause(execution, since, execution.turns))
      this.#world.violated(`${workflowId} begins ${activityId} while it is paused`);
    const holds = (this.inputs.get(run.originalRunId)?.hold_before ?? []) as readonly string[];
    if ((holds.includes('*') || holds.includes(group)) && !this.approved.has(run.originalRunId))
      this.#world.violated(`${workflowId} begins ${activityId}, and no one has approved it`);
    const parts = this.#world.temporal.executions.filter(
      (one) => one.status === 'RUNNING' && one.parent?.runId === run.runId && one.parent.workflowId === run.workflowId,
    );
    for (const { policy } of [run, ...parts].flatMap((one) => [...one.activities.values()])) {
      const [other = '', , otherNode = ''] = policy.activityId.split(':');
      if (
        policy.activityId !== activityId &&
        otherNode === node &&
        ['prepare', 'deploy', 'release', 'abort'].includes(other)
      )
        this.#world.violated(`${workflowId} begins ${activityId} while ${policy.activityId} is under way`);
    }
  }

  /** Whether an execution has decided something since it was told of a pause, before what it decided last of these turns. */
  #knowsOfPause({ events, parent }: Execution, since: number, turns: Execution['turns']): boolean {
    const now = turns.at(-1)?.at ?? this.#world.time.now;
    if (now - since > PAUSE_ARRIVES_WITHIN_MS && turns.some(({ at }) => at > since)) return true;
    const told = events.findLast(
      ({ type, detail }) => type === 'WorkflowExecutionSignaled' && (detail === 'pause' || detail === 'resume'),
    );
    // A part is told by its run.
    const from = parent === undefined ? since : told?.detail === 'pause' && told.at >= since ? told.at : now;
    return turns.slice(0, -1).some(({ at }) => at > from);
  }

  /** Executions that have begun to close: they take no pause any more. */
  readonly #closing = new Set<string>();

  /** Something was recorded in a history. */
  recorded(workflowId: string, type: string, detail: string): void {
    // A server hands over signals before updates, also those that came later.
    const goesOn = type === 'WorkflowExecutionUpdateAccepted' && detail === 'resume';
    if (type === 'WorkflowExecutionStarted' || goesOn) this.pausedSince.delete(workflowId);
    if (type !== 'ActivityTaskScheduled') return;
    this.#scheduled(workflowId, detail);
    this.#rollouts.begins(workflowId, detail);
    if (detail !== 'close_run') return;
    const execution = this.#world.temporal.newest(workflowId)!;
    const since = this.pausedSince.get(workflowId);
    if (
      since !== undefined &&
      !this.#closing.has(execution.runId) &&
      this.#knowsOfPause(execution, since, untilItsOutcome(execution))
    )
      this.#world.violated(`${workflowId} ends while it is paused`);
    this.#closing.add(execution.runId);
  }

  /** It may begin, unless the run was paused when it asked and still is when it has its answer. */
  askedHold(by: By, workflowId: string): () => void {
    if (by === null) return () => undefined;
    const one = this.#try(by);
    const since = this.pausedSince.get(workflowId);
    one.askedAt = null;
    return () => {
      const isPaused = since !== undefined && this.pausedSince.get(workflowId) === since;
      one.askedAt = isPaused ? null : this.#world.time.now;
    };
  }

  beforeMaasChange(by: By, method: string, path: string): void {
    const { time } = this.#world;
    const violated = (what: string): void => this.#world.violated(what);
    if (by === null) {
      violated(`${method} ${path} was sent by no activity`);
      return;
    }
    const one = this.#try(by);
    const isOfMachine = CHANGES.test(path);
    if (!isOfMachine) return;
    const endedAt = this.#ended.get(this.#runOf(by));
    // A store that was restored may have forgotten it.
    if (endedAt !== undefined && endedAt > (this.restoredAt() ?? 0))
      violated(`${by.activity} of ${by.workflowId} changed a machine (${method} ${path}) after its run had ended`);
    if (one.provenAt === null || time.now - one.provenAt > PROOF_LASTS_MS)
      violated(
        `${by.activity} of ${by.workflowId} changed a machine (${method} ${path}) without proof that its run has the site`,
      );
    // An abort only ends what has begun, also while paused.
    if (by.type === 'abort_node' || by.type === 'prepare_site') return;
    if (one.changes === 0 && one.askedAt === null)
      violated(
        `${by.activity} of ${by.workflowId} began to change a machine (${method} ${path}) while the run is paused, or did not ask`,
      );
    this.#needsPermit(by, `${by.activity} of ${by.workflowId} changes a machine (${method} ${path})`);
  }

  #needsPermit(by: NonNullable<By>, what: string): void {
    const [, , node = ''] = by.activity.split(':');
    if (this.limits === null || node === '') return;
    const deploying = this.#effects().filter(
      ({ system_id, to }, at, all) =>
        to === MachineStatus.Deploying && all.findLastIndex((one) => one.system_id === system_id) === at,
    );
    const busy = deploying.flatMap(({ system_id: id, hostname, at }) => {
      const run = this.#deployedBy.get(id);
      const isMeddledWith = this.foreign.has(id) || (this.touched.get(hostname) ?? 0) >= Date.parse(at);
      return run === undefined || isMeddledWith ? [] : [[run, hostname] as const];
    });
    this.limits.begins(this.#runOf(by), node, busy, what);
  }

  atMaasChange(by: By, method: string, path: string, body: string): void {
    if (by !== null) this.#release(by, method, path, body);
  }

  /** A run releases no machine that it has deployed and marked itself, and erases none unasked. */
  #release(by: NonNullable<By>, method: string, path: string, body: string): void {
    const [id, operation] = operationOf(method, path);
    if (operation !== 'release') return;
    if (new URLSearchParams(body).get('erase') === 'true' && !this.mayErase())
      this.#world.violated(`${by.activity} of ${by.workflowId} erases ${id}, and no run was asked to erase`);
    const now = this.#effects().findLast((effect) => effect.system_id === id)?.to;
    this.#foundBy.set(`${by.runId} ${by.activity} ${id}`, now);
    const isInService = now === MachineStatus.Deployed || now === MachineStatus.Deploying;
    const run = this.#runOf(by);
    if (isInService && this.#deployedBy.get(id) === run && !this.#toGiveBack.has(id))
      this.#world.violated(`${by.activity} of ${by.workflowId} releases ${id}, which the same run has deployed`);
  }

  /** The run, over its resets. */
  #runOf({ workflowId, runId }: NonNullable<By>): string {
    return this.#world.temporal.find(workflowId, runId).originalRunId;
  }

  /** The state in which a release found its machine. */
  readonly #foundBy = new Map<string, number | null | undefined>();
  readonly #deployedBy = new Map<string, string>();
  readonly #commissionings = new Map<string, number>();
  /** Site, revision and run of each deployment that counted as whole. */
  readonly #lastGood: (readonly [string, number, string])[] = [];

  /** A redeployment checks all its machines before it releases the first. */
  #allMayBeReleased(by: NonNullable<By>): void {
    const execution = this.#world.temporal.find(by.workflowId, by.runId);
    const parent = execution.parent;
    const run = parent === undefined ? execution : this.#world.temporal.find(parent.workflowId, parent.runId);
    const names = (this.inputs.get(run.originalRunId)?.nodes ?? []) as readonly string[];
    for (const name of names) {
      const id = this.#effects().find(({ hostname }) => hostname === name)?.system_id ?? '';
      if ((this.#lockedSince.get(id) ?? Number.POSITIVE_INFINITY) < run.startedAt)
        this.#world.violated(
          `${by.workflowId} releases its first machine, and ${name} has been locked since before it started`,
        );
    }
  }

  mayErase: () => boolean = () => false;

  afterMaasChange({ method, path, body, status, answer, by }: MaasRequest): void {
    if (by === null) return;
    const found = CHANGES.exec(path);
    if (found === null) return;
    this.#try(by).changes++;
    this.changes++;
    const [id, operation] = operationOf(method, path);
    this.#world.tell(`MAAS ${operation} ${found[1] ?? ''} by ${by.activity}: ${status}`);
    if (status < 200 || status > 299) return;
    if (this.foreign.has(id))
      this.#world.violated(
        `${by.activity} of ${by.workflowId} changed ${id} (${operation}), which belongs to ${this.foreign.get(id) ? 'another user' : 'another site'}`,
      );
    if (operation === 'commission') {
      const key = `${id} ${by.runId} ${by.activity}`;
      const times = (this.#commissionings.get(key) ?? 0) + 1;
      this.#commissionings.set(key, times);
      if (times > 1) this.#world.violated(`${by.activity} of ${by.workflowId} commissioned ${id} ${times} times`);
    }
    if (operation === 'release' && by.workflowId.startsWith('redeploy_nodes:')) this.#allMayBeReleased(by);
    const wasDeployed = this.#foundBy.get(`${by.runId} ${by.activity} ${id}`) === MachineStatus.Deployed;
    if (operation === 'release' && wasDeployed && !this.mayRelease(this.#nameOf(id)))
      this.#world.violated(`${this.#nameOf(id)} was released, and no run was asked to release it`);
    if (operation === 'set_workload_annotations') this.#markedAt.set(id, this.#world.time.now);
    if (operation === 'deploy') {
      const request = new URLSearchParams(body).get('comment') ?? '';
      const { owner_data: marker = {} } = JSON.parse(answer) as Machine;
      if (marker.sitewright_site !== this.#site || marker.sitewright_run !== request) this.#deployedUnmarked(by, id);
      else this.#toGiveBack.delete(id);
      this.#deployedBy.set(id, this.#runOf(by));
      // A reset decides anew.
      const key = `${found[1]} ${request} ${by.runId}`;
      const times = (this.deployments.get(key) ?? 0) + 1;
      this.deployments.set(key, times);
      if (times > 1) this.#world.violated(`machine ${found[1]} was deployed ${times} times for the request ${request}`);
    }
  }

  /** When a machine was last marked. */
  readonly #markedAt = new Map<string, number>();
  /** Machines that were deployed without a marker, and the run that did. */
  readonly #toGiveBack = new Map<string, string>();

  /** MAAS knows no condition of a deployment: a person may release a machine when the request for it is under way. */
  #deployedUnmarked(by: NonNullable<By>, id: string): void {
    if ((this.touched.get(this.#nameOf(id)) ?? 0) < (this.#markedAt.get(id) ?? Number.POSITIVE_INFINITY))
      this.#world.violated(`${by.activity} of ${by.workflowId} deployed ${id} without its marker`);
    this.#toGiveBack.set(id, this.#runOf(by));
  }

  /** A run that has ended by itself leaves no machine that it has deployed without a marker. */
  async #unmarkedAreGivenBack(): Promise<void> {
    if (this.#toGiveBack.size === 0) return;
    const machines = new Map((await this.readMachines()).map((machine) => [machine.system_id, machine]));
    for (const [id, run] of this.#toGiveBack) {
      const execution = this.#world.temporal.executions.find(({ originalRunId }) => originalRunId === run)!;
      const now = this.#world.temporal.current(execution);
      const { status = 0, owner_data: marker = {} } = machines.get(id) ?? {};
      const isByItself = now.status === 'COMPLETED' && !this.partsTouched.has(now.workflowId);
      if (isInUse(status) && marker.sitewright_site === undefined && isByItself && !this.foreign.has(id))
        this.#world.violated(`${now.workflowId} has ended (${now.status}), and leaves ${id} deployed and unmarked`);
    }
  }

  /** The name that the documents have for a machine, whatever people call it since. */
  #nameOf(id: string): string {
    return this.#effects().find(({ system_id }) => system_id === id)?.hostname ?? id;
  }

  mayRelease: (hostname: string) => boolean = () => false;

  #effects(): readonly {
    from: number | null;
    to: number | null;
    cause: string;
    hostname: string;
    system_id: string;
    at: string;
  }[] {
    return this.#region.control('GET', 'effects', '').value as never;
  }

  /** When the store was brought back to a copy. */
  restoredAt: () => number | null = () => null;

  /** Whether the end that the run wrote may be lost with the store: its workflow may complete after that, and writes nothing more. */
  #isForgotten({ originalRunId, closedAt }: Execution): boolean {
    return (this.#ended.get(originalRunId) ?? closedAt ?? 0) <= (this.restoredAt() ?? -1);
  }

  /** What the store and Temporal say of the end of one run. */
  #compareEnds(row: Pick<RunRecord, 'workflowId' | 'outcome'>, now: Execution, report: RunReport | undefined): void {
    if (row.outcome === null || now.status === 'TERMINATED') return;
    const wanted: Partial<Record<Execution['status'], readonly string[]>> = {
      COMPLETED: ['success', 'success_with_failures', 'stopped'],
      FAILED: ['failed'],
      CANCELLED: ['cancelled'],
    };
    const result = now.result as { readonly nodes?: Readonly<Record<string, number>> } | undefined;
    // Of one that comes back to open anew while another run has the site, the store keeps the end that it had.
    const isRefused = this.comeBack.has(now.originalRunId) && now.failure?.message.includes('is busy with') === true;
    const isLost = isRefused || (now.failure?.message.includes('does not hold') ?? false);
    // One that is reset in the moment of its end has ended before.
    const wasOver = now.earlierRuns.length > 0 && this.#ended.has(now.originalRunId);
    if (isLost && this.restoredAt() === null && !this.comeBack.has(now.originalRunId) && !wasOver)
      this.#world.violated(`${row.workflowId} was never gone, and has lost its claim: ${now.failure?.message}`);
    if (!isLost && !wanted[now.status]?.includes(row.outcome))
      this.#world.violated(`${row.workflowId} is ${now.status}, and the store says ${row.outcome}`);
    if (report?.outcome !== undefined && report.outcome !== row.outcome)
      this.#world.violated(`the row of ${row.workflowId} says ${row.outcome}, and its report ${report.outcome}`);
    if (now.status !== 'COMPLETED' || result?.nodes === undefined || report?.baremetal === undefined) return;
    if (this.#isForgotten(now)) return;
    for (const [state, count] of Object.entries(result.nodes)) {
      const names = report.baremetal.nodes.filter((node) => node.state === state);
      if (names.length !== count)
        this.#world.violated(
          `${row.workflowId} ended with ${count} nodes ${state}, and its report has ${names.length}`,
        );
    }
  }

  readMachines: () => Promise<readonly Machine[]> = async () => [];

  #closed(id: string): void {
    const before = this.#closedReports.get(id);
    const count = (before?.count ?? 0) + 1;
    this.#closedReports.set(id, { at: this.#world.time.now, count });
    void this.#compare(id);
  }

  /** The report of a run that closes, against the machines. */
  async #compare(id: string): Promise<void> {
    const report = (await this.#world.store.runs.getReport(id)) as unknown as RunReport | undefined;
    const run = await this.#world.store.runs.get(id);
    const startedAt = Date.parse(run.startedAt);
    const machines = new Map((await this.readMachines()).map((machine) => [machine.hostname, machine]));
    if (report !== undefined) this.#compareReleased(run, report);
    for (const node of report?.baremetal?.nodes ?? []) {
      if (node.state === 'failed' && PASSING.has(node.failure_kind ?? ''))
        this.#world.violated(
          `the report of ${run.workflowId} says that ${node.name} failed by ${node.failure_kind}: ${node.reason}`,
        );
      this.#compareFailure(run, node, [...machines.values()]);
      const machine = machines.get(node.name);
      if (machine === undefined || node.state !== 'success') continue;
      if ((this.touched.get(node.name) ?? 0) >= startedAt) continue;
      if (machine.status !== MachineStatus.Deployed)
        this.#world.violated(
          `the report of ${run.workflowId} says that ${node.name} succeeded, and its machine is ${machineStatusName(machine.status)}`,
        );
    }
  }

  /** How a node failed, against what has happened to its machine. */
  #compareFailure(
    { workflowId, startedAt, id: runId }: { workflowId: string; startedAt: string; id: string },
    node: NodeReport,
    machines: readonly Machine[],
  ): void {
    if ((this.touched.get(node.name) ?? 0) >= Date.parse(startedAt)) return;
    const said = `the report of ${workflowId} says of ${node.name}: ${node.reason}`;
    if (node.state === 'failed' && node.failure_kind === 'deployment-failed') {
      // A run that was reset takes up the deployments of before.
      const since = Date.parse(this.#wasReset(workflowId) ? startedAt : (node.started_at ?? startedAt));
      const id = this.#effects().find(({ hostname }) => hostname === node.name)?.system_id;
      const hasFailed = this.#effects().some(
        ({ system_id, to, at }) => system_id === id && to === MachineStatus.FailedDeployment && Date.parse(at) >= since,
      );
      if (!hasFailed) this.#world.violated(`${said}, and no deployment of it has failed since ${node.started_at}`);
    }
    if (node.state === 'failed' && node.failure_kind === 'unknown-machine') {
      const renamed = machines.find(
        ({ owner, owner_data }) =>
          owner !== null && owner_data?.sitewright_site === this.#site && owner_data.sitewright_node === node.name,
      );
      // A store that was restored may have forgotten which machine it was.
      if (renamed !== undefined && this.restoredAt() === null && this.#wasDeployedBefore(node.name, runId))
        this.#world.violated(`${said}, and it is ${renamed.hostname}, which has its marker`);
    }
    const left = machines.find(
      ({ hostname, owner_data, status }) =>
        hostname === node.name && status === MachineStatus.Deploying && owner_data?.sitewright_run?.startsWith(runId),
    );
    const isExplained = node.state === 'failed' && /may continue/.test(`${node.reason} ${node.late?.message}`);
    if (left !== undefined && !this.maasTroubled && !isExplained && !this.#wasReset(workflowId))
      this.#world.violated(
        `${workflowId} ends, and ${node.name} is still being deployed for it: ${node.reason ?? node.state}`,
      );
  }

  #wasReset(workflowId: string): boolean {
    return this.#world.temporal.executions.some((one) => one.workflowId === workflowId && one.earlierRuns.length > 0);
  }

  /** MAAS was unreachable, or lost something, at some time. */
  maasTroubled = false;

  #wasDeployedBefore(name: string, runId: string): boolean {
    return this.#recordedMachines.get(name)?.some((run) => run !== runId) ?? false;
  }

  /** Runs that have recorded the machine of a node. */
  readonly #recordedMachines = new Map<string, string[]>();

  /** What a redeployment says of the machines that it released. */
  #compareReleased(run: { workflowId: string; startedAt: string; kind: string }, report: RunReport): void {
    if (run.kind !== 'redeploy_nodes') return;
    const deployed = new Set(
      report.baremetal?.nodes.filter(({ state }) => state === 'success').map(({ name }) => name),
    );
    for (const { name, state, failure_kind, reason } of report.released ?? []) {
      const isSaidBare = failure_kind === NOT_REDEPLOYED && reason?.startsWith('released') === true;
      if ((state !== 'success' && !isSaidBare) || (this.touched.get(name) ?? 0) >= Date.parse(run.startedAt)) continue;
      const id = this.#effects().find(({ hostname }) => hostname === name)?.system_id;
      const hasLeft = this.#effects().some(
        ({ system_id, from, at }) =>
          system_id === id && from === MachineStatus.Deployed && Date.parse(at) >= Date.parse(run.startedAt),
      );
      const wasDeployed =
        this.#effects().findLast(({ system_id, at }) => system_id === id && Date.parse(at) < Date.parse(run.startedAt))
          ?.to === MachineStatus.Deployed;
      if (wasDeployed && !hasLeft)
        this.#world.violated(`the report of ${run.workflowId} says that ${name} was released, and it never was`);
      if (state === 'success' && report.outcome !== 'failed' && !deployed.has(name))
        this.#world.violated(
          `the report of ${run.workflowId} (${report.outcome}) counts the release of ${name} as a success, and it is bare`,
        );
    }
  }

  /** All runs have ended. */
  async atEnd(executions: readonly Execution[]): Promise<void> {
    const { store, temporal } = this.#world;
    const violated = (what: string): void => this.#world.violated(what);
    const claim = await store.claims.holder({ site: this.#site });
    if (claim !== null) {
      const holder = temporal.current(temporal.find(claim.workflowId, claim.runId));
      // Of one that was terminated, or that ended after the copy that was restored, the next run takes it over.
      if (holder.status !== 'TERMINATED' && !this.#isForgotten(holder))
        violated(`${claim.workflowId} has ended (${holder.status}) and still has the site`);
    }
    const rows = (await store.runs.list({ limit: 200 })).items;
    const opened = (one: (typeof rows)[number]): number => Date.parse(one.startedAt);
    for (const row of rows) {
      const first = temporal.find(row.workflowId, row.temporalRunId ?? row.id);
      const now = temporal.current(first);
      const ended = now.status;
      // The next run that opens closes the row of one that was terminated.
      const hasSuccessor = rows.some((other) => opened(other) > Math.max(opened(row), now.closedAt ?? 0));
      if (ended === 'TERMINATED' && !hasSuccessor) continue;
      if (row.outcome === null)
        violated(`${row.workflowId} (run ${row.id}) was opened and has ended (${ended}), and its row is open`);
      const report = (await store.runs.getReport(row.id)) as unknown as RunReport | undefined;
      this.#compareEnds(row, now, report);
      if (report === undefined) violated(`${row.workflowId} (run ${row.id}) has ended without a report`);
    }
    for (const [, revision, run] of this.#lastGood) {
      // None: the store was restored from a copy of before.
      const row = rows.find(({ id }) => id === run);
      if (row !== undefined && row.outcome !== null && !row.outcome.startsWith('success'))
        violated(`revision ${revision} counts as deployed by ${row.workflowId}, whose outcome is ${row.outcome}`);
    }
    await this.#unmarkedAreGivenBack();
    for (const execution of executions)
      if (execution.activities.size > 0) violated(`${execution.workflowId} has ended with an open activity`);
  }
}

/** Until the run has shown its outcome: a pause of later is refused. */
function untilItsOutcome({ turns }: Execution): Execution['turns'] {
  const isOutcome = (phase: unknown): boolean =>
    phase != null && (SITE_RUN_OUTCOMES as readonly string[]).includes(fromPayload(phase));
  const last = turns.findIndex(({ activations }) =>
    activations.some(({ commands }) =>
      commands.some(({ upsertWorkflowSearchAttributes: one }) =>
        isOutcome(one?.searchAttributes?.indexedFields?.RunPhase),
      ),
    ),
  );
  return last < 0 ? turns : turns.slice(0, last + 1);
}
