import { isCancellation } from '@temporalio/workflow';
import type { OpenedRun } from '../activities/contract.ts';
import { given } from '../src/core/data/given.ts';
import { countNodes, endBaremetal, halts } from '../src/core/deployment/index.ts';
import { claimLost, isoTime, type SiteRunOutcome } from '../src/core/run/index.ts';
import {
  describeRunFailure,
  detailsOf,
  explainSiteRun,
  membersOf,
  type NodeWrite,
  outlineReport,
  type PhaseName,
  type PhaseReport,
  parseSiteRunInput,
  type RunFailure,
  type RunProgress,
  recordsOf,
  reportRun,
  type SitePlan,
  type SiteRunKind,
  statusOf,
} from '../src/core/site-run/index.ts';
import { counted, utf8Length } from '../src/core/text/text.ts';
import { bookkeeping, inquiry } from './activity-options.ts';
import { callActivity } from './border.ts';
import { createSlices } from './call-slices.ts';
import type { SiteRunResult } from './contract.ts';
import { createRun, endOf, identityOf, runInFrame, startProgress } from './run-frame.ts';
import { handleSiteOperators, type SiteRun } from './site-operators.ts';

/** Used until the plan provides the configured value. */
const HEARTBEAT_SECONDS = 30;

/** A payload is limited to 200 KB (docs/design.md#limits). */
const RECORD_BYTES = 60_000;

/** Runs the body of a site workflow in the common frame of all runs. */
export async function runSite(
  kind: SiteRunKind,
  args: readonly unknown[],
  body: (run: SiteRun) => Promise<void>,
): Promise<SiteRunResult> {
  const progress: RunProgress = {
    ...startProgress(parseSiteRunInput(kind, args)),
    kind,
    phases: [],
    operator: [],
  };
  const { input } = progress;
  const run = createSiteRun(progress);
  handleSiteOperators(run);
  const failedNodes = (): number => failedOf(progress);
  return runInFrame<RunProgress, OpenedRun, SiteRunResult>(run, {
    kind,
    subject: { site: input.site },
    status: () => statusOf(progress),
    revision: () => progress.plan?.revision,
    open: (answered) =>
      callActivity(
        'open_run',
        {
          ...identityOf(progress),
          kind,
          site: input.site,
          started_at: isoTime(progress.started_at),
          started_by: input.started_by,
          reason: input.reason,
          parameters: { ...input },
          answered,
        },
        bookkeeping(`claim site ${input.site}`),
      ),
    siteOf: () => input.site,
    rowOf: () => ({ transaction: null, warnings: [] }),
    work: () => body(run),
    stepFailed: (error) => claimLost(error) ?? { kind: 'step-failed', phase: statusOf(progress).phase, ...error },
    failedNodes,
    outcome() {
      if (progress.baremetal) progress.baremetal = endBaremetal(progress.baremetal);
      return outcomeOf(run);
    },
    async close() {
      await run.recordRest();
      const outcome = progress.outcome!;
      const closing = {
        ...endOf(progress),
        kind,
        site: input.site,
        outcome,
        report: outlineReport(reportRun(progress), membersOf(progress)),
        failed_nodes: failedNodes(),
        ...(isDeployed(progress) ? { deployed_revision: progress.plan!.revision } : {}),
      };
      await callActivity('close_run', closing, bookkeeping(`close the run: ${outcome}`));
    },
    explain: (failure) => explainSiteRun(progress, failure),
    result: () => resultOf(progress),
  });
}

