import type { NodeExplanation, PlanExplanation } from '../../core/contracts/fuel/plan-explanation.ts';
import { taskKey } from '../../core/task-on-node.ts';
import { counted } from '../../core/text/text.ts';
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
    ...explanation.nodes.flatMap(nodeLines),
  ];
  section(
    lines,
    'on no node',
    explanation.not_placed.map(({ task, reason }) => `${task}: ${reason}`),
  );
  section(lines, 'not on the primary node', primaryLines(explanation.skipped_primaries));
  section(
    lines,
    'dependencies without effect',
    explanation.dropped_dependencies.map(({ task, field, name, reason }) => `${task} ${field} ${name}: ${reason}`),
  );
  section(
    lines,
    'nodes that may fail',
    explanation.fault_tolerance.map(({ name, node_ids, fault_tolerance }) => {
      const may = fault_tolerance > node_ids.length ? 'any number' : String(fault_tolerance);
      return `${name}: ${may} of ${node_ids.length} (${node_ids.join(', ')})`;
    }),
  );
  section(
    lines,
    'chosen by policy any',
    explanation.any_choices.map(
      ({ roles, candidates, chosen }) => `${JSON.stringify(roles)}: ${chosen.join(', ')} of ${candidates.join(', ')}`,
    ),
  );
  return `${lines.join('\n')}\n`;
}

function nodeLines({ node, runs, skipped }: NodeExplanation): string[] {
  const name = node === 'null' ? 'sync node' : `node ${node}`;
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

/** One line for all tasks that skip a node for the same tag. */
function primaryLines(skipped: PlanExplanation['skipped_primaries']): string[] {
  const byNode = new Map<string, string[]>();
  for (const { task, node, tag } of skipped) {
    const key = `node ${node} has it as ${tag}`;
    byNode.set(key, [...(byNode.get(key) ?? []), task]);
  }
  return [...byNode].map(([has, tasks]) => `${tasks.join(', ')}: ${has}`);
}

function section(lines: string[], title: string, entries: readonly string[]): void {
  if (entries.length > 0) lines.push('', title, ...entries.map((entry) => `  ${entry}`));
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
