import type { RunStatus, TreeNode } from '../contracts/site-run.ts';
import type { GroupReport, NodeReport, RunReport } from '../contracts/site-run-report.ts';
import { given } from '../data/given.ts';
import { type Standing, standingOf, waitingDetail } from '../run/progress.ts';
import { counted } from '../text/text.ts';

/** Limit of nodes per group in a tree, failed ones first. The rest are only counted. */
const NODES_PER_GROUP = 60;

/** Every step and node of a run, from what it reports. */
export function treeOfSiteRun(report: RunReport, status: Standing & Pick<RunStatus, 'software'>): TreeNode {
  const { software } = status;
  const held = new Set(status.awaiting_approval?.map(({ before }) => before));
  const groups = (): Pick<TreeNode, 'children'> =>
    report.baremetal ? { children: groupsOf(report.baremetal, held) } : {};
  return {
    name: report.workflow_id,
    kind: 'run',
    state: standingOf(status),
    ...waitingDetail(status),
    children: report.phases.map((phase) => ({
      name: phase.name,
      kind: 'phase',
      state: phase.state,
      ...given({ detail: phase.detail }),
      ...(phase.name === 'software' && software ? { workflow_id: software.workflow_id } : {}),
      ...(phase.name === 'baremetal' ? groups() : {}),
    })),
  };
}

function groupsOf({ groups, nodes }: NonNullable<RunReport['baremetal']>, held: ReadonlySet<string>): TreeNode[] {
  const known = new Map(nodes.map((node) => [node.name, node]));
  return groups.map((group) => {
    const members = group.nodes.flatMap((name) => known.get(name) ?? []);
    const ranked = [...members].sort((a, b) => rank(a) - rank(b));
    const detail = [
      held.has(group.name) && 'waits for approval',
      group.reason,
      callsOf(group),
      moreThan(members.length),
    ]
      .filter(Boolean)
      .join(' · ');
    return {
      name: group.name,
      kind: 'group',
      state: group.state,
      ...(detail === '' ? {} : { detail }),
      ...(members.length === 0 ? {} : { children: ranked.slice(0, NODES_PER_GROUP).map(nodeOf) }),
    };
  });
}

const rank = ({ state, running }: NodeReport): number => (state === 'failed' ? 0 : running ? 1 : 2);

const moreThan = (nodes: number): string =>
  nodes > NODES_PER_GROUP ? `${counted(nodes - NODES_PER_GROUP, 'more node')}` : '';

const callsOf = ({ calls }: GroupReport): string =>
  calls
    .map(({ call, nodes, ended_at, timed_out }) => {
      const how = timed_out ? ' timed out' : ended_at === undefined ? ' runs' : '';
      return `${call}${how} on ${counted(nodes, 'node')}`;
    })
    .join(', ');

function nodeOf({ name, state, running, reason }: NodeReport): TreeNode {
  const detail = running === 'abort' ? [running, reason].filter(Boolean).join(' · ') : (reason ?? running);
  return { name, kind: 'node', state: running === undefined ? state : 'running', ...given({ detail }) };
}
