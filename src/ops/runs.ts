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
import { successesNeeded } from '../core/deployment/index.ts';
import { treeOfGraphs } from '../core/graph-run/index.ts';
import { continueRun, reportOfRun, runAgain } from '../core/next-steps.ts';
import type { OperatorNote } from '../core/run/index.ts';
import { lostReport } from '../core/run/lost-report.ts';
import { refusedId } from '../core/run/passed-on.ts';
import type { AnyRunReport, AnyRunStatus } from '../core/run/status.ts';
import { graphRunOf, numberOf } from '../core/run/subject.ts';
import {
  assembleReport,
  explainRunFailure,
  nodesOfRun,
  parseSiteRunInput,
  type SiteRunInput,
  type SiteRunKind,
  treeOfSiteRun,
} from '../core/site-run/index.ts';
import type { TaskOnNode } from '../core/task-on-node.ts';
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
import type { OpsDependencies } from './dependencies.ts';
import { earlierRuns } from './earlier-runs.ts';
import { graphStatusFromReport, siteStatusFromReport } from './ended-site-run.ts';
import { runTaskOperations } from './graphs/run-tasks.ts';
import { nodeInRun, taskInRun } from './named-in-run.ts';
import { asProblem, invalidInput, type ProblemError, problem } from './problem.ts';
import { refusalOf, siteBusy } from './refusal.ts';
import { explainSilence, whyUnattended } from './silent-run.ts';
import { checkNames, parseReference } from './sites.ts';
import { startRun } from './start-run.ts';
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

export type RunOperations = ReturnType<typeof runOperations>;

