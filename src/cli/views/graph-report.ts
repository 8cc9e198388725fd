import type { GraphRunReport } from '../../core/contracts/graph-run.ts';
import { rolloutText } from '../../core/rollout/rollout-text.ts';
import { causeText, taskText } from '../../core/task-on-node.ts';
import { printable } from '../../core/text/control-characters.ts';
import { counted } from '../../core/text/text.ts';
import { formatSpan } from './duration.ts';
import { countsText, failedTaskText, someNames } from './graph-status.ts';
import { type Paint, paintFor, paintState } from './paint.ts';
import { keptChecks, operatorSection, runLines, sectionsText, warningSection } from './report-parts.ts';
import { policyText } from './rollout.ts';

/** A report of a run of graphs for people: outcome, reason, failures and next steps. */
export function graphReportText(report: GraphRunReport, color = false): string {
  const paint = paintFor(color);
  return sectionsText([
    headOf(report, paint),
    ...report.graphs.map((graph) => graphOf(graph, paint)),
    report.check_results === undefined ? [] : keptChecks(report.check_results, paint),
    operatorSection(report.operator, subjectOf, paint),
    warningSection(report.warnings, paint),
    report.cut === undefined
      ? []
      : [`${report.cut.failed_omitted} more failures: sitewright history show ${report.transaction}`],
  ]);
}

const subjectOf = ({ task, node }: GraphRunReport['operator'][number]): string | undefined =>
  task === undefined || node === undefined ? undefined : taskText({ task, node });

function headOf(report: GraphRunReport, paint: Paint): string[] {
  const mode = report.mode === 'apply' ? '' : ` (${report.mode.replace('_', ' ')})`;
  const title = `run ${report.transaction ?? '?'} on cluster ${report.cluster}${mode}`;
  const lines = [`${paint.strong(title)}: ${paintState(paint, report.outcome ?? 'running')}`];
  lines.push(paint.dim(`workflow ${printable(report.workflow_id)}`));
  const { limits, rollouts = {} } = report.overridden ?? {};
  if (limits !== undefined) lines.push(paint.bad(`limits overridden: ${printable(limits)}`));
  const roles = Object.keys(rollouts);
  if (roles.length > 0) lines.push(`rollouts of this run: ${someNames(roles)}`);
  return [...lines, ...runLines(report, paint)];
}

function graphOf(graph: GraphRunReport['graphs'][number], paint: Paint): string[] {
  const span = graph.started_at === undefined ? '' : formatSpan(graph.started_at, graph.ended_at);
  const lines = [
    `${paint.strong(`Graph ${printable(graph.type)}`)}: ${paintState(paint, graph.state)}, ${graph.done} of ${counted(graph.total, 'task')} on ${counted(graph.nodes, 'node')}${span === '' ? '' : ` in ${span}`}`,
    `  tasks: ${countsText(graph.counts)}`,
  ];
  for (const { role, policy, ...rollout } of graph.rollouts ?? []) {
    lines.push(`  rollout of ${printable(role)}: ${printable(rolloutText(rollout))}`);
    if (policy !== undefined) lines.push(paint.dim(`    policy: ${policyText(policy)}`));
  }
  if (graph.reason !== undefined) lines.push(`  ${paint.bad('reason:')} ${printable(graph.reason)}`);
  if (graph.offline.length > 0) lines.push(`  ${paint.bad('offline:')} ${someNames(graph.offline)}`);
  for (const failed of graph.failed_tasks) lines.push(`  ${failedTaskText(failed, paint)}`);
  for (const { node, failed_tasks, lost_tasks, root_causes } of graph.failed_nodes) {
    const own = failed_tasks.length === 0 ? '' : ` failed ${someNames(failed_tasks)}`;
    const lost =
      lost_tasks === 0
        ? ''
        : `${own === '' ? '' : ';'} ${counted(lost_tasks, 'task')} did not run because of ${someNames(root_causes.map(causeText))}`;
    lines.push(`  node ${printable(node)}:${own}${lost}`);
  }
  return lines;
}
