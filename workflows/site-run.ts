import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  scheduleActivity,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { CloseRun, LoadPlanAnswer, OpenRunAnswer, ProgressRecord } from '../activities/contract.js';
import { countNodes, halts, type NodeReport } from '../src/core/deployment/index.js';
import { failureType, type SiteRunOutcome } from '../src/core/run/index.js';
import {
  describeRunFailure,
  detailsOf,
  fitReport,
  nextStep,
  type PhaseName,
  type PhaseReport,
  parseSiteRunInput,
  type RunFailure,
  type RunProgress,
  type RunStatus,
  reportRun,
  type SitePlan,
  type SiteRunInput,
  type SiteRunKind,
  statusOf,
} from '../src/core/site-run/index.js';
import { bookkeeping } from './activity-options.js';
import { createSlices, type Slices } from './call-slices.js';
import { type Control, createControl } from './control.js';
import { handleOperators } from './operators.js';
import { ACTIVITIES, type SearchAttributeName } from './protocol.js';

/** What a site's workflow has in hand while it runs. */
export interface SiteRun {
  readonly kind: SiteRunKind;
  readonly input: SiteRunInput;
  readonly progress: RunProgress;
  readonly control: Control;
  readonly slices: Slices;
  /** Node names an operator wants taken up again; taken between calls, and refused while null. */
  retries: string[] | null;
  /** Refreshes what the Web UI shows of the run. */
  show(): void;
  /** Runs one phase, holding while paused; null when nothing new may start or the run was cancelled in it. */
  phase<T>(
    name: PhaseName,
    work: () => Promise<{ value: T; state?: 'success' | 'failure' | 'stopped'; detail?: string }>,
  ): Promise<T | null>;
  skip(name: PhaseName, detail: string): void;
  /** Ends the run as failed; the caller returns after it. */
  fail(failure: RunFailure): void;
  loadPlan(): Promise<SitePlan | null>;
  /** Writes nodes to the store, in pieces; `search` also refreshes the search attributes. */
  record(nodes: readonly NodeReport[]): Promise<void>;
}

/** What a finished run returns to Temporal; the full report is in the store. */
export interface RunResult {
  readonly outcome: SiteRunOutcome;
  readonly site: string;
  readonly revision: number | null;
  readonly nodes: Readonly<Record<string, number>>;
  readonly groups: readonly { readonly name: string; readonly state: string; readonly reason?: string }[];
  readonly failed: RunStatus['failed'];
}

/** Nodes a record: about 60 KB. */
const NODES_PER_RECORD = 200;

/**
 * The frame of every workflow on a site: checks the input, answers queries and operators from the
 * first moment, claims the site, runs `body`, and whatever happens closes the run with a report.
 */
