import { isCancellation } from '@temporalio/workflow';
import type { OpenRunAnswer } from '../../activities/contract.ts';
import { given } from '../../src/core/data/given.ts';
import { type CallEnd, endBaremetal, halts } from '../../src/core/deployment/baremetal.ts';
import { countNodes } from '../../src/core/deployment/report.ts';
import { whyNotRetry } from '../../src/core/deployment/retry.ts';
import { operateRollouts, whyNotOperateRollouts } from '../../src/core/deployment/rollout.ts';
import type { PermitWait } from '../../src/core/permits/answer.ts';
import { claimLost, type StepError } from '../../src/core/run/failure.ts';
import { type OperatorAction, readRequest, retryNode } from '../../src/core/run/operator.ts';
import { isoTime } from '../../src/core/run/progress.ts';
import { describeRunFailure, type RunFailure, redeployCommand } from '../../src/core/site-run/failure.ts';
import { parseSiteRunInput, type SiteRunInput } from '../../src/core/site-run/input.ts';
import { showPlan } from '../../src/core/site-run/plan.ts';
import {
  detailsOf,
  explainSiteRun,
  membersOf,
  type RunProgress,
  reportRun,
  statusOf,
} from '../../src/core/site-run/progress.ts';
import { recordsOf } from '../../src/core/site-run/redeployed.ts';
import { digestOfRecords, fitReport, type NodeWrite, outlineReport } from '../../src/core/site-run/report.ts';
import { treeOfSiteRun } from '../../src/core/site-run/tree.ts';
import { counted, utf8Length } from '../../src/core/text/text.ts';
import type { PhaseName, RunAction, SiteRunKind, SiteRunOutcome } from '../../src/core/words.ts';
import type { CallRequest, SiteRunContract, SiteRunResult } from '../contract.ts';
import { readNews } from '../graph/signals.ts';
import { prefixed } from '../protocol.ts';
import { bookkeeping } from '../run/activity-options.ts';
import { callActivity, childGoneHandler, handle } from '../run/border.ts';
import { failure } from '../run/failures.ts';
import {
  approvalHandlers,
  maasSilenceHandler,
  openedHandler,
  rolloutHandlers,
  steeringHandlers,
} from '../run/operators.ts';
import { Run, RunEnded, startProgress } from '../run/run.ts';
import { type CallListener, NODES_IN_ONE_WORKFLOW, readProgress, runCall, Slices } from './call.ts';

/** A payload is limited to 200 KB (docs/explain/design.md#limits). */
const RECORD_BYTES = 60_000;

/** What a phase gives to the next one, and what it shows of itself. */
export interface PhaseResult<T> {
  readonly value: T;
  /** Default: success. */
  readonly state?: 'success' | 'failed' | 'stopped';
  readonly detail?: string;
}

/** @throws `PhaseEnded` when the run must not go on after it */
export type Phase<T = void> = (run: SiteRun) => Promise<PhaseResult<T>>;

/** Why there is nothing to do in a phase. */
export interface Skipped {
  readonly skipped: string;
}

/** Ends a run within a phase, with what the phase shows. */
export class PhaseEnded extends RunEnded {
  readonly shown: Omit<PhaseResult<void>, 'value'>;
  constructor(shown: PhaseEnded['shown']) {
    super();
    this.shown = shown;
  }
}

/** Retries of failed nodes at operators' requests, while the baremetal phase runs. */
export interface NodeRetries {
  /** Starts the retry of a node immediately if possible, in parallel with the current call of any group. */
  request(node: string): void;
  /** Whether a retry of this node was requested and has not started. */
  pending(node: string): boolean;
}

type Opened = Extract<OpenRunAnswer, { ok: true }>;

/** A run on a site. Its workflow (site-workflows.ts) is the body: one phase after the other. */
export class SiteRun extends Run<RunProgress, Opened, SiteRunResult> {
  readonly kind: SiteRunKind;
  readonly slices: Slices;
  /** Null: retries are refused. */
  retries: NodeRetries | null = null;
  readonly #body: (run: SiteRun) => Promise<void>;
  readonly #recorded = new Map<string, NodeWrite>();
  #sequence = 0;
  #isHeld = false;

