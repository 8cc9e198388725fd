import type { RunReport } from '../../core/contracts/site-run-report.ts';
import { rolloutText } from '../../core/rollout/rollout-text.ts';
import { type Cause, causesOf, causesOfNodes } from '../../core/run/causes.ts';
import { stateWord } from '../../core/state-word.ts';
import { printable } from '../../core/text/control-characters.ts';
import { counted, someOf } from '../../core/text/text.ts';
import { NODE_STATES, nodeStatesOf } from '../../core/words.ts';
import { formatDuration, formatSpan } from './duration.ts';
import { type Paint, paintFor, paintState } from './paint.ts';
import { keptChecks, NAMES_SHOWN, operatorSection, runLines, sectionsText, warningSection } from './report-parts.ts';
import { policyText } from './rollout.ts';

type Baremetal = NonNullable<RunReport['baremetal']>;
type NodeReport = Baremetal['nodes'][number];

/**
 * A report for people: outcome and reason, failures and next steps, every group with its
 * criteria, all four node states, phases, operator actions, warnings.
 *
 * @param run how people call it
 */
export function reportText(report: RunReport, color = false, run = report.run_id): string {
  const paint = paintFor(color);
  return sectionsText([
    headOf(report, run, paint),
    failuresOf(report, paint),
    report.baremetal ? groupsOf(report.baremetal, paint) : [],
    report.baremetal ? statesOf(report, report.baremetal, paint) : [],
    phasesOf(report, paint),
    checksOf(report, paint),
    nodeList('Released', report.released ?? [], paint),
    report.removed_nodes?.length
      ? [paint.strong('No longer in the documents'), `  ${names(report.removed_nodes)}`]
      : [],
    notesOf(report, paint),
    operatorSection(report.operator, ({ node, group, limit }) => node ?? limitedTo(group, limit), paint),
    warningSection(report.warnings, paint),
  ]);
}

function limitedTo(group: string | undefined, limit: number | undefined): string | undefined {
  const of = [...(group === undefined ? [] : [`group ${group}`]), ...(limit === undefined ? [] : [`limit ${limit}`])];
  return of.length === 0 ? undefined : of.join(', ');
}

function headOf(report: RunReport, run: string, paint: Paint): string[] {
  const outcome = paintState(paint, report.outcome ?? 'running');
  const revision = report.revision === undefined ? '' : ` revision ${report.revision}`;
  const commit = report.commit === undefined ? '' : ` (commit ${printable(report.commit_url ?? report.commit)})`;
  const lines = [`${paint.strong(`${report.kind} of ${printable(report.site)}${revision}`)}${commit}: ${outcome}`];
  lines.push(paint.dim(`run ${printable(run)}, workflow ${printable(report.workflow_id)}`));
  return [...lines, ...runLines(report, paint), ...limitLines(report, paint)];
}

function limitLines({ limits }: RunReport, paint: Paint): string[] {
  if (limits === undefined) return [];
  const { at_a_time, waited_seconds = 0, overridden } = limits;
  const waited = waited_seconds === 0 ? '' : `, waited ${formatDuration(waited_seconds * 1000)} for permits`;
  const known = at_a_time === undefined ? [] : [`limits: at most ${counted(at_a_time, 'node')} at a time${waited}`];
  return [...known, ...(overridden === undefined ? [] : [paint.bad(`limits overridden: ${printable(overridden)}`)])];
}

function failuresOf({ baremetal }: RunReport, paint: Paint): string[] {
  const failed = (baremetal?.nodes ?? []).filter((node) => node.state === 'failed');
  const shared = causesOfNodes(failed).filter((cause) => cause.names.length > 1);
  const explained = new Map(shared.flatMap((cause) => cause.names.map((name) => [name, cause])));
  const [title, ...lines] = nodeList(`Failed nodes (${failed.length})`, failed, paint, explained);
  if (title === undefined) return [];
  const causes = shared.flatMap(({ reason, hint, names: of }) => [
    `  ${paint.strong(counted(of.length, 'node'))}  ${printable(reason)}`,
    ...(hint === undefined ? [] : [`    ${paint.strong('hint:')} ${printable(hint)}`]),
  ]);
  return [title, ...causes, ...lines];
}

function checksOf({ checks = [], check_results: kept }: RunReport, paint: Paint): string[] {
  if (kept !== undefined) return keptChecks(kept, paint);
  const lines = checks.flatMap(({ name, verdict, text, unwell = [] }) => [
    `  ${paint.strong(printable(name))}  ${paintState(paint, verdict)}${text === undefined ? '' : `  ${printable(text)}`}`,
    ...unwell.map((one) => `    ${printable(one.node)}  ${paintState(paint, one.verdict)}  ${printable(one.text)}`),
  ]);
  return lines.length === 0 ? [] : [paint.strong(`Checks (${checks.length})`), ...lines];
}

/** Notes on successful nodes; failed nodes have them with their failure. */
function notesOf({ baremetal, released = [] }: RunReport, paint: Paint): string[] {
  const noted = [...(baremetal?.nodes ?? []), ...released].flatMap(({ name, system_id, warnings = [] }) =>
    warnings.map((reason) => ({ name, reason, also: [system_id] })),
  );
  const lines = causesOf(noted).flatMap(({ reason, names: of }) =>
    of.length === 1
      ? [`  ${paint.strong(printable(of[0]!))}  ${printable(reason)}`]
      : [`  ${paint.strong(counted(of.length, 'node'))}  ${printable(reason)}`, `    ${names(of)}`],
  );
  return lines.length === 0 ? [] : [paint.strong('Notes on nodes'), ...lines];
}

