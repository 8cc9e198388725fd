import type { RunStatus, SitePlan } from '../contracts/site-run.ts';
import type { NodeReport, PhaseReport, RunReport, SiteOperatorAction } from '../contracts/site-run-report.ts';
import { given } from '../data/given.ts';
import { describeGroupFailure } from '../deployment/failures.ts';
import type { BaremetalState } from '../deployment/progress.ts';
import { countNodes, NO_NODES, reportBaremetal } from '../deployment/report.ts';
import { isRolledOut, showRollout } from '../deployment/rollout.ts';
import type { PermitWait } from '../permits/answer.ts';
import { waitText } from '../permits/wait-text.ts';
import { rolloutText } from '../rollout/rollout-text.ts';
import { awaitingOf, awaitingShown } from '../run/approval.ts';
import { cell, detailsEnding, detailsHeading, table } from '../run/details.ts';
import { type AnyProgress, newestWarnings, reportAny, silenceOf } from '../run/progress.ts';
import { counted } from '../text/text.ts';
import type { SiteRunKind, SiteRunOutcome } from '../words.ts';
import { explainRunFailure, type RunFailure } from './failure.ts';
import type { SiteRunInput } from './input.ts';
import { leftToRedeploy, reportReleased } from './redeployed.ts';
import type { Members } from './report.ts';

/** The whole state of a site run. Queries and reports are derived from it. */
export interface RunProgress extends AnyProgress<SiteRunInput, SiteRunOutcome, RunFailure> {
  readonly kind: SiteRunKind;
  plan?: SitePlan;
  baremetal?: BaremetalState;
  released?: NodeReport[];
  /** What the run waits for before it touches machines. */
  waits?: readonly PermitWait[];
  /** How long it has waited for permits, in ms. */
  waited?: number;
  /** test_site: what came of the checks. */
  checks?: NonNullable<RunReport['checks']>;
  /** The last phase, as its workflow reports it. */
  software?: NonNullable<RunStatus['software']>;
  readonly phases: PhaseReport[];
  readonly operator: SiteOperatorAction[];
}

const warningsOf = ({ plan, warnings }: RunProgress): string[] => [...(plan?.warnings ?? []), ...warnings];

export function reportRun(progress: RunProgress): RunReport {
  const { kind, plan, input } = progress;
  return {
    kind,
    site: input.site,
    ...reportAny(progress, (failure) => explainSiteRun(progress, failure)),
    ...(plan ? { revision: plan.revision, hash: plan.hash, ...commitOf(plan) } : {}),
    phases: progress.phases,
    ...(progress.baremetal ? { baremetal: reportBaremetal(progress.baremetal) } : {}),
    ...(progress.released ? { released: reportReleased(progress) } : {}),
    ...(plan?.removed.length ? { removed_nodes: plan.removed } : {}),
    ...given({ maintenance: plan?.maintenance, checks: progress.checks }),
    ...(plan?.limits && { limits: limitsOf(plan.limits, progress) }),
    operator: progress.operator,
    warnings: warningsOf(progress),
  };
}

const limitsOf = ({ at_a_time }: NonNullable<SitePlan['limits']>, { input, waited = 0 }: RunProgress) => ({
  at_a_time,
  waited_seconds: Math.round(waited / 1000),
  ...given({ overridden: input.override_limits }),
});

/** Positions of the nodes of each group. */
export const membersOf = ({ plan }: RunProgress): Members => plan?.groups.map(({ nodes }) => nodes) ?? [];

/** Why a run failed, and the operator's next step. */
export const explainSiteRun = (progress: RunProgress, failure: RunFailure) =>
  explainRunFailure(failure, { kind: progress.kind, site: progress.input.site, left: leftToRedeploy(progress) });

const commitOf = ({ commit, commit_url }: SitePlan) => ({
  ...given({ commit, commit_url }),
});