  constructor(kind: SiteRunKind, args: readonly unknown[], body: (run: SiteRun) => Promise<void>) {
    super({ ...startProgress(parseSiteRunInput(kind, args)), kind, phases: [], operator: [] });
    this.kind = kind;
    this.#body = body;
    this.slices = new Slices(({ verb, group }) =>
      this.attributesOf({
        SiteName: this.input.site,
        StartedBy: this.startedBy,
        RunPhase: `${verb} ${group}`,
      }),
    );
    handleSiteOperators(this);
  }

  get input(): SiteRunInput {
    return this.progress.input;
  }
  protected get subject() {
    return { site: this.input.site };
  }

  /** Runs one phase; waits while paused. @throws `RunEnded` when nothing new may start, or the run must not go on after it */
  phase<T>(name: PhaseName, work: Phase<T>): Promise<T>;
  phase(name: PhaseName, work: Phase | Skipped): Promise<void>;
  async phase<T>(name: PhaseName, work: Phase<T> | Skipped): Promise<T | undefined> {
    await this.goOn();
    if (typeof work === 'function') return this.#phase(name, work);
    const now = isoTime(Date.now());
    this.progress.phases.push({ name, state: 'skipped', started_at: now, ended_at: now, detail: work.skipped });
  }

  async #phase<T>(name: PhaseName, work: Phase<T>): Promise<T> {
    const { control, progress } = this;
    const started_at = isoTime(Date.now());
    const index = progress.phases.push({ name, state: 'running', started_at }) - 1;
    this.show();
    this.setAttributes({ RunPhase: name });
    const end = ({ state = 'success', detail }: Omit<PhaseResult<T>, 'value'>): void => {
      progress.phases[index] = { name, state, started_at, ended_at: isoTime(Date.now()), ...given({ detail }) };
      this.show();
    };
    try {
      const { value, ...shown } = await work(this);
      end(shown);
      return value;
    } catch (error) {
      const stopped = (control.cancelled || control.stopping) && isCancellation(error);
      end(error instanceof PhaseEnded ? error.shown : { state: stopped ? 'stopped' : 'failed' });
      if (stopped) throw new RunEnded();
      throw error;
    }
  }

  /** Ends the run within a phase, which shows why. */
  failPhase(why: RunFailure, detail: string = describeRunFailure(why)): never {
    this.progress.failure = why;
    throw new PhaseEnded({ state: 'failed', detail });
  }

  /** Whether a rollout is held now, until an operator decides: `RunPhase='held'`. */
  held(is: boolean): void {
    if (is === this.#isHeld) return;
    this.#isHeld = is;
    this.notices.held(is);
    this.setAttributes({ RunPhase: is ? 'held' : 'baremetal' });
    this.show();
  }

  /** Shows what the run waits for before it touches machines; undefined: nothing. */
  waitsFor(waits: readonly PermitWait[] | undefined): void {
    const { progress } = this;
    if (progress.waits === undefined && waits === undefined) return;
    if (waits === undefined) delete progress.waits;
    else progress.waits = waits;
    this.show();
  }

  /** Makes a call, in child workflows when it is one of many nodes. @param nodes of the whole step */
  call(nodes: number, request: CallRequest, listener: CallListener, announce: (end: CallEnd) => void): Promise<void> {
    return nodes > NODES_IN_ONE_WORKFLOW
      ? this.slices.run(request, this.control, listener, announce)
      : runCall(request, this.control, listener, announce);
  }

  /** Writes nodes to the store in batches and updates the search attribute of failed nodes. */
  async record(nodes: readonly NodeWrite[]): Promise<void> {
    this.setAttributes({ FailedNodes: this.failedNodes() });
    for (const node of nodes) {
      const { name } = node.report;
      this.#recorded.set(name, { ...this.#recorded.get(name), ...node });
    }
    const of = { run_id: this.progress.run_id, site: this.input.site };
    for (const piece of piecesOf(nodes)) {
      this.#sequence += 1;
      const request = { ...of, sequence: this.#sequence, nodes: piece };
      await callActivity('record_nodes', request, bookkeeping(`record ${counted(piece.length, 'node')}`));
    }
  }

  status() {
    return statusOf(this.progress);
  }
  report() {
    return fitReport(reportRun(this.progress), membersOf(this.progress));
  }
  override plan() {
    return this.progress.plan ? showPlan(this.progress.plan) : null;
  }
  acted(action: OperatorAction<RunAction>): void {
    this.progress.operator.push(action);
  }
  /** The id of a workflow that this run starts. */
  idOf(name: string): string {
    return prefixed(this.prefix, name);
  }

  protected details(): string {
    return detailsOf(this.progress);
  }
  protected override revision() {
    return this.progress.plan?.revision;
  }
  protected failedNodes(): number {
    return failedOf(this.progress);
  }
  protected open(answered: boolean) {
    const { input, kind } = this;
    const request = {
      ...this.identity,
      kind,
      site: input.site,
      started_at: isoTime(this.progress.started_at),
      started_by: input.started_by,
      reason: input.reason,
      parameters: { ...input },
      answered,
      start: this.start,
    };
    return callActivity('open_run', request, bookkeeping(`claim site ${input.site}`));
  }
  protected siteOf(): string {
    return this.input.site;
  }
  protected rowOf({ number }: Opened) {
    return { number, warnings: [] };
  }
  protected work(): Promise<void> {
    return this.#body(this);
  }
  protected stepFailed(error: StepError): RunFailure {
    return claimLost(error) ?? { kind: 'step-failed', phase: this.status().phase, ...error };
  }

  protected outcome(): SiteRunOutcome {
    const { progress, control } = this;
    if (progress.baremetal) progress.baremetal = endBaremetal(progress.baremetal);
    if (control.cancelled) return 'cancelled';
    if (progress.failure) return 'failed';
    if (control.stopping) return 'stopped';
    const failedGroups = progress.baremetal?.groups.some((group) => group.state === 'failed') ?? false;
    const unreleased = progress.released?.some((node) => node.state === 'failed') ?? false;
    const unwell = progress.checks?.some(({ verdict }) => verdict !== 'well') ?? false;
    return this.failedNodes() > 0 || failedGroups || unreleased || unwell ? 'success_with_failures' : 'success';
  }

  /**
   * The store may have lost what the run has recorded, when it was restored from an older copy, or know what a reset has taken back: all
   * nodes are recorded again then.
   */
  protected async close(): Promise<void> {
    const { progress } = this;
    await this.#recordRest();
    const outcome = progress.outcome!;
    const closing = {
      ...this.end,
      kind: this.kind,
      site: this.input.site,
      outcome,
      report: outlineReport(reportRun(progress), membersOf(progress)),
      failed_nodes: this.failedNodes(),
      ...(isDeployed(progress) ? { deployed_revision: progress.plan!.revision } : {}),
    };
    const nodes = recordsOf(progress);
    const end = (more: { readonly records?: string }) =>
      callActivity('close_run', { ...closing, ...more }, bookkeeping(`close the run: ${outcome}`));
    if ((await end({ records: digestOfRecords(nodes) })) !== 'records-differ') return;
    await this.record(nodes);
    await end({});
  }
  /** Writes the nodes that have changed since they were recorded, or never were. */
  async #recordRest(): Promise<void> {
    const rest = recordsOf(this.progress).filter((node) => !isSameNode(node, this.#recorded.get(node.report.name)));
    if (rest.length > 0) await this.record(rest);
  }

  protected explain(why: RunFailure) {
    return explainSiteRun(this.progress, why);
  }
  protected result(): SiteRunResult {
    const { counts, groups, failed } = this.status();
    return {
      outcome: this.progress.outcome ?? 'failed',
      site: this.input.site,
      revision: this.progress.plan?.revision ?? null,
      nodes: counts,
      groups: groups.slice(0, 200).map(({ name, state, reason }) => ({ name, state, ...given({ reason }) })),
      failed,
    };
  }
}

const isSameNode = (one: NodeWrite, other: NodeWrite | undefined): boolean => textOf(one) === textOf(other);

const textOf = (node: NodeWrite | undefined): string => JSON.stringify([node?.position, node?.report, node?.released]);

/** Runs that began before there were these times were cut without them: a replay must cut them alike. */
const withoutSteps = (key: string, value: unknown): unknown =>
  key === 'prepared_at' || key === 'deploying_at' ? undefined : value;

function piecesOf(nodes: readonly NodeWrite[]): NodeWrite[][] {
  const pieces: NodeWrite[][] = [];
  let size = RECORD_BYTES;
  for (const node of nodes) {
    const bytes = utf8Length(JSON.stringify(node, withoutSteps));
    if (size + bytes > RECORD_BYTES) {
      pieces.push([]);
      size = 0;
    }
    pieces.at(-1)!.push(node);
    size += bytes;
  }
  return pieces;
}

const failedOf = ({ baremetal }: RunProgress): number => (baremetal ? countNodes(baremetal).failed : 0);

/** True when the whole site was processed and nothing critical failed: the revision is the last good one. */
function isDeployed({ kind, outcome, baremetal }: RunProgress): boolean {
  const whole = kind === 'deploy_site' || kind === 'update_site';
  const good = outcome === 'success' || outcome === 'success_with_failures';
  return whole && good && baremetal !== undefined && !halts(baremetal);
}

/** Sets the handlers for operators of a site run: signals, updates and queries (docs/explain/design.md#the-temporal-surface). */
function handleSiteOperators(run: SiteRun): void {
  const { progress, control, slices } = run;
  const status = () => run.status();
  const steering = steeringHandlers({ control, run, status, forward: (name) => slices.forward(name) });
  const approvals = approvalHandlers(run, { status, rejected: () => slices.forward('stop') });
  const rollouts = rolloutHandlers(run, status, {
    whyNot(action, request) {
      const { baremetal, stopping, outcome } = progress;
      if (baremetal === undefined || outcome !== undefined) return 'no group is being deployed now';
      return stopping ? 'the run is stopping' : whyNotOperateRollouts(baremetal, action, request, Date.now());
    },
    take(asked) {
      progress.baremetal = operateRollouts(progress.baremetal!, asked.action, asked, Date.now());
      progress.operator.push(asked);
    },
  });
  handle<SiteRunContract>({
    signals: {
      ...steering.signals,
      ...approvals.signals,
      ...rollouts.signals,
      ...maasSilenceHandler((silence) => run.maasSilence(silence)),
      ...childGoneHandler(),
      call_progress: {
        read: readProgress,
        handle(part) {
          slices.onProgress(part);
          control.wake();
        },
      },
      graph_news: {
        read: readNews,
        handle(news) {
          if (progress.software === undefined || progress.outcome !== undefined) return;
          progress.software = { ...progress.software, ...news };
          run.show();
        },
      },
    },
    updates: {
      opened: openedHandler(run),
      ...steering.updates,
      ...approvals.updates,
      ...rollouts.updates,
      retry_node: {
        description: 'Retries a failed node immediately, during the baremetal step: {"node": "...", "reason": "..."}',
        read: (payload) => readRequest(retryNode, payload),
        validate: ({ node }) => refuseRetry(run, node),
        handle(request) {
          const { node } = request;
          progress.operator.push({ action: 'retry_node', at: isoTime(Date.now()), ...request });
          run.retries?.request(node);
          control.wake();
          run.show();
          return status();
        },
      },
    },
    queries: {
      status: { description: 'Phase, n of m nodes, failing first.', answer: status },
      report: {
        description: 'Report so far: every group and node, with reasons.',
        answer: () => run.report(),
      },
      tree: {
        description: 'Every step and node.',
        answer: () => treeOfSiteRun(reportRun(progress), status()),
      },
      plan: {
        description: 'Nodes, groups and time limits of this run.',
        answer: () => run.plan(),
      },
    },
    warn: (text) => run.warn(text),
    wake: () => run.control.wake(),
  });
}

function refuseRetry({ kind, progress, retries }: SiteRun, node: string): void {
  const { baremetal } = progress;
  const refused = (message: string) => failure('RetryRefused', message);
  if (!retries || !baremetal) {
    throw refused(
      `the run is in phase ${statusOf(progress).phase}; nodes can be retried only while the baremetal step runs. ${kind === 'redeploy_nodes' ? `Redeploy the node by itself: ${redeployCommand(progress.input.site, [node])}` : 'Start the run again instead: it continues where it stopped'}`,
    );
  }
  if (retries.pending(node)) throw refused(`a retry of node ${node} is already pending`);
  const why = whyNotRetry(baremetal, node);
  if (why) throw refused(why);
}
