import { randomUUID } from 'node:crypto';
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import type { OperatorUpdate, QueryAnswer, UpdateRequest, WorkflowContracts } from '../../workflows/contract.ts';
import { prefixed, siteWorkflowId, WORKFLOWS } from '../../workflows/protocol.ts';
import { readGraphsLeft } from '../clusters/graphs-left.ts';
import type { NodeReport } from '../core/contracts/site-run-report.ts';
import { given } from '../core/data/given.ts';
import { successesNeeded } from '../core/deployment/criteria.ts';
import { treeOfGraphs } from '../core/graph-run/tree.ts';
import { continueRun, runAgain, statusOfRun } from '../core/next-steps.ts';
import { lostReport } from '../core/run/lost-report.ts';
import type { OperatorNote } from '../core/run/operator.ts';
import { refusedId } from '../core/run/passed-on.ts';
import type { AnyRunReport, AnyRunStatus } from '../core/run/status.ts';
import { graphRunOf, numberOf } from '../core/run/subject.ts';
import { explainRunFailure } from '../core/site-run/failure.ts';
import { parseSiteRunInput, type SiteRunInput } from '../core/site-run/input.ts';
import { assembleReport, nodesOfRun } from '../core/site-run/report.ts';
import { treeOfSiteRun } from '../core/site-run/tree.ts';
import type { TaskOnNode } from '../core/task-on-node.ts';
import type { SiteRunKind } from '../core/words.ts';
import { metadataClient } from '../platform/temporal/metadata-client.ts';
import { type FoundExecution, findExecution } from '../runs/find-execution.ts';
import { wholeGraphReport } from '../runs/graph-report.ts';
import { lostRun } from '../runs/life.ts';
import { findEnd } from '../runs/run-lookups.ts';
import {
  type Json,
  type NewAuditEntry,
  type Page,
  type RunFilter,
  type RunRecord,
  type RunSummary,
  StoreError,
} from '../store/index.ts';
import { EarlierRuns } from './earlier-runs.ts';
import { graphStatusFromReport, siteStatusFromReport } from './ended-site-run.ts';
import { RunTaskOperations } from './graphs/run-tasks.ts';
import { LateNodes } from './late-nodes.ts';
import { nodeInRun, taskInRun } from './named-in-run.ts';
import { asProblem, invalidInput, type ProblemError, problem } from './problem.ts';
import { refusalOf, siteBusy } from './refusal.ts';
import { Service } from './service.ts';
import { explainSilence, whyUnattended } from './silent-run.ts';
import { checkNames, parseReference } from './sites.ts';
import { startRun } from './start-run.ts';
import { temporalAddress } from './temporal-address.ts';
import { callTemporal, requestOfTemporal, unanswered } from './temporal-calls.ts';
import { asWaiting, waitingRuns } from './waiting-runs.ts';
import { appendAudit, ifReachable, orWithoutStore } from './without-store.ts';
import { getRun, type RunType } from './workflow-calls.ts';

/** A run for lists and pages. */
interface RunView extends RunSummary {
  /** Of a run of graphs. */
  readonly cluster: number | null;
  /** This run's page in Temporal's Web UI; null if no UI is configured. */
  readonly temporalUrl: string | null;
}

/** A run as its page shows it. */
interface ShownRun {
  readonly run: RunView;
  readonly status: AnyRunStatus;
  /** Null while it is a run of graphs that goes on. */
  readonly report: AnyRunReport | null;
  /** Of a run on a site. */
  readonly nodes: readonly NodeReport[];
  /** How many nodes of a group must succeed, by its name; null: more than it has. */
  readonly needed: Readonly<Record<string, number | null>>;
}

interface FoundRun {
  readonly run: RunRecord;
  readonly execution?: FoundExecution;
  /** Of one that ended without writing it. */
  readonly report?: AnyRunReport;
  /** What could not be asked about it. */
  readonly away?: keyof typeof AWAY;
}

const AWAY = {
  store: 'The store cannot be reached: the run itself answers.',
  temporal: 'Temporal cannot be reached: this is what the run showed last.',
} as const;

type Answers = WorkflowContracts[RunType]['queries'];