function createSiteRun(progress: RunProgress): SiteRun {
  const { kind, input } = progress;
  const base = createRun(
    progress,
    detailsOf,
    (action) => progress.operator.push(action),
    () => ({ kind, site: input.site, cluster: progress.plan?.cluster ?? null }),
  );
  const { control } = base;
  let sequence = 0;
  const recorded = new Map<string, NodeWrite>();
  const run: SiteRun = Object.assign(base, {
    kind,
    input,
    slices: createSlices(({ verb, group }) =>
      base.attributesOf({ SiteName: input.site, StartedBy: input.started_by, RunPhase: `${verb} ${group}` }),
    ),
    retries: null,
    async phase<T>(
      name: PhaseName,
      work: () => Promise<{ value: T; state?: 'success' | 'failed' | 'stopped'; detail?: string }>,
    ): Promise<T | null> {
      if (!(await control.mayStart())) return null;
      const started_at = isoTime(Date.now());
      const index = progress.phases.push({ name, state: 'running', started_at }) - 1;
      run.show();
      run.setAttributes({ RunPhase: name });
      const end = (state: PhaseReport['state'], detail?: string): void => {
        const ended_at = isoTime(Date.now());
        progress.phases[index] = { name, state, started_at, ended_at, ...given({ detail }) };
        run.show();
      };
      try {
        const { value, state, detail } = await work();
        end(state ?? 'success', detail);
        return value;
      } catch (error) {
        const stopped = (control.cancelled || control.stopping) && isCancellation(error);
        end(stopped ? 'stopped' : 'failed');
        if (!stopped) throw error;
        return null;
      }
    },
    skip(name: PhaseName, detail: string) {
      const now = isoTime(Date.now());
      progress.phases.push({ name, state: 'skipped', started_at: now, ended_at: now, detail });
    },
    fail(failure: RunFailure) {
      progress.failure = failure;
    },
    async loadPlan() {
      const revision = input.fetch ? await fetchDocuments() : input.revision;
      return revision === null ? null : loadDocuments(revision);
    },
    async record(nodes: readonly NodeWrite[]) {
      run.setAttributes({ FailedNodes: failedOf(progress) });
      for (const node of nodes) {
        const { name } = node.report;
        recorded.set(name, { ...recorded.get(name), ...node });
      }
      for (const piece of piecesOf(nodes)) {
        sequence += 1;
        await callActivity(
          'record_nodes',
          { run_id: progress.run_id, sequence, nodes: piece },
          bookkeeping(`record ${counted(piece.length, 'node')}`),
        );
      }
    },
    async recordRest() {
      const rest = recordsOf(progress).filter((node) => !isSameNode(node, recorded.get(node.report.name)));
      if (rest.length > 0) await run.record(rest);
    },
  });

  /** The revision to work on; null when there is none, or nothing to do. */
  const fetchDocuments = (): Promise<number | null> =>
    run.phase<number | null>('fetch', async () => {
      const { site } = input;
      const options = inquiry(`fetch documents of ${site}`, HEARTBEAT_SECONDS);
      const answer = await control.readOnly(() => callActivity('fetch_source', { site }, options));
      if (!answer.ok) return refused(answer.failure);
      const { revision, commit, deployed } = answer;
      const detail = `revision ${revision}, commit ${commit}`;
      return kind === 'update_site' && deployed
        ? { value: null, detail: `${detail}: already deployed` }
        : { value: revision, detail };
    });

  const loadDocuments = (revision: string | number | undefined): Promise<SitePlan | null> =>
    run.phase<SitePlan | null>('load', async () => {
      const { site } = input;
      const nodes = kind === 'redeploy_nodes' ? input.nodes : undefined;
      const options = inquiry(`load documents of ${site}`, HEARTBEAT_SECONDS);
      const { hold_before } = input;
      const request = { kind, site, revision, nodes, ...given({ hold_before }) };
      const answer = await control.readOnly(() => callActivity('load_plan', request, options));
      if (!answer.ok) return refused(answer.failure);
      const { plan } = answer;
      progress.plan = plan;
      const detail = `revision ${plan.revision}, ${counted(plan.nodes.length, 'node')} in ${counted(plan.groups.length, 'group')}`;
      return { value: plan, detail };
    });

  const refused = (failure: RunFailure) => {
    run.fail(failure);
    return { value: null, state: 'failed' as const, detail: describeRunFailure(failure) };
  };

  return run;
}

const isSameNode = (one: NodeWrite, other: NodeWrite | undefined): boolean => textOf(one) === textOf(other);

const textOf = (node: NodeWrite | undefined): string => JSON.stringify([node?.position, node?.report, node?.released]);

function piecesOf(nodes: readonly NodeWrite[]): NodeWrite[][] {
  const pieces: NodeWrite[][] = [];
  let size = RECORD_BYTES;
  for (const node of nodes) {
    const bytes = utf8Length(JSON.stringify(node));
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

function outcomeOf({ progress, control }: SiteRun): SiteRunOutcome {
  if (control.cancelled) return 'cancelled';
  if (progress.failure) return 'failed';
  if (control.stopping) return 'stopped';
  const failedGroups = progress.baremetal?.groups.some((group) => group.state === 'failed') ?? false;
  const unreleased = progress.released?.some((node) => node.state === 'failed') ?? false;
  return failedOf(progress) > 0 || failedGroups || unreleased ? 'success_with_failures' : 'success';
}

/** True when the whole site was processed and nothing critical failed: the revision is the last good one. */
function isDeployed({ kind, outcome, baremetal }: RunProgress): boolean {
  const whole = kind === 'deploy_site' || kind === 'update_site';
  const good = outcome === 'success' || outcome === 'success_with_failures';
  return whole && good && baremetal !== undefined && !halts(baremetal);
}

function resultOf(progress: RunProgress): SiteRunResult {
  const { counts, groups, failed } = statusOf(progress);
  return {
    outcome: progress.outcome ?? 'failed',
    site: progress.input.site,
    revision: progress.plan?.revision ?? null,
    nodes: counts,
    groups: groups.slice(0, 200).map(({ name, state, reason }) => ({ name, state, ...given({ reason }) })),
    failed,
  };
}