/** Runs on sites, and graph runs on clusters. */
export function runOperations(deps: OpsDependencies) {
  const { store, temporal } = deps;
  const { client } = temporal;

  const handleOf = (run: RunSummary) => getRun<RunType>(client.workflow, run.workflowId, run.temporalRunId);
  const call = <T>(work: () => Promise<T>) => callTemporal(temporal, work);
  const request = <T>(work: () => Promise<T>) => requestOfTemporal(temporal, work);
  const unopened = waitingRuns(temporal);
  const earlier = earlierRuns(store);
  const tasks = runTaskOperations(deps);

  const view = <T extends RunSummary>(run: T): T & RunView => ({
    ...run,
    cluster: graphRunOf(run).cluster,
    temporalUrl: temporalUrl(deps, run),
  });

  /** The one that the run has now: a reset changes it. */
  const executionOf = (run: RunSummary) => call(() => findExecution(client, run.workflowId, run.temporalRunId));

  /** The run with the execution that it has now; as ended if its workflow has, although no worker has closed its record yet. */
  async function found(id: string): Promise<FoundRun> {
    let away: FoundRun['away'];
    const run = await orWithoutStore(
      () => store.runs.get(id).catch(notYetOpened(id)),
      () => {
        away = 'store';
        return call(() => unopened.find(id));
      },
    );
    if (run.outcome !== null) return { run };
    let execution: FoundExecution | null;
    try {
      execution = await executionOf(run);
    } catch (error) {
      if (asProblem(error).code !== 'temporal-unreachable') throw error;
      return { run, away: 'temporal' };
    }
    if (!execution?.isOpen) return lost(run);
    return { run: { ...run, temporalRunId: execution.runId }, execution, ...given({ away }) };
  }
  async function lost({ id, workflowId, temporalRunId }: RunRecord): Promise<FoundRun> {
    const end = await call(() => findEnd(client, workflowId, temporalRunId));
    // Read afterwards: it may just have ended by itself.
    const run = await store.runs.get(id);
    return end === null || run.outcome !== null ? { run } : lostRun(store, run, end);
  }
  /** As the run showed it last; if it has shown none, or the store cannot be reached, as it answers now. */
  async function shownStatus({ run, execution, away }: FoundRun): Promise<AnyRunStatus> {
    const shown = run.status === null || run.statusAt === null ? null : { ...run.status, as_of: run.statusAt };
    const status = shown ?? (await ask(run, 'status'));
    const why = away !== undefined ? AWAY[away] : shown && (await whyUnattended(temporal, run, execution));
    return why === null ? status : { ...status, warnings: [...status.warnings, why] };
  }
  /** A run that is not in the store may be in Temporal: no worker has opened it. */
  const notYetOpened =
    (id: string) =>
    async (error: unknown): Promise<RunRecord> => {
      if (!(error instanceof StoreError) || error.failure.kind !== 'not-found') throw error;
      const run = await call(() => unopened.find(id)).catch(() => undefined);
      if (run === undefined) throw error;
      return asWaiting(run);
    };

  const current = async (id: string): Promise<RunRecord> => (await found(id)).run;

  /** Runs that Temporal has accepted and no worker has opened. A list does not wait long for them. */
  async function listWaiting(filter: RunFilter): Promise<readonly RunSummary[]> {
    if (filter.open === false || filter.outcome !== undefined) return [];
    const known = (ids: readonly string[]) => store.runs.known(ids);
    return callTemporal(temporal, () => unopened.list(filter, known), WAITING_LIMIT_MS).catch(() => []);
  }

  /**
   * Waits for the open run with this workflow id to end, if it has reported its end: that takes a moment.
   * @throws `site-busy` while it works
   */
  async function untilClosed(site: string, workflowId: string): Promise<void> {
    const { runId } = await call(() => metadataClient(client).getHandle(workflowId).describe());
    const outcome = await store.runs.get(runId).then(
      (stored) => stored.outcome,
      () => null,
    );
    if (outcome === null) {
      const run = { id: runId, workflow_id: workflowId };
      throw await siteBusy(deps, site, run);
    }
    await call(() => client.workflow.getHandle(workflowId, runId).result()).catch((error: unknown) => {
      if (!(error instanceof WorkflowFailedError)) throw error;
    });
  }

  async function live(id: string): Promise<RunRecord> {
    const run = await current(id);
    if (run.outcome === null) return run;
    throw await ended(run, run.outcome);
  }

  /** Refuses a change to a run that has ended; names the command that goes on from it. */
  async function ended(run: RunRecord, how: string): Promise<ProblemError> {
    const number = numberOf(run);
    const { transaction } = graphRunOf(run);
    const isLeft = async (id: number) => (await readGraphsLeft(store, await store.transactions.getRun(id))).ok;
    // Its transaction may be deleted.
    const continues = transaction !== null && (await ifReachable(() => isLeft(transaction)).catch(() => false));
    return problem('run-ended', `run ${number} has ended: ${how}`, {
      hint: continues ? `Continue it: ${continueRun(number)}` : `Start it again: ${runAgain(number)}`,
    });
  }

  /** @returns the id of the entry */
  const audited = (
    action: string,
    run: RunRecord,
    { by = 'unknown', reason }: { readonly by?: string | undefined; readonly reason?: string | undefined },
    more: Pick<NewAuditEntry, 'id' | 'details'> = {},
  ): Promise<string> =>
    appendAudit(store, { actor: by, action, target: `run/${run.id}`, ...given({ reason }), ...more });

  /** As the run wrote or showed it last, which of an open run of graphs leaves out failures; if it has not, or the store cannot be reached, as its workflow answers now. */
  async function reportOf({ run, report: lost }: FoundRun): Promise<AnyRunReport> {
    if (lost !== undefined) return lost;
    const stored = await ifReachable(async () => {
      const report = (await store.runs.getReport(run.id)) as AnyRunReport | undefined;
      if (run.outcome !== null) return report ?? lostReport(run);
      // One that was reset may show the end that it had before.
      if (report === undefined || report.outcome !== undefined) return null;
      return 'site' in report ? assembleReport(report, await store.runs.listNodes(run.id), run.plan) : report;
    });
    return stored ?? ask(run, 'report');
  }

  /** @param report needed of a run that has ended */
  async function statusOf(one: FoundRun, report: AnyRunReport | null): Promise<AnyRunStatus> {
    const { run } = one;
    if (run.outcome === null || report === null) return earlier.withExpectedEnd(run, await shownStatus(one));
    return statusOfEnded(run, report);
  }

  /** An open run's report is newer than what it has recorded of its nodes. */
  async function nodesOf(run: RunRecord, report: AnyRunReport | null): Promise<readonly NodeReport[]> {
    if (run.outcome === null && report !== null && 'site' in report) return nodesOfRun(report, run.plan);
    return (await store.runs.listNodes(run.id)).map((one) => one.report);
  }

  /** As the run showed it; before it has shown one, or without the store, as its workflow answers. */
  async function planOf(run: RunRecord): Promise<Answers['plan']> {
    if (run.kind !== WORKFLOWS.execute_graph) return run.plan ?? (run.outcome === null ? ask(run, 'plan') : null);
    return (await ifReachable(() => tasks.plans(run.id))) ?? ask(run, 'plan');
  }

  async function ask<Q extends keyof Answers>(
    run: RunSummary,
    query: Q,
    limitMs?: number,
  ): Promise<QueryAnswer<RunType, Q>> {
    return callTemporal(temporal, () => handleOf(run).query(query), limitMs).catch(async (error: unknown) => {
      const shown = unanswered(run, error);
      throw shown === error ? await explainSilence(temporal, run, error) : shown;
    });
  }

  /** A change to a run that ends at the same moment fails like any change to an ended run. */
  async function steer<T>(run: RunRecord, work: () => Promise<T>): Promise<T> {
    try {
      return await request(work);
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw await ended(run, 'just now');
      throw await explainSilence(temporal, run, error);
    }
  }

  return {
    /** Starts a workflow on a site. @throws `site-busy` with the run that holds the site. */
    async start(kind: SiteRunKind, input: SiteRunInput): Promise<RunView> {
      const parsed = parseSiteRunInput(kind, [input]);
      if (!parsed.ok) throw invalidInput(parsed.problems);
      const { site } = input;
      parseReference(String(input.revision ?? 'latest'));
      await ifReachable(() => checkNames(store, input));
      const id = siteWorkflowId(kind, site);
      const who = input.started_by ? ` by ${input.started_by}` : '';
      const startNow = () => startRun(deps, kind, id, input, `${kind} ${site}${who}`);
      const started = await startNow().catch(async (error: unknown) => {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        await untilClosed(site, prefixed(temporal.prefix, id));
        return startNow();
      });
      switch (started.kind) {
        case 'refused':
          throw await refusalOf(deps, started.failure, explainRunFailure(started.failure, { kind, site, left: [] }));
        case 'opened':
          return view(await store.runs.get(started.run.id));
        case 'waiting':
          return view(asWaiting(await call(() => unopened.started(started.workflowId, started.id))));
      }
    },

    async list(filter: RunFilter = {}): Promise<Page<RunView>> {
      const page = await store.runs.list(filter);
      const { workflowId } = filter;
      // A user may leave out the prefix of this installation.
      const isPrefixed = workflowId === undefined || workflowId === prefixed(temporal.prefix, workflowId);
      const found = page.items.length > 0 || isPrefixed;
      const full = found
        ? page
        : await store.runs.list({ ...filter, workflowId: prefixed(temporal.prefix, workflowId) });
      const waiting = filter.before === undefined ? await listWaiting(filter) : [];
      return { ...full, items: [...waiting, ...full.items].map(view) };
    },
    /**
     * Refuses a site or a cluster that neither exists nor has runs: what is deleted keeps its runs.
     * @throws `not-found` with a suggestion
     */
    async checkSubject({ site, cluster }: { readonly site?: string; readonly cluster?: number }): Promise<void> {
      const hasRuns = async (filter: RunFilter) => (await store.runs.list({ ...filter, limit: 1 })).items.length > 0;
      await ifReachable(async () => {
        if (site !== undefined && !(await hasRuns({ site }))) await store.sites.get(site);
        if (cluster !== undefined && !(await hasRuns({ labels: [['cluster', String(cluster)]] })))
          await store.clusters.brief(cluster);
      });
    },
    get: async (id: string): Promise<RunView & { readonly parameters: Json }> => view(await current(id)),

    async status(id: string): Promise<AnyRunStatus> {
      const one = await found(id);
      return statusOf(one, one.run.outcome === null ? null : await reportOf(one));
    },
    async report(id: string): Promise<AnyRunReport> {
      const one = await found(id);
      const { run, away } = one;
      const outline = await reportOf(one);
      // That of an ended run has all failures.
      const isWhole = 'site' in outline || run.outcome !== null;
      const report = isWhole ? outline : ((await ifReachable(() => wholeGraphReport(store, outline))) ?? outline);
      return away === undefined ? report : { ...report, warnings: [...report.warnings, AWAY[away]] };
    },
    /** Every step and node, with the tasks of graphs. */
    async tree(id: string): Promise<Answers['tree']> {
      const one = await found(id);
      const { run } = one;
      const report = await reportOf(one);
      const status = run.outcome === null ? await shownStatus(one) : statusOfEnded(run, report);
      if ('site' in report) return treeOfSiteRun(report, { software: null, ...status });
      const nodes = await ifReachable(() => tasks.trees(id));
      if (nodes === null) return ask(run, 'tree');
      return treeOfGraphs(
        run.workflowId,
        { ...status, graphs: report.graphs },
        ({ transaction }) => nodes.get(transaction) ?? [],
      );
    },
    plan: async (id: string): Promise<Answers['plan']> => planOf(await current(id)),
    /** How long its nodes or tasks took in earlier runs of its kind. */
    usualTimes: async (id: string, of: Parameters<typeof earlier.usualTimes>[1]) =>
      earlier.usualTimes(await store.runs.get(id), of),
    /** Every node of a run on a site, as it is now. */
    async nodes(id: string): Promise<readonly NodeReport[]> {
      const one = await found(id);
      const { run } = one;
      return nodesOf(run, run.outcome === null ? await reportOf(one) : null);
    },
    /** As `nodes`, as the run showed them last: a list of many machines does not ask Temporal about each run. */
    async shownNodes(id: string): Promise<readonly NodeReport[]> {
      const run = await store.runs.get(id);
      return nodesOf(run, run.outcome === null ? await reportOf({ run }) : null);
    },
    /** All that the page of a run shows of it, from one report. */
    async shown(id: string): Promise<ShownRun> {
      const one = await found(id);
      const { run } = one;
      const isOfGraphs = run.kind === WORKFLOWS.execute_graph;
      const report = isOfGraphs && run.outcome === null ? null : await reportOf(one);
      const status = await statusOf(one, report);
      const groups = run.plan?.groups ?? [];
      const needed = groups.map((group) => [group.name, successesNeeded(group.success_criteria, group.total)] as const);
      return {
        ...{ run: view(run), status, report },
        nodes: isOfGraphs ? [] : await nodesOf(run, report),
        needed: Object.fromEntries(needed),
      };
    },

    /** An operator's request to a running run, which decides about it. @throws `refused` */
    async update<U extends OperatorUpdate>(id: string, update: U, request: UpdateRequest<U>): Promise<AnyRunStatus> {
      const run = await live(id);
      const { by, reason, ...target }: OperatorNote = request;
      const said = [...Object.values(target), reason].filter(Boolean).join(': ');
      // Before it counts, so that its name can be believed.
      const about = Object.keys(target).length === 0 ? {} : { details: target };
      const entry = await audited(`run.${update}`, run, { by, reason: said || undefined }, about);
      const passedOn = by === undefined ? request : { ...request, entry };
      return await steer(run, () => handleOf(run).update(update, passedOn)).catch(async (error: unknown) => {
        if (error instanceof WorkflowUpdateFailedError) {
          const details = { refused: error.cause?.message ?? error.message };
          await audited(`run.${update}`, run, { by }, { id: refusedId(entry), details });
          throw problem('refused', error.cause?.message ?? error.message, {
            hint: `Check the nodes in its report: ${reportOfRun(numberOf(run))}`,
          });
        }
        throw error;
      });
    },
    /** Has a paused run go on: in Temporal first, where Temporal itself has paused its workflow. */
    async resume(id: string, request: OperatorNote): Promise<AnyRunStatus> {
      const run = await live(id);
      const execution = await executionOf(run);
      if (execution?.isPaused) {
        const { by, reason } = request;
        await audited('run.resume', run, { by, reason: reason ?? 'it was paused in Temporal' });
        await call(() =>
          temporal.connection.workflowService.unpauseWorkflowExecution({
            namespace: temporal.namespace,
            workflowId: run.workflowId,
            runId: execution.runId,
            identity: by ?? '',
            reason: reason ?? '',
            requestId: randomUUID(),
          }),
        );
      }
      return await this.update(id, 'resume', request);
    },
    /** The node of a run on a site that a person means. */
    nodeNamed: async (id: string, node: string): Promise<string> => {
      const run = await live(id);
      return orWithoutStore(
        () => nodeInRun(store, run, node),
        () => node,
      );
    },
    /** The task of a run of graphs that a person means. @throws `not-found` with a suggestion */
    taskNamed: async (id: string, of: TaskOnNode): Promise<TaskOnNode> => {
      const run = await live(id);
      return orWithoutStore(
        () => taskInRun(store, graphRunOf(run), of),
        () => of,
      );
    },
    /** Ends gracefully: running work finishes, nothing new starts. */
    async stop(id: string, request: OperatorNote): Promise<void> {
      const run = await live(id);
      const entry = await audited('run.stop', run, request);
      await steer(run, () => handleOf(run).signal('stop', { ...request, entry }));
    },
    /** Aborts running work, as far as MAAS can. */
    async cancel(id: string, request: OperatorNote): Promise<void> {
      const run = await live(id);
      await audited('run.cancel', run, request);
      await steer(run, () => handleOf(run).cancel());
    },
  };
}

const statusOfEnded = (run: RunRecord, report: AnyRunReport): AnyRunStatus =>
  'site' in report ? siteStatusFromReport(run, report) : graphStatusFromReport(run, report);

/** A list does not wait longer for runs that no worker has opened. */
const WAITING_LIMIT_MS = 900;

function temporalUrl({ temporalUiUrl, temporal }: OpsDependencies, run: RunSummary): string | null {
  if (temporalUiUrl === undefined || run.temporalRunId === null) return null;
  const parts = ['namespaces', temporal.namespace, 'workflows', run.workflowId, run.temporalRunId];
  return [temporalUiUrl.replace(/\/$/, ''), ...parts.map(encodeURIComponent)].join('/');
}