/** Runs on sites, and graph runs on clusters. */
export class RunOperations extends Service {
  readonly #unopened = waitingRuns(this.temporal);
  readonly #earlier = new EarlierRuns(this.store);
  readonly #late = new LateNodes(this.store, this.temporal.client);
  readonly #tasks = new RunTaskOperations(this.deps);
  readonly #handleOf = (run: RunSummary) =>
    getRun<RunType>(this.temporal.client.workflow, run.workflowId, run.temporalRunId);
  readonly #call = <T>(work: () => Promise<T>) => callTemporal(this.temporal, work);
  readonly #request = <T>(work: () => Promise<T>) => requestOfTemporal(this.temporal, work);
  /** The one that the run has now: a reset changes it. */
  readonly #executionOf = (run: RunSummary) =>
    this.#call(() => findExecution(this.temporal.client, run.workflowId, run.temporalRunId));
  readonly #current = async (id: string): Promise<RunRecord> => (await this.#found(id)).run;

  /** Starts a workflow on a site. @throws `site-busy` with the run that holds the site. */
  async start(kind: SiteRunKind, input: SiteRunInput): Promise<RunView> {
    const parsed = parseSiteRunInput(kind, [input]);
    if (!parsed.ok) throw invalidInput(parsed.problems);
    const { site } = input;
    parseReference(String(input.revision ?? 'latest'));
    await ifReachable(() => checkNames(this.store, input));
    const id = siteWorkflowId(kind, site);
    const who = input.started_by ? ` by ${input.started_by}` : '';
    const startNow = () => startRun(this.deps, kind, id, input, `${kind} ${site}${who}`);
    const started = await startNow().catch(async (error: unknown) => {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      await this.#untilClosed(site, prefixed(this.temporal.prefix, id));
      return startNow();
    });
    switch (started.kind) {
      case 'refused':
        throw await refusalOf(this.deps, started.failure, explainRunFailure(started.failure, { kind, site, left: [] }));
      case 'opened':
        return this.#view(await this.store.runs.get(started.run.id));
      case 'waiting':
        return this.#view(asWaiting(await this.#call(() => this.#unopened.started(started.workflowId, started.id))));
    }
  }

