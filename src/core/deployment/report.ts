import type { BaremetalReport, GroupReport, NodeReport } from '../contracts/site-run-report.ts';
import { given } from '../data/given.ts';
import { appliedPolicy } from '../rollout/show.ts';
import { NODE_STATES, type NodeState } from '../words.ts';
import { halts } from './baremetal.ts';
import { describeVerdict } from './criteria.ts';
import { describeGroupFailure } from './failures.ts';
import type { BaremetalState } from './progress.ts';
import { isRolledOut, showRollout } from './rollout.ts';

export function reportBaremetal(state: BaremetalState): BaremetalReport {
  const nodes = state.nodes.map(reportNode);
  return {
    groups: state.groups.map((group) => reportGroup(state, group)),
    nodes,
    nodes_by_state: namesByState(nodes),
    order: state.order,
    processed: state.processed,
    critical_failures: state.groups
      .filter((group) => group.plan.critical && group.state === 'failed')
      .map((group) => group.plan.name),
    halts: halts(state),
  };
}

/**
 * The report of the step for the log, a line for each group and for each state of nodes (docs/explain/design.md#spec-5, "Process" 3: "success/failure of
 * groups and the status of the individual nodes").
 */
export function describeBaremetal({ groups, nodes_by_state: byState }: BaremetalReport): string[] {
  const groupLine = ({ name, critical, state, nodes, counts, reason }: GroupReport): string => {
    const of = `${counts.success} of ${nodes.length} nodes succeeded`;
    return `group ${name}${critical ? ' (critical)' : ''}: ${state}, ${of}${reason === undefined ? '' : `: ${reason}`}`;
  };
  const states = NODE_STATES.filter((state) => byState[state].length > 0);
  return [...groups.map(groupLine), ...states.map((state) => `nodes ${state}: ${byState[state].join(', ')}`)];
}

/** The nodes with these indexes, by default all, as they are recorded. */
export function recordNodes(
  state: BaremetalState,
  indexes: Iterable<number> = state.nodes.keys(),
): { readonly position: number; readonly report: NodeReport }[] {
  return [...indexes].map((index) => ({ position: index, report: reportNode(state.nodes[index]!) }));
}

/** Counts of nodes by state, for status lines. */
export function countNodes(state: BaremetalState): Record<NodeState, number> {
  return countStates(state.nodes);
}

export const NO_NODES: Readonly<Record<NodeState, number>> = {
  waiting: 0,
  not_reached: 0,
  prepared: 0,
  success: 0,
  failed: 0,
};

export function countStates(nodes: readonly { readonly state: NodeState }[]): Record<NodeState, number> {
  const counts = { ...NO_NODES };
  for (const { state } of nodes) counts[state] += 1;
  return counts;
}

function reportGroup(state: BaremetalState, group: BaremetalState['groups'][number]): GroupReport {
  const { plan, failure } = group;
  return {
    name: plan.name,
    critical: plan.critical,
    state: group.state,
    depends_on: plan.depends_on,
    nodes: plan.nodes.map((index) => state.nodes[index]!.name),
    counts: countStates(plan.nodes.map((index) => state.nodes[index]!)),
    ...(failure ? { failure, reason: describeGroupFailure(failure) } : {}),
    criteria: group.verdicts.flatMap(({ call, verdicts }) =>
      verdicts.map((verdict) => ({ call, ...verdict, text: describeVerdict(verdict) })),
    ),
    ...(isRolledOut(group) && {
      rollout: { ...showRollout(state, group), policy: appliedPolicy(group.plan.rollout) },
    }),
    calls: group.calls.map((record) => ({
      call: record.call,
      nodes: record.nodes.length,
      started_at: iso(record.started_at),
      ...(record.ended_at === undefined ? {} : { ended_at: iso(record.ended_at) }),
      timed_out: record.timed_out,
    })),
  };
}

function reportNode(node: BaremetalState['nodes'][number]): NodeReport {
  const { failure, late } = node;
  return {
    name: node.name,
    state: node.state,
    attempts: node.attempts,
    ...given({ running: node.aborting ? ('abort' as const) : node.running }),
    ...given({ group: node.group, system_id: node.system_id, model: node.model }),
    ...(node.started_at === undefined ? {} : { started_at: iso(node.started_at) }),
    ...(node.prepared_at === undefined ? {} : { prepared_at: iso(node.prepared_at) }),
    ...(node.deploying_at === undefined ? {} : { deploying_at: iso(node.deploying_at) }),
    ...(node.ended_at === undefined ? {} : { ended_at: iso(node.ended_at) }),
    ...(failure ? { failed_in: failure.call, failure_kind: failure.kind, reason: failure.message } : {}),
    ...(failure?.hint === undefined ? {} : { hint: failure.hint }),
    ...(node.warnings?.length ? { warnings: node.warnings } : {}),
    ...(late ? { late: { ...late, at: iso(late.at) } } : {}),
  };
}

export function namesByState(nodes: readonly NodeReport[]): Record<NodeState, string[]> {
  const names: Record<NodeState, string[]> = { waiting: [], not_reached: [], prepared: [], success: [], failed: [] };
  for (const state of NODE_STATES) names[state] = nodes.filter((node) => node.state === state).map((node) => node.name);
  return names;
}

const iso = (milliseconds: number): string => new Date(milliseconds).toISOString();
