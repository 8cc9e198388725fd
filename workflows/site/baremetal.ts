import { CancellationScope, createEventGroup, isCancellation, log, patched, sleep } from '@temporalio/workflow';
import type { AbortAnswer, TakePermits } from '../../activities/contract.ts';
import type { SitePlan } from '../../src/core/contracts/site-run.ts';
import { given } from '../../src/core/data/given.ts';
import {
  type CallEnd,
  endBaremetal,
  finishCall,
  finishNode,
  halts,
  type NextCall,
  type NodeResult,
  nextCall,
  startBaremetal,
  startNode,
  type WaveRest,
} from '../../src/core/deployment/baremetal.ts';
import { describeGroupFailure } from '../../src/core/deployment/failures.ts';
import { needAgain, returnPermits, withPermits } from '../../src/core/deployment/permits.ts';
import type { BaremetalState } from '../../src/core/deployment/progress.ts';
import { describeBaremetal, recordNodes, reportBaremetal } from '../../src/core/deployment/report.ts';
import {
  deployRetried,
  endRetry,
  finishRetriedCall,
  mayDeployRetried,
  retryNode,
  showAbort,
  startRetry,
} from '../../src/core/deployment/retry.ts';
import {
  failuresLeftIn,
  isRolloutHeld,
  mayStartNode,
  recordChecks,
  recordLook,
} from '../../src/core/deployment/rollout.ts';
import { undecided } from '../../src/core/run/approval.ts';
import { CLAIM_LOST } from '../../src/core/run/failure.ts';
import { fromRanges, groupFromWire } from '../../src/core/site-run/plan.ts';
import { counted } from '../../src/core/text/text.ts';
import type { Call } from '../../src/core/words.ts';
import type { CallRequest } from '../contract.ts';
import { abortCall, inquiry } from '../run/activity-options.ts';
import { callActivity } from '../run/border.ts';
import { stepError } from '../run/failures.ts';
import { permitOf, permitRequest, permitsFor, takePermits } from '../run/permits.ts';
import { type CallListener, lateResult, nodeRequest, runCall } from './call.ts';
import type { NodeRetries, Phase, SiteRun } from './site-run.ts';
import { askingOfSite, type WaveAnswers, WaveChecks } from './wave-checks.ts';

/** Later retries of a run wait for the next calls of their groups. Keeps the history bounded: a retry costs up to 40 events. */
const MAX_BESIDE_CALLS = 100;

/**
 * Prepares and deploys one group after the other until none is left (docs/explain/design.md#spec-5, "Process").
 * src/core/deployment decides the next step.
 */
export const deployGroups =
  (plan: SitePlan, releases?: Releases): Phase =>
  async (run) => {
    const baremetal = new Baremetal(run, plan, releases);
    await baremetal.deployAll();
    if (run.control.cancelled || run.control.stopping) return { value: undefined, state: 'stopped' };
    const groups = baremetal.criticalFailures();
    if (groups === null) return { value: undefined };
    const detail = groups.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
    return run.failPhase({ kind: 'critical-group-failed', groups }, detail);
  };

/** Releases machines before they are prepared; gives those that could not be released. */
type Releases = (nodes: readonly string[]) => Promise<readonly string[]>;

/** The baremetal phase of a run: calls of groups, one at a time, and retries of nodes beside them. */
class Baremetal {
  readonly run: SiteRun;
  readonly plan: SitePlan;
  readonly #retries: Retries;
  readonly #releases: Releases | undefined;
  readonly #checks: WaveChecks;
  #soak: { readonly until: number; readonly timer: CancellationScope } | null = null;

  constructor(run: SiteRun, plan: SitePlan, releases: Releases | undefined) {
    this.#releases = releases;
    this.run = run;
    this.plan = plan;
    const done = fromRanges(plan.done);
    const groups = plan.groups.map(groupFromWire);
    run.progress.baremetal = startBaremetal(groups, plan.nodes, done, plan.limits !== undefined);
    this.#retries = new Retries(this);
    this.#checks = new WaveChecks(askingOfSite(run, plan), () => run.control.wake());
  }