  async list(filter: RunFilter = {}): Promise<Page<RunView>> {
    const page = await this.store.runs.list(filter);
    const { workflowId } = filter;
    // A user may leave out the prefix of this installation.
    const isPrefixed = workflowId === undefined || workflowId === prefixed(this.temporal.prefix, workflowId);
    const found = page.items.length > 0 || isPrefixed;
    const full = found
      ? page
      : await this.store.runs.list({ ...filter, workflowId: prefixed(this.temporal.prefix, workflowId) });
    const waiting = filter.before === undefined ? await this.#listWaiting(filter) : [];
    return { ...full, items: [...waiting, ...full.items].map((one) => this.#view(one)) };
  }
  /**
   * Refuses a site or a cluster that neither exists nor has runs: what is deleted keeps its runs.
   * @throws `not-found` with a suggestion
   */
  async checkSubject({ site, cluster }: { readonly site?: string; readonly cluster?: number }): Promise<void> {
    const hasRuns = async (filter: RunFilter) => (await this.store.runs.list({ ...filter, limit: 1 })).items.length > 0;
    await ifReachable(async () => {
      if (site !== undefined && !(await hasRuns({ site }))) await this.store.sites.get(site);
      if (cluster !== undefined && !(await hasRuns({ labels: [['cluster', String(cluster)]] })))
        await this.store.clusters.brief(cluster);
    });
  }
  async get(id: string): Promise<RunView & { readonly parameters: Json }> {
    return this.#view(await this.#current(id));
  }

  async status(id: string): Promise<AnyRunStatus> {
    const one = await this.#found(id);
    return this.#statusOf(one, one.run.outcome === null ? null : await this.#reportOf(one));
  }
  async report(id: string): Promise<AnyRunReport> {
    const one = await this.#found(id);
    const { run, away } = one;
    const outline = await this.#reportOf(one);
    // That of an ended run has all failures.
    const isWhole = 'site' in outline || run.outcome !== null;
    const report = isWhole ? outline : ((await ifReachable(() => wholeGraphReport(this.store, outline))) ?? outline);
    return away === undefined ? report : { ...report, warnings: [...report.warnings, AWAY[away]] };
  }
  /** Every step and node, with the tasks of graphs. */
  async tree(id: string): Promise<Answers['tree']> {
    const one = await this.#found(id);
    const { run } = one;
    const report = await this.#reportOf(one);
    const status = run.outcome === null ? await this.#shownStatus(one) : statusOfEnded(run, report);
    if ('site' in report) return treeOfSiteRun(report, { software: null, ...status });
    const nodes = await ifReachable(() => this.#tasks.trees(id));
    if (nodes === null) return this.#ask(run, 'tree');
    return treeOfGraphs(
      run.workflowId,
      { ...status, graphs: report.graphs },
      ({ transaction }) => nodes.get(transaction) ?? [],
    );
  }
  async plan(id: string): Promise<Answers['plan']> {
    return this.#planOf(await this.#current(id));
  }
  /** How long its nodes or tasks took in earlier runs of its kind. */
  async usualTimes(id: string, of: Parameters<EarlierRuns['usualTimes']>[1]) {
    return this.#earlier.usualTimes(await this.store.runs.get(id), of);
  }
  /** Every node of a run on a site, as it is now. */
  async nodes(id: string): Promise<readonly NodeReport[]> {
    const one = await this.#found(id);
    const { run } = one;
    return this.#nodesOf(run, run.outcome === null ? await this.#reportOf(one) : null);
  }
  /** As `nodes`, as the run showed them last: a list of many machines does not ask Temporal about each run. */
  async shownNodes(id: string): Promise<readonly NodeReport[]> {
    const run = await this.store.runs.get(id);
    return this.#nodesOf(run, run.outcome === null ? await this.#reportOf({ run }) : null);
  }
  /** All that the page of a run shows of it, from one report. */
  async shown(id: string): Promise<ShownRun> {
    const one = await this.#found(id);
    const { run } = one;
    const isOfGraphs = run.kind === WORKFLOWS.execute_graph;
    const report = isOfGraphs && run.outcome === null ? null : await this.#reportOf(one);
    const status = await this.#statusOf(one, report);
    const groups = run.plan?.groups ?? [];
    const needed = groups.map((group) => [group.name, successesNeeded(group.success_criteria, group.total)] as const);
    return {
      ...{ run: this.#view(run), status, report },
      nodes: isOfGraphs ? [] : await this.#nodesOf(run, report),
      needed: Object.fromEntries(needed),
    };
  }

  /** An operator's request to a running run, which decides about it. @throws `refused` */
  async update<U extends OperatorUpdate>(id: string, update: U, request: UpdateRequest<U>): Promise<AnyRunStatus> {
    const run = await this.#live(id);
    const { by, reason, ...target }: OperatorNote = request;
    const named = Object.entries<unknown>(target).map(([name, value]) => (value === true ? name : value));
    const said = [...named, reason].filter(Boolean).join(': ');
    // Before it counts, so that its name can be believed.
    const about = Object.keys(target).length === 0 ? {} : { details: target };
    const entry = await this.#audited(`run.${update}`, run, { by, reason: said || undefined }, about);
    const passedOn = by === undefined ? request : { ...request, entry };
    return await this.#steer(run, () => this.#handleOf(run).update(update, passedOn)).catch(async (error: unknown) => {
      if (error instanceof WorkflowUpdateFailedError) {
        const details = { refused: error.cause?.message ?? error.message };
        await this.#audited(`run.${update}`, run, { by }, { id: refusedId(entry), details });
        throw problem('refused', error.cause?.message ?? error.message, {
          hint: `See how it stands: ${statusOfRun(numberOf(run))}`,
        });
      }
      throw error;
    });
  }
  /** Has a paused run go on: in Temporal first, where Temporal itself has paused its workflow. */
  async resume(id: string, request: OperatorNote): Promise<AnyRunStatus> {
    const run = await this.#live(id);
    const execution = await this.#executionOf(run);
    if (execution?.isPaused) {
      const { by, reason } = request;
      await this.#audited('run.resume', run, { by, reason: reason ?? 'it was paused in Temporal' });
      await this.#call(() =>
        this.temporal.connection.workflowService.unpauseWorkflowExecution({
          namespace: this.temporal.namespace,
          workflowId: run.workflowId,
          runId: execution.runId,
          identity: by ?? '',
          reason: reason ?? '',
          requestId: randomUUID(),
        }),
      );
    }
    return await this.update(id, 'resume', request);
  }
  /** The node of a run on a site that a person means. */
  async nodeNamed(id: string, node: string): Promise<string> {
    const run = await this.#live(id);
    return orWithoutStore(
      () => nodeInRun(this.store, run, node),
      () => node,
    );
  }
  /** The task of a run of graphs that a person means. @throws `not-found` with a suggestion */
  async taskNamed(id: string, of: TaskOnNode): Promise<TaskOnNode> {
    const run = await this.#live(id);
    return orWithoutStore(
      () => taskInRun(this.store, graphRunOf(run), of),
      () => of,
    );
  }
  /** Ends gracefully: running work finishes, nothing new starts. */
  async stop(id: string, request: OperatorNote): Promise<void> {
    const run = await this.#live(id);
    const entry = await this.#audited('run.stop', run, request);
    await this.#steer(run, () => this.#handleOf(run).signal('stop', { ...request, entry }));
  }
  /** Aborts running work, as far as MAAS can. */
  async cancel(id: string, request: OperatorNote): Promise<void> {
    const run = await this.#live(id);
    await this.#audited('run.cancel', run, request);
    await this.#steer(run, () => this.#handleOf(run).cancel());
  }

  #view<T extends RunSummary>(run: T): T & RunView {
    return {
      ...run,
      cluster: graphRunOf(run).cluster,
      temporalUrl:
        run.temporalRunId === null ? null : temporalAddress(this.deps, 'workflows', run.workflowId, run.temporalRunId),
    };
  }