export async function runSite(
  kind: SiteRunKind,
  args: readonly unknown[],
  body: (run: SiteRun) => Promise<void>,
): Promise<RunResult> {
  const parsed = parseSiteRunInput(kind, args);
  const info = workflowInfo();
  if (!parsed.ok) {
    const failure: RunFailure = { kind: 'invalid-input', problems: parsed.problems };
    throw ApplicationFailure.nonRetryable(describeRunFailure(failure), failureType(failure), parsed.problems);
  }
  const { input } = parsed;
  const control = createControl((action) => {
    progress.operator.push(action);
    run.show();
  });
  const progress: RunProgress = {
    kind,
    input,
    workflow_id: info.workflowId,
    run_id: info.runId,
    started_at: Date.now(),
    phases: [],
    operator: [],
    warnings: [],
    paused: null,
    stopping: false,
  };
  let attributes: readonly string[] = [];
  let sequence = 0;

  const run: SiteRun = {
    kind,
    input,
    progress,
    control,
    slices: createSlices(),
    retries: null,
    show() {
      progress.paused = control.paused;
      progress.stopping = control.stopping;
      setCurrentDetails(detailsOf(progress));
    },
    async phase(name, work) {
      if (!(await control.mayStart())) return null;
      const started_at = new Date(Date.now()).toISOString();
      const index = progress.phases.push({ name, state: 'running', started_at }) - 1;
      run.show();
      setAttributes({ RunPhase: name });
      const end = (state: PhaseReport['state'], detail?: string): void => {
        const ended_at = new Date(Date.now()).toISOString();
        progress.phases[index] = { name, state, started_at, ended_at, ...(detail === undefined ? {} : { detail }) };
        run.show();
      };
      try {
        const { value, state, detail } = await work();
        end(state ?? 'success', detail);
        return value;
      } catch (error) {
        end(control.cancelled ? 'stopped' : 'failure');
        if (!control.cancelled) throw error;
        return null;
      }
    },
    skip(name, detail) {
      const now = new Date(Date.now()).toISOString();
      progress.phases.push({ name, state: 'skipped', started_at: now, ended_at: now, detail });
    },
    fail(failure) {
      progress.failure = failure;
    },
    async loadPlan() {
      return run.phase('load', async () => {
        const request = {
          kind,
          site: input.site,
          revision: input.revision,
          nodes: kind === 'redeploy_nodes' ? input.nodes : undefined,
        };
        const answer = await scheduleActivity<LoadPlanAnswer>(
          ACTIVITIES.load_plan,
          [request],
          bookkeeping(`load documents of ${input.site}`),
        );
        if (!answer.ok) {
          run.fail(answer.failure);
          return { value: null, state: 'failure', detail: describeRunFailure(answer.failure) };
        }
        progress.plan = answer.plan;
        return {
          value: answer.plan,
          detail: `revision ${answer.plan.revision}, ${answer.plan.nodes.length} nodes in ${answer.plan.groups.length} groups`,
        };
      });
    },
    async record(nodes) {
      setAttributes({ FailedNodes: failedCount() });
      for (let from = 0; from === 0 || from < nodes.length; from += NODES_PER_RECORD) {
        sequence += 1;
        const { phase, done, total } = statusOf(progress);
        const record: ProgressRecord = {
          run_id: info.runId,
          sequence,
          phase,
          failed_nodes: failedCount(),
          nodes: nodes.slice(from, from + NODES_PER_RECORD),
        };
        const options = bookkeeping(`record progress (${done} of ${total} nodes)`);
        await scheduleActivity<void>(ACTIVITIES.record_progress, [record], options);
      }
    },
  };

  const failedCount = (): number => (progress.baremetal ? countNodes(progress.baremetal).failure : 0);

  /** Only what the server knows: an unknown attribute would fail every workflow task from then on. */
  function setAttributes(values: Partial<Record<SearchAttributeName, string | number>>): void {
    const known = Object.entries(values).filter(([name]) => attributes.includes(name));
    if (known.length > 0)
      upsertSearchAttributes(
        Object.fromEntries(known.map(([name, value]) => [name, [value]])) as Record<string, string[]>,
      );
  }

  handleOperators(run);
  run.show();
  void CancellationScope.current().cancelRequested.catch(() => control.cancel());

  await CancellationScope.nonCancellable(async () => {
    const opened = await scheduleActivity<OpenRunAnswer>(
      ACTIVITIES.open_run,
      [openRequest(progress)],
      bookkeeping(`claim site ${input.site}`),
    );
    if (!opened.ok) {
      // Nothing is ours to close: the site belongs to another run.
      progress.failure = opened.failure;
      progress.outcome = 'failed';
      return;
    }
    attributes = opened.search_attributes;
    setAttributes({
      SiteName: input.site,
      FailedNodes: 0,
      ...(input.started_by ? { StartedBy: input.started_by } : {}),
    });
    await body(run).catch((error: unknown) => {
      if (control.cancelled) return;
      run.fail({ kind: 'step-failed', phase: statusOf(progress).phase, ...rootOf(error) });
    });
    progress.outcome = outcomeOf(run);
    progress.ended_at = Date.now();
    run.show();
    setAttributes({ RunPhase: progress.outcome, FailedNodes: failedCount() });
    const closing: CloseRun = {
      kind,
      site: input.site,
      workflow_id: info.workflowId,
      run_id: info.runId,
      outcome: progress.outcome,
      ended_at: new Date(progress.ended_at).toISOString(),
      report: fitReport(reportRun(progress)),
      failed_nodes: failedCount(),
      ...(isDeployed(run) ? { deployed_revision: progress.plan!.revision } : {}),
    };
    await scheduleActivity<void>(ACTIVITIES.close_run, [closing], bookkeeping(`close the run: ${progress.outcome}`));
  });

  if (progress.outcome === 'cancelled') throw new CancelledFailure(`run of ${input.site} was cancelled`);
  if (progress.failure) {
    const { failure } = progress;
    throw ApplicationFailure.create({
      message: `${describeRunFailure(failure)}. Next: ${nextStep(failure, kind, input.site)}`,
      type: failureType(failure),
      nonRetryable: true,
      details: [failure, resultOf(progress)],
    });
  }
  return resultOf(progress);
}

/** What an activity that gave up has to say, without the wrapping. */
function rootOf(error: unknown): { type: string; message: string } {
  // A bug of ours must stop the workflow where it is, not end it with a wrong report.
  if (!(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  const type = cause instanceof ApplicationFailure ? (cause.type ?? 'error') : 'error';
  return { type, message: cause?.message ?? error.message };
}

function openRequest(progress: RunProgress) {
  const { kind, input } = progress;
  return {
    kind,
    site: input.site,
    workflow_id: progress.workflow_id,
    run_id: progress.run_id,
    started_at: new Date(progress.started_at).toISOString(),
    started_by: input.started_by,
    reason: input.reason,
    parameters: { ...input },
  };
}

function outcomeOf({ progress, control }: SiteRun): SiteRunOutcome {
  if (control.cancelled) return 'cancelled';
  if (progress.failure) return 'failed';
  if (control.stopping) return 'stopped';
  const failed = progress.baremetal ? countNodes(progress.baremetal).failure : 0;
  const failedGroups = progress.baremetal?.groups.some((group) => group.state === 'failure') ?? false;
  const unreleased = progress.released?.some((node) => node.state === 'failure') ?? false;
  return failed > 0 || failedGroups || unreleased ? 'success_with_failures' : 'success';
}

/** The whole site was processed and nothing critical failed: this is the last good revision now. */
function isDeployed({ kind, progress }: SiteRun): boolean {
  const whole = kind === 'deploy_site' || kind === 'update_site';
  const good = progress.outcome === 'success' || progress.outcome === 'success_with_failures';
  return whole && good && progress.baremetal !== undefined && !halts(progress.baremetal);
}

function resultOf(progress: RunProgress): RunResult {
  const status = statusOf(progress);
  return {
    outcome: progress.outcome ?? 'failed',
    site: progress.input.site,
    revision: progress.plan?.revision ?? null,
    nodes: status.counts,
    groups: status.groups
      .slice(0, 200)
      .map(({ name, state, reason }) => ({ name, state, ...(reason === undefined ? {} : { reason }) })),
    failed: status.failed,
  };
}