/** @param explained causes, shown before, of nodes by their names */
function nodeList(
  title: string,
  nodes: readonly NodeReport[],
  paint: Paint,
  explained: ReadonlyMap<string, Cause> = new Map(),
): string[] {
  if (nodes.length === 0) return [];
  const lines = nodes.flatMap((node) => {
    const where = [node.group && `group ${printable(node.group)}`, node.failed_in && `in ${node.failed_in}`]
      .filter(Boolean)
      .join(', ');
    const kind = node.failure_kind === undefined ? '' : ` [${node.failure_kind}]`;
    const tries = node.attempts > 1 ? `, attempt ${node.attempts}` : '';
    const state = paintState(paint, node.state);
    const about = where + tries === '' ? '' : ` (${(where + tries).replace(/^, /, '')})`;
    const block = [`  ${paint.strong(printable(node.name))}  ${state}${kind}${about}`];
    const cause = explained.get(node.name);
    if (node.reason !== undefined && cause === undefined) block.push(`    ${printable(node.reason)}`);
    if (node.hint !== undefined && cause?.hint === undefined)
      block.push(`    ${paint.strong('hint:')} ${printable(node.hint)}`);
    if (node.late !== undefined)
      block.push(
        `    late: ${node.late.call} ${node.late.ok ? 'succeeded' : 'failed'} at ${node.late.at}: ${printable(node.late.message)}`,
      );
    return block;
  });
  return [paint.strong(title), ...lines];
}

function groupsOf(baremetal: Baremetal, paint: Paint): string[] {
  const processed = new Set(baremetal.processed);
  const byName = new Map(baremetal.groups.map((group) => [group.name, group]));
  const ordered = [...new Set([...baremetal.order, ...byName.keys()])].flatMap((name) => byName.get(name) ?? []);
  const lines = ordered.flatMap((group) => {
    const critical = group.critical ? ' (critical)' : '';
    const total = NODE_STATES.reduce((sum, state) => sum + group.counts[state], 0);
    const states = NODE_STATES.filter((state) => group.counts[state] > 0).map(
      (state) => `${group.counts[state]} ${stateWord(state)}`,
    );
    const isOpen = group.state !== 'failed' && group.calls.some(({ ended_at }) => ended_at === undefined);
    const after = group.depends_on.length === 0 ? '' : ` (after ${group.depends_on.map(printable).join(', ')})`;
    const block = [
      `  ${paint.strong(printable(group.name))}${critical}  ${paintState(paint, isOpen ? 'running' : group.state)}  ${counted(total, 'node')}${states.length > 0 ? `: ${states.join(', ')}` : ''}${paint.dim(after)}`,
    ];
    if (group.reason !== undefined) block.push(`    ${paint.bad('reason:')} ${printable(group.reason)}`);
    else if (!isOpen && !processed.has(group.name) && group.state === 'not_reached')
      block.push(paint.dim('    not processed'));
    const { rollout } = group;
    if (rollout !== undefined && rollout.wave > 0) block.push(`    rollout: ${printable(rolloutText(rollout))}`);
    if (rollout?.policy !== undefined) block.push(paint.dim(`    policy:  ${policyText(rollout.policy)}`));
    for (const { call, text, met } of group.criteria)
      block.push(`    ${met ? paint.good('met    ') : paint.bad('not met')} after ${call}: ${text}`);
    for (const { call, nodes, started_at, ended_at, timed_out } of group.calls) {
      const took = ended_at === undefined ? 'still running' : `took ${formatSpan(started_at, ended_at)}`;
      block.push(paint.dim(`    ${call} of ${counted(nodes, 'node')} ${took}${timed_out ? ', timed out' : ''}`));
    }
    return block;
  });
  const halts = baremetal.halts ? [`  ${paint.bad('A critical group failed: the run halts after this step.')}`] : [];
  return [paint.strong(`Groups (${baremetal.groups.length}, in order)`), ...lines, ...halts];
}

function statesOf(report: RunReport, baremetal: Baremetal, paint: Paint): string[] {
  const lines = nodeStatesOf(report.outcome !== undefined).map((state) => {
    // A cut report has empty lists of names; the remaining nodes still have their state.
    const listed = baremetal.nodes_by_state[state];
    const known =
      listed.length > 0 ? listed : baremetal.nodes.filter((node) => node.state === state).map(({ name }) => name);
    const title = paintState(paint, state) + ' '.repeat(Math.max(0, 'not reached'.length - stateWord(state).length));
    return `  ${title}  ${String(known.length).padStart(4)}${known.length > 0 ? `  ${names(known)}` : ''}`;
  });
  const omitted = report.cut
    ? [paint.dim(`  ${counted(report.cut.nodes_omitted, 'node')} are omitted while the run continues`)]
    : [];
  return [paint.strong('Nodes by state'), ...lines, ...omitted];
}

function phasesOf({ phases }: RunReport, paint: Paint): string[] {
  if (phases.length === 0) return [];
  const widest = Math.max(...phases.map(({ name }) => name.length));
  return [
    paint.strong('Phases'),
    ...phases.map(({ name, state, started_at, ended_at, detail }) => {
      const span = formatSpan(started_at, ended_at);
      return `  ${name.replaceAll('_', ' ').padEnd(widest)}  ${paintState(paint, state)}${span === '' ? '' : `  ${span}`}${detail === undefined ? '' : `  ${printable(detail)}`}`;
    }),
  ];
}

function names(list: readonly string[]): string {
  return someOf(list.map(printable), NAMES_SHOWN);
}