  /** The run with the execution that it has now; as ended if its workflow has, although no worker has closed its record yet. */
  async #found(id: string): Promise<FoundRun> {
    let away: FoundRun['away'];
    const run = await orWithoutStore(
      () => this.store.runs.get(id).catch(this.#notYetOpened(id)),
      () => {
        away = 'store';
        return this.#call(() => this.#unopened.find(id));
      },
    );
    if (run.outcome !== null) return { run };
    let execution: FoundExecution | null;
    try {
      execution = await this.#executionOf(run);
    } catch (error) {
      if (asProblem(error).code !== 'temporal-unreachable') throw error;
      return { run, away: 'temporal' };
    }
    if (!execution?.isOpen) return this.#lost(run);
    return { run: { ...run, temporalRunId: execution.runId }, execution, ...given({ away }) };
  }
  async #lost({ id, workflowId, temporalRunId }: RunRecord): Promise<FoundRun> {
    const end = await this.#call(() => findEnd(this.temporal.client, workflowId, temporalRunId));
    // Read afterwards: it may just have ended by itself.
    const run = await this.store.runs.get(id);
    return end === null || run.outcome !== null ? { run } : lostRun(this.store, run, end);
  }
  /** As the run showed it last; if it has shown none, or the store cannot be reached, as it answers now. */
  async #shownStatus({ run, execution, away }: FoundRun): Promise<AnyRunStatus> {
    const shown = run.status === null || run.statusAt === null ? null : { ...run.status, as_of: run.statusAt };
    const status = shown ?? (await this.#ask(run, 'status'));
    const why = away !== undefined ? AWAY[away] : shown && (await whyUnattended(this.temporal, run, execution));
    return why === null ? status : { ...status, warnings: [...status.warnings, why] };
  }
  /** A run that is not in the store may be in Temporal: no worker has opened it. */
  #notYetOpened(id: string) {
    return async (error: unknown): Promise<RunRecord> => {
      if (!(error instanceof StoreError) || error.failure.kind !== 'not-found') throw error;
      const run = await this.#call(() => this.#unopened.find(id)).catch(() => undefined);
      if (run === undefined) throw error;
      return asWaiting(run);
    };
  }

  /** Runs that Temporal has accepted and no worker has opened. A list does not wait long for them. */
  async #listWaiting(filter: RunFilter): Promise<readonly RunSummary[]> {
    if (filter.open === false || filter.outcome !== undefined) return [];
    const known = (ids: readonly string[]) => this.store.runs.known(ids);
    return callTemporal(this.temporal, () => this.#unopened.list(filter, known), WAITING_LIMIT_MS).catch(() => []);
  }

  /**
   * Waits for the open run with this workflow id to end, if it has reported its end: that takes a moment.
   * @throws `site-busy` while it works
   */
  async #untilClosed(site: string, workflowId: string): Promise<void> {
    const { runId } = await this.#call(() => metadataClient(this.temporal.client).getHandle(workflowId).describe());
    const outcome = await this.store.runs.get(runId).then(
      (stored) => stored.outcome,
      () => null,
    );
    if (outcome === null) {
      const run = { id: runId, workflow_id: workflowId };
      throw await siteBusy(this.deps, site, run);
    }
    await this.#call(() => this.temporal.client.workflow.getHandle(workflowId, runId).result()).catch(
      (error: unknown) => {
        if (!(error instanceof WorkflowFailedError)) throw error;
      },
    );
  }

  async #live(id: string): Promise<RunRecord> {
    const run = await this.#current(id);
    if (run.outcome === null) return run;
    throw await this.#ended(run, run.outcome);
  }

  /** Refuses a change to a run that has ended; names the command that goes on from it. */
  async #ended(run: RunRecord, how: string): Promise<ProblemError> {
    const number = numberOf(run);
    const { transaction } = graphRunOf(run);
    const isLeft = async (id: number) =>
      (await readGraphsLeft(this.store, await this.store.transactions.getRun(id))).ok;
    // Its transaction may be deleted.
    const continues = transaction !== null && (await ifReachable(() => isLeft(transaction)).catch(() => false));
    return problem('run-ended', `run ${number} has ended: ${how}`, {
      hint: continues ? `Continue it: ${continueRun(number)}` : `Start it again: ${runAgain(number)}`,
    });
  }

  /** @returns the id of the entry */
  #audited(
    action: string,
    run: RunRecord,
    { by = 'unknown', reason }: { readonly by?: string | undefined; readonly reason?: string | undefined },
    more: Pick<NewAuditEntry, 'id' | 'details'> = {},
  ): Promise<string> {
    return appendAudit(this.store, { actor: by, action, target: `run/${run.id}`, ...given({ reason }), ...more });
  }

  /** As the run wrote or showed it last, which of an open run of graphs leaves out failures; if it has not, or the store cannot be reached, as its workflow answers now. */
  async #reportOf({ run, report: lost }: FoundRun): Promise<AnyRunReport> {
    if (lost !== undefined) return lost;
    const stored = await ifReachable(async () => {
      const report = (await this.store.runs.getReport(run.id)) as AnyRunReport | undefined;
      if (run.outcome !== null) return report ?? lostReport(run);
      // One that was reset may show the end that it had before.
      if (report === undefined || report.outcome !== undefined) return null;
      return 'site' in report ? assembleReport(report, await this.store.runs.listNodes(run.id), run.plan) : report;
    });
    return stored ?? this.#ask(run, 'report');
  }

  /** @param report needed of a run that has ended */
  async #statusOf(one: FoundRun, report: AnyRunReport | null): Promise<AnyRunStatus> {
    const { run } = one;
    if (run.outcome === null || report === null)
      return this.#withLateNodes(run, await this.#earlier.withExpectedEnd(run, await this.#shownStatus(one)));
    return statusOfEnded(run, report);
  }

  /** A run that is paused is late on purpose. */
  async #withLateNodes(run: RunRecord, status: AnyRunStatus): Promise<AnyRunStatus> {
    if (!('site' in status) || status.paused !== null || status.current === null) return status;
    const late = (await ifReachable(() => this.#late.of(run))) ?? [];
    return late.length === 0 ? status : { ...status, late: [...late] };
  }

  /** An open run's report is newer than what it has recorded of its nodes. */
  async #nodesOf(run: RunRecord, report: AnyRunReport | null): Promise<readonly NodeReport[]> {
    if (run.outcome === null && report !== null && 'site' in report) return nodesOfRun(report, run.plan);
    return (await this.store.runs.listNodes(run.id)).map((one) => one.report);
  }

  /** As the run showed it; before it has shown one, or without the store, as its workflow answers. */
  async #planOf(run: RunRecord): Promise<Answers['plan']> {
    if (run.kind !== WORKFLOWS.execute_graph) return run.plan ?? (run.outcome === null ? this.#ask(run, 'plan') : null);
    return (await ifReachable(() => this.#tasks.plans(run.id))) ?? this.#ask(run, 'plan');
  }

  async #ask<Q extends keyof Answers>(run: RunSummary, query: Q, limitMs?: number): Promise<QueryAnswer<RunType, Q>> {
    return callTemporal(this.temporal, () => this.#handleOf(run).query(query), limitMs).catch(
      async (error: unknown) => {
        const shown = unanswered(run, error);
        throw shown === error ? await explainSilence(this.temporal, run, error) : shown;
      },
    );
  }

  /** A change to a run that ends at the same moment fails like any change to an ended run. */
  async #steer<T>(run: RunRecord, work: () => Promise<T>): Promise<T> {
    try {
      return await this.#request(work);
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw await this.#ended(run, 'just now');
      throw await explainSilence(this.temporal, run, error);
    }
  }
}

const statusOfEnded = (run: RunRecord, report: AnyRunReport): AnyRunStatus =>
  'site' in report ? siteStatusFromReport(run, report) : graphStatusFromReport(run, report);

/** A list does not wait longer for runs that no worker has opened. */
const WAITING_LIMIT_MS = 900;