  get state(): BaremetalState {
    return this.run.progress.baremetal!;
  }
  become(state: BaremetalState): void {
    this.run.progress.baremetal = state;
  }

  async deployAll(): Promise<void> {
    const { run, plan } = this;
    const retries = this.#retries;
    await this.record(fromRanges(plan.done));
    run.retries = retries;
    for (;;) {
      // What operators ask while the store is told something must be seen before the run waits.
      const { version } = run.control;
      if (run.control.paused) await this.#givePermitsBack();
      const may = await run.control.mayStart();
      retries.take();
      if (!may) break;
      const answers = this.#checks.take();
      if (answers !== null) await this.#recordChecks(answers);
      const next = nextCall(this.state, Date.now(), undecided(run.progress.holds));
      this.become(next.state);
      run.reached(next.waiting);
      const isHeld = isRolloutHeld(next.state);
      run.held(isHeld);
      this.#soakUntil(next.rest?.kind === 'soak' ? next.rest : null);
      this.#checks.ask(next.rest?.kind === 'check' ? next.rest : null);
      if (next.rest?.kind === 'permits') {
        await this.#takePermits(next.rest);
        continue;
      }
      if (!next.call) await this.#givePermitsBack();
      if (next.call) await this.#make(next.call);
      else if (next.rest?.kind === 'look') await this.#look(next.rest);
      else if (next.rest || isHeld || next.waiting.length > 0 || retries.underWay()) await run.control.changed(version);
      else if (!retries.pending()) break;
    }
    this.#soakUntil(null);
    this.#checks.ask(null);
    run.retries = null;
    await retries.ended();
    await this.#givePermitsBack();
    await this.#recheckTimedOutNodes();
    for (const line of describeBaremetal(reportBaremetal(endBaremetal(this.state))))
      log.info(`${plan.site}, bare metal: ${line}`);
  }

  /** Critical groups that failed; null when they end nothing. */
  criticalFailures() {
    if (!halts(this.state)) return null;
    const failed = this.state.groups.filter((group) => group.plan.critical && group.state === 'failed');
    return failed.map(({ plan: { name }, failure }) => ({
      name,
      reason: failure ? describeGroupFailure(failure) : 'failed',
    }));
  }

  /** A call for these nodes of a group. */
  request(verb: Call, group: string, nodes: readonly number[]): CallRequest {
    const { plan } = this;
    const { interval, timeout } = plan.pace[verb];
    return {
      verb,
      group,
      site: plan.site,
      revision: plan.revision,
      run_id: this.run.progress.run_id,
      nodes: nodes.map((index) => {
        const { name, attempts, system_id } = this.state.nodes[index]!;
        const attempt = attempts + (verb === 'prepare' ? 1 : 0);
        return { index, name, attempt, ...given({ system_id }) };
      }),
      interval,
      timeout,
      max_parallel_nodes: plan.pace.max_parallel_nodes,
      heartbeat_seconds: plan.pace.heartbeat_seconds,
      ...given({ adopt: this.run.input.adopt, permit: permitOf(this.run, plan) }),
    };
  }

  /** Takes the reports of a call. */
  listener(call: Call): CallListener {
    return {
      started: (index) => {
        this.become(startNode(this.state, index, Date.now()));
        this.run.show();
      },
      finished: (index, result) => {
        this.become(finishNode(this.state, index, call, result, Date.now()));
        this.run.show();
      },
      aborting: (index, is) => {
        this.become(showAbort(this.state, index, is));
        this.run.show();
      },
    };
  }

  record(nodes: readonly number[]): Promise<void> {
    return this.run.record(recordNodes(this.state, nodes));
  }

  /** Wakes the run at the end of a soak; null: it waits for none any more. */
  #soakUntil(rest: Extract<WaveRest, { kind: 'soak' }> | null): void {
    if (this.#soak?.until === rest?.until) return;
    this.#soak?.timer.cancel();
    this.#soak = null;
    if (rest === null) return;
    const { control } = this.run;
    const timer = new CancellationScope({ cancellable: true });
    this.#soak = { until: rest.until, timer };
    const summary = `soak of a wave of group ${rest.group}`;
    timer
      .run(() => sleep(Math.max(1, rest.until - Date.now()), { summary }))
      .then(() => control.wake())
      .catch((error: unknown) => {
        if (!isCancellation(error)) throw error;
      });
    this.run.show();
  }

