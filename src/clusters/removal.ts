import { mayRunOn } from '../core/graph-types.ts';
import type { Plan, Problems } from '../graph/index.ts';
import { standingIn } from './node-choice.ts';
import { type ClusterNode, type ClusterSources, uidOf } from './sources.ts';

/**
 * Refuses work that destroys on every node that stays. All ways to a run meet in its plan, and a graph of any type may
 * have such a task, which then reaches nodes by their tags.
 */
export function refuseDestruction({ cluster, nodes }: ClusterSources, plan: Plan, problems: Problems): void {
  const standings = new Map(nodes.map((node) => [uidOf(node), standingIn(node)]));
  const refused = new Map<number, string[]>();
  for (const { type, node, task, skip } of plan.instances) {
    const uid = plan.nodes[node]!;
    if (skip !== undefined || mayRunOn(type, standings.get(uid))) continue;
    refused.set(task, [...(refused.get(task) ?? []), uid]);
  }
  for (const [task, uids] of refused) {
    const { merged } = plan.tasks[task]!;
    const isOne = uids.length === 1;
    problems.error(
      merged.at,
      'graph.destroys-staying',
      `task '${merged.task.id}' erases or releases ${problems.nodesText(uids, SHOWN)}, which ${isOne ? 'is' : 'are'} not pending removal`,
      `Move the task to the graph deletion, which is for removed nodes only. To remove a node: sitewright cluster remove-nodes ${cluster.id} --node ${uids[0]}, then sitewright cluster deploy ${cluster.id}.`,
    );
  }
}

/** The nodes, by id, on which no task of the plan does anything. */
export function untouchedBy(plan: Plan, nodes: readonly ClusterNode[]): readonly number[] {
  const worked = new Set(plan.instances.flatMap(({ node, skip }) => (skip === undefined ? [plan.nodes[node]!] : [])));
  return nodes.filter((node) => !worked.has(uidOf(node))).map(({ id }) => id);
}

/** Nodes that leave their cluster without being erased keep their software, which is worth a warning. */
export function warnOfUntouched(ids: readonly number[], type: string, problems: Problems): void {
  if (ids.length === 0) return;
  const isOne = ids.length === 1;
  problems.warning(
    ['tasks'],
    'graph.nothing-undone',
    `${problems.nodesText(ids.map(String), SHOWN)} ${isOne ? 'leaves' : 'leave'} the cluster as ${isOne ? 'it is' : 'they are'}: no task of graph '${type}' runs there`,
    "To erase machines, give the graph a task of type erase_node with tags: '*'.",
  );
}

const SHOWN = 10;