export function statusOf(progress: RunProgress): RunStatus {
  const { baremetal } = progress;
  const counts = baremetal ? countNodes(baremetal) : NO_NODES;
  const phase = progress.phases[progress.phases.length - 1];
  const waiting = new Set(awaitingOf(progress).map(({ before }) => before));
  return {
    site: progress.input.site,
    phase: progress.outcome ? 'finished' : (phase?.name ?? 'starting'),
    paused: progress.paused,
    stopping: progress.stopping,
    ...awaitingShown(progress),
    ...silenceOf(progress),
    ...(progress.outcome ? { outcome: progress.outcome } : {}),
    done: counts.success + counts.failed,
    total: baremetal?.nodes.length ?? progress.plan?.nodes.length ?? 0,
    counts,
    failed: failedNodes(baremetal).slice(0, 20),
    current: currentCall(baremetal),
    software: progress.software ?? null,
    groups: (baremetal?.groups ?? []).map((group) => ({
      name: group.plan.name,
      critical: group.plan.critical,
      state: group.state,
      ...(group.failure ? { reason: describeGroupFailure(group.failure) } : {}),
      ...(waiting.has(group.plan.name) ? { reason: 'waits for approval' } : {}),
      ...(isRolledOut(group) && { rollout: showRollout(baremetal!, group) }),
    })),
    ...(progress.waits && { waits: [...progress.waits] }),
    warnings: newestWarnings(warningsOf(progress)),
  };
}

function failedNodes(state: BaremetalState | undefined): { node: string; group?: string; reason: string }[] {
  return (state?.nodes ?? []).flatMap((node) =>
    node.failure ? [{ node: node.name, ...given({ group: node.group }), reason: node.failure.message }] : [],
  );
}

function currentCall(state: BaremetalState | undefined): RunStatus['current'] {
  const current = state?.current;
  if (!state) return null;
  // A call in slices has its last aborts before its end; beside a call of a group, a retried node may be aborted.
  const called = current ? current.nodes.map((index) => state.nodes[index]!) : state.nodes;
  const aborting = called.filter((node) => node.aborting);
  if (aborting.length > 0) {
    const running = aborting.slice(0, 20).map(({ name }) => name);
    return { group: aborting[0]?.group ?? '', call: 'abort', running, waiting: aborting.length - running.length };
  }
  if (!current) return null;
  const open = current.nodes.filter((index) => current.results[index] === undefined);
  const running = open
    .filter((index) => state.nodes[index]!.running !== undefined)
    .map((index) => state.nodes[index]!.name);
  return {
    group: state.groups[current.group]!.plan.name,
    call: current.call,
    running: running.slice(0, 20),
    waiting: open.length - running.length,
  };
}

/** Text for Temporal's "current details": phase, n of m, failures first. */
export function detailsOf(progress: RunProgress): string {
  const status = statusOf(progress);
  const { failed, groups, current, software } = status;
  const now = ({ name, state, rollout }: RunStatus['groups'][number]): string => {
    const call =
      current?.group === name
        ? `${current.call}: ${current.running.length} running, ${current.waiting} waiting`
        : state;
    return rollout === undefined ? call : `${current?.group === name ? `${call} · ` : ''}${rolloutText(rollout)}`;
  };
  const failedRows = failed.slice(0, 10).map(({ node, group, reason }) => [node, group ?? '', reason]);
  const groupRows = groups
    .slice(0, 30)
    .map((group) => [group.critical ? `${group.name} (critical)` : group.name, group.reason ?? now(group)]);
  return [
    ...detailsHeading(status, 'nodes', progress.input),
    ...(status.waits ?? []).flatMap((wait) => [`**${cell(waitText(wait), 300)}**`, '']),
    ...(software === null ? [] : [describeSoftware(software), '']),
    ...table(['failed node', 'group', 'reason'], failedRows),
    ...(failed.length > 0 ? [''] : []),
    ...table(['group', 'state'], groupRows),
    ...detailsEnding(status, progress.input),
  ].join('\n');
}

function describeSoftware({
  workflow_id,
  phase,
  done,
  total,
  counts,
  silent,
}: NonNullable<RunStatus['software']>): string {
  const failed = (counts.failed ?? 0) > 0 ? `, ${counts.failed} failed` : '';
  const waiting = silent.length > 0 ? ` · no answer from ${cell(silent.join(', '))}` : '';
  return `Software: \`${workflow_id}\` · **${phase}** · ${done} of ${counted(total, 'task')}${failed}${waiting}`;
}