  /** Takes permits for nodes, and waits until there is one, or something else is to be done. */
  async #takePermits({ nodes }: Extract<WaveRest, { kind: 'permits' }>): Promise<void> {
    const { run, plan } = this;
    const returned = this.#returned();
    const { state } = this;
    const isInterrupted = () => this.state !== state || this.#retries.pending();
    const granted = new Set(await permitsFor(run, this.#permitRequest(nodes), returned, isInterrupted));
    this.become(
      withPermits(
        this.state,
        nodes.filter((node) => granted.has(plan.nodes[node]!)),
      ),
    );
  }

  async #givePermitsBack(): Promise<void> {
    this.run.waitsFor(undefined);
    const returned = this.#returned();
    if (Object.values(returned).some((nodes) => nodes.length > 0))
      await takePermits({ ...this.#permitRequest([]), ...returned });
  }

  #returned() {
    const { state, returned } = returnPermits(this.state);
    const prepared = returned.failed.filter((node) => state.nodes[node]!.state === 'prepared');
    // Without, their deployment takes permits that the run does not know of, and never gives back.
    if (prepared.length > 0 && patched('prepared-need-permits')) this.become(needAgain(state, prepared));
    else if (state !== this.state) this.become(state);
    const named = (nodes: readonly number[]) => nodes.map((node) => this.plan.nodes[node]!);
    return { done: named(returned.done), failed: named(returned.failed), unused: named(returned.unused) };
  }

  #permitRequest(nodes: readonly number[]): TakePermits {
    const { run, plan } = this;
    const named = (ones: readonly number[]) => ones.map((node) => plan.nodes[node]!);
    return { ...permitRequest(run, plan, 'deploy', named(nodes)), holds: named(this.state.permits ?? []) };
  }

  /** Releases nodes before they are prepared, where that is asked for. Those that are not released fail. */
  async #release(nodes: readonly number[]): Promise<readonly number[]> {
    const { run, plan } = this;
    if (this.#releases === undefined) return nodes;
    const before = new Set(
      (run.progress.released ?? []).flatMap(({ name, state }) => (state === 'success' ? [name] : [])),
    );
    const names = nodes.map((node) => plan.nodes[node]!).filter((name) => !before.has(name));
    const unreleased = names.length === 0 ? [] : await this.#releases(names);
    if (run.control.stopping || run.control.cancelled) return nodes;
    const isLeft = (node: number) => unreleased.includes(plan.nodes[node]!);
    const { started, finished } = this.listener('prepare');
    for (const node of nodes.filter(isLeft)) {
      started(node);
      finished(node, { ok: false, failure: { kind: 'not-released', message: 'its machine could not be released' } });
    }
    return nodes.filter((node) => !isLeft(node));
  }

