import type { NodeExplanation, PlanExplanation } from '../../core/contracts/fuel/plan-explanation.ts';
import { alikeNodes, MOST_NAMES, planSections } from '../../core/graph-run/plan-sections.ts';
import { taskKey } from '../../core/task-on-node.ts';
import { counted, someOf } from '../../core/text/text.ts';
import { linksOf } from '../linking/order.ts';
import type { Plan } from '../plan.ts';
import { dotId } from './draw-graph.ts';

/** An explanation as text: a section for each node, then unplaced tasks and dependencies without effect. */
export function planText(explanation: PlanExplanation): string {
  const { totals } = explanation;
  const first =
    totals.first_time === totals.running ? 'all for the first time' : `${totals.first_time} of them for the first time`;
  const lines = [
    `${counted(totals.tasks, 'task')} on ${counted(totals.nodes, 'node')}: ${totals.running} run (${first}), ${totals.tasks - totals.running} do not`,
    ...alikeNodes(explanation.nodes).flatMap(nodeLines),
    ...planSections(explanation).flatMap(([title, rows]) => [
      '',
      title,
      ...rows.map(([what, why]) => `  ${what}: ${why}`),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

function nodeLines(alike: readonly NodeExplanation[]): string[] {
  const [{ node, runs, skipped }] = alike as readonly [NodeExplanation];
  const names = someOf(
    alike.map((one) => one.node),
    MOST_NAMES,
  );
  const name = alike.length > 1 ? `${alike.length} nodes, ${names}` : node === 'null' ? 'sync node' : `node ${node}`;
  return [
    '',
    `${name}: ${runs.length} run, ${skipped.length} do not`,
    ...runs.map(({ task, type, first_time, changed, new_version }) => {
      const label = first_time ? 'first time here' : changed.length > 0 ? `new: ${changed.join('; ')}` : 'again';
      return `  run   ${task} (${type}) ${label}${new_version ? ', in a new version' : ''}`;
    }),
    ...skipped.flatMap(({ task, why, values, missed }) => [
      `  skip  ${task}: ${missed ? 'new version, not run here: ' : ''}${why}`,
      ...values.map((one) => `          ${one}`),
    ]),
  ];
}

/** A plan for Graphviz: a box for each node, a point for each "all of these before all of those". */
export function planDot(plan: Plan): string {
  const { successors } = linksOf(plan);
  const key = (at: number): string => {
    const task = plan.instances[at];
    return task === undefined ? `join${at - plan.instances.length}` : dotId(taskKey(task.id, plan.nodes[task.node]!));
  };
  const boxes = plan.nodes.flatMap((node, number) => {
    const tasks = plan.byNode[number]!;
    if (tasks.length === 0) return [];
    const lines = tasks.map((at) => {
      const { id, skip } = plan.instances[at]!;
      return `    ${key(at)} [label=${dotId(id)}, ${skip === undefined ? 'color=yellowgreen, style=filled' : 'color=gray95'}];\n`;
    });
    return [
      `  subgraph ${dotId(`cluster_${node}`)} {\n    label=${dotId(node === 'null' ? 'sync node' : `node ${node}`)};\n${lines.join('')}  }\n`,
    ];
  });
  const points = successors.slice(plan.instances.length).map((_, join) => `  join${join} [shape=point];\n`);
  const arrows = successors.flatMap((after, at) => after.map((next) => `  ${key(at)} -> ${key(next)};\n`));
  return `strict digraph plan {\n${boxes.join('')}${points.join('')}${arrows.join('')}}\n`;
}