  /** Looks at the nodes of a rollout after the soak of a wave. */
  async #look({ group, nodes }: Extract<WaveRest, { kind: 'look' }>): Promise<void> {
    const { run, plan } = this;
    const { site, revision, pace } = plan;
    const names = nodes.map((index) => plan.nodes[index]!);
    const options = inquiry(
      `look at ${counted(names.length, 'node')} of group ${this.state.groups[group]!.plan.name} after their soak`,
      pace.heartbeat_seconds,
    );
    run.show();
    const lookedAt = Date.now();
    const look = await run.control
      .readOnly(() =>
        Promise.all(
          slicesOf(names).map((some) => callActivity('inspect_nodes', { site, revision, nodes: some }, options)),
        ),
      )
      .then((found) => ({ problems: found.flatMap(({ problems }) => problems) }))
      .catch((error: unknown) => {
        const { type, message } = stepError(error);
        if (type === CLAIM_LOST) throw error;
        return { unseen: message };
      });
    // It was interrupted: the run ends.
    if (run.control.stopping || run.control.cancelled) return;
    this.become(recordLook(this.state, group, look, lookedAt));
    await this.record(nodes.filter((index) => this.state.nodes[index]!.state === 'failed'));
  }

  async #recordChecks({ group, findings, askedAt }: WaveAnswers): Promise<void> {
    const before = this.state.nodes;
    this.become(recordChecks(this.state, group, findings, askedAt));
    const { nodes } = this.state;
    this.run.show();
    await this.record([...nodes.keys()].filter((index) => nodes[index] !== before[index]));
  }

  async #make(next: NextCall): Promise<void> {
    const { run, plan } = this;
    const retries = this.#retries;
    const failures_left = failuresLeftIn(this.state, this.state.groups[next.group]!, next.nodes);
    const nodes = next.call === 'prepare' ? await this.#release(next.nodes) : next.nodes;
    const request = { ...this.request(next.call, next.name, nodes), ...given({ failures_left }) };
    const members = this.state.groups[next.group]!.plan.nodes;
    const listener: CallListener = {
      ...this.listener(next.call),
      ...(failures_left !== undefined && {
        mayStart: () => mayStartNode(this.state, this.state.groups[next.group]!, next.nodes),
      }),
    };
    const finish = (end: CallEnd): void => {
      this.become(finishCall(this.state, end, Date.now()));
      run.show();
    };
    // A group is judged with the nodes that are being retried.
    let complete: CallEnd | null = null;
    const announce = (end: CallEnd): void => {
      retries.settling = next.nodes;
      if (end.kind === 'complete' && retries.underWay(members)) complete = end;
      else finish(end);
    };
    run.show();
    // Servers that know event groups show the events of a group together.
    await createEventGroup(`group ${next.name}`).withScope(() =>
      run.call(plan.nodes.length, request, listener, announce),
    );
    retries.settling = [];
    if (complete !== null) {
      await retries.ended(members);
      finish(complete);
    }
    await this.record(next.nodes);
  }

  /** A node may have finished after its timeout. Reads its final state and changes nothing (docs/explain/design.md#deployment-groups). */
  async #recheckTimedOutNodes(): Promise<void> {
    const { run, plan } = this;
    if (run.control.cancelled) return;
    const timedOut = this.state.nodes.flatMap((node, index) =>
      node.failure?.kind === 'timeout' && !node.late?.ok ? [{ node, index, call: node.failure.call }] : [],
    );
    await Promise.all(
      timedOut.map(async ({ node, index, call }) => {
        const summary = `check whether ${node.name} finished after its timeout`;
        const options = abortCall(`look:${node.name}`, summary, plan.pace.heartbeat_seconds);
        const request = nodeRequest(
          { site: plan.site, revision: plan.revision, run_id: run.progress.run_id, interval: plan.pace[call].interval },
          { ...node, attempt: node.attempts },
        );
        const answer = await run.control
          .readOnly(() => callActivity('look_at_node', request, options))
          .catch(() => null);
        const late = answer ? lateResult(call, answer) : null;
        const isOpen = node.late?.open === true && answer !== null;
        const found = late ?? (isOpen ? foundLater(answer) : null);
        if (found && (found.ok || isOpen)) this.become(finishNode(this.state, index, call, found, Date.now()));
      }),
    );
    if (timedOut.length > 0) await this.record(timedOut.map(({ index }) => index));
  }
}

/** How many nodes one look takes. */
const NODES_PER_LOOK = 250;

const slicesOf = (names: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(names.length / NODES_PER_LOOK) }, (_, at) =>
    names.slice(at * NODES_PER_LOOK, (at + 1) * NODES_PER_LOOK),
  );

/** What became of a change that MAAS had not answered in time. */
function foundLater({ found, message }: AbortAnswer): NodeResult {
  const what = found === 'running' ? 'MAAS did it after all, and goes on' : 'MAAS has not done it';
  return { ok: false, failure: { kind: found, message: `${what}: ${message}` } };
}

/** Retries of failed nodes at operators' requests, beside the calls of groups. */
class Retries implements NodeRetries {
  /** Nodes of an aborted call of a group: they are not retried until their work in MAAS is settled. */
  settling: readonly number[] = [];
  readonly #of: Baremetal;
  readonly #limit: number;
  readonly #requested: string[] = [];
  readonly #open = new Set<number>();
  #started = 0;
  #awaitsResume = false;
  #error: unknown = null;

  constructor(of: Baremetal) {
    this.#of = of;
    this.#limit = Math.max(1, of.plan.pace.max_parallel_nodes);
  }

  request(node: string): void {
    this.#requested.push(node);
    this.#startWhatCan();
  }

  /** Starts retries that could not start when requested. Call it between calls. @throws the failure of a retry that ends the run */
  take(): void {
    if (this.#error !== null) throw this.#error;
    this.#startWhatCan();
    if (this.#requested.length > 0 && !this.#mayStartMore) {
      for (const node of this.#requested.splice(0)) this.#of.become(retryNode(this.#of.state, node));
    }
  }

  /** Whether a retry of this node, or of any, was requested and has not started. */
  pending(node?: string): boolean {
    return node === undefined ? this.#requested.length > 0 : this.#requested.includes(node);
  }

  /** Whether retries of these nodes, or of any, have started and not ended. */
  underWay(nodes?: readonly number[]): boolean {
    return nodes === undefined ? this.#open.size > 0 : nodes.some((node) => this.#open.has(node));
  }

  /** Resolves when retries of these nodes, or of all, have ended. @throws the failure of a retry that ends the run */
  async ended(nodes?: readonly number[]): Promise<void> {
    while (this.underWay(nodes)) await this.#of.run.control.changed();
    if (this.#error !== null) throw this.#error;
  }

  /** A machine that needs a permit is retried in the next calls of its groups. */
  get #mayStartMore(): boolean {
    return this.#started < MAX_BESIDE_CALLS && this.#of.state.permits === undefined;
  }

  #startWhatCan(): void {
    const { control } = this.#of.run;
    for (const node of this.#requested.splice(0)) {
      const index = this.#of.state.nodes.findIndex(({ name }) => name === node);
      const free = this.#open.size < this.#limit && !this.settling.includes(index);
      const may = !control.paused && !control.stopping && !control.cancelled;
      // A request runs in the scope of the workflow, whose cancellation would also end the abort at MAAS.
      if (free && may && this.#mayStartMore) void CancellationScope.nonCancellable(() => this.#begin(node, index));
      else this.#requested.push(node);
    }
    if (this.#requested.length > 0 && control.paused) this.#startWhenResumed();
  }

  #startWhenResumed(): void {
    if (this.#awaitsResume) return;
    this.#awaitsResume = true;
    // As above: in the scope of a request, a cancellation of the workflow would reject what no one awaits.
    void CancellationScope.nonCancellable(() => this.#of.run.control.mayStart()).then(() => {
      this.#awaitsResume = false;
      this.#startWhatCan();
    });
  }

  async #begin(node: string, index: number): Promise<void> {
    const of = this.#of;
    const { run } = of;
    this.#started += 1;
    this.#open.add(index);
    try {
      of.become(startRetry(of.state, node));
      await createEventGroup(`retry of ${node}`).withScope(async () => {
        await this.#call(index, 'prepare');
        if (!mayDeployRetried(of.state, index) || !(await run.control.mayStart())) return;
        of.become(deployRetried(of.state, index));
        await this.#call(index, 'deploy');
      });
      of.become(endRetry(of.state, index));
      await of.record([index]);
    } catch (thrown) {
      this.#error ??= thrown;
      of.become(endRetry(of.state, index));
    }
    this.#open.delete(index);
    run.show();
    this.#startWhatCan();
    run.control.wake();
  }

  /** The store has the node as failed, or as prepared: it is recorded that it is at work again. */
  async #call(index: number, verb: Call): Promise<void> {
    const of = this.#of;
    const { run } = of;
    const group = of.state.groups[of.state.nodes[index]!.retrying!.group]!.plan.name;
    const made = runCall(of.request(verb, group, [index]), run.control, of.listener(verb), (end) => {
      of.become(finishRetriedCall(of.state, index, end, Date.now()));
      run.show();
    });
    run.show();
    await Promise.all([made, of.record([index])]);
  }
}
