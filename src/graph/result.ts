import { given } from '../core/data/given.ts';
import { compareText } from '../core/text/text.ts';
import type { FaultTolerance } from './placing/place-tasks.ts';
import { type AnyChoice, nodeIdOf, type Plan, related, type TaskInstance } from './plan.ts';

/** A plan in the form of Fuel's executors. */
export interface SerializedGraph {
  /** By node id; `null` is the sync node and always present. */
  readonly tasks_graph: Readonly<Record<string, readonly SerializedTask[]>>;
  /** Always empty: tasks are complete. */
  readonly tasks_directory: Readonly<Record<string, never>>;
  readonly tasks_metadata: {
    readonly fault_tolerance_groups: readonly FaultTolerance[];
    readonly subgraphs?: readonly unknown[];
  };
  readonly any_choices: readonly AnyChoice[];
}

interface SerializedTask {
  readonly id: string;
  readonly type: string;
  readonly fail_on_error: unknown;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly requires?: readonly SerializedRelation[];
  readonly required_for?: readonly SerializedRelation[];
}

interface SerializedRelation {
  readonly name: string;
  readonly node_id: string | null;
}

/** Indexes of the nodes with tasks, by id; always includes the sync node. */
export function nodesWithTasks(plan: Plan): { readonly key: string; readonly node: number }[] {
  return plan.nodes
    .map((key, node) => ({ key, node }))
    .filter(({ node }) => plan.byNode[node]!.length > 0 || node === plan.nodes.length - 1)
    .sort((a, b) => compareText(a.key, b.key));
}

/** The tasks of one node, sorted by id; relations sorted by name and node. One node at a time, to stream big plans. */
export function serializedTasks(plan: Plan, node: number): SerializedTask[] {
  return tasksOfNode(plan, node).map(({ at, task }) => {
    const { id, type, failOnError, parameters } = task;
    const requires = relationsOf(plan, at, 'requires');
    const requiredFor = relationsOf(plan, at, 'requiredFor');
    return {
      fail_on_error: failOnError,
      id,
      ...given({ parameters }),
      ...(requiredFor.length === 0 ? {} : { required_for: requiredFor }),
      ...(requires.length === 0 ? {} : { requires }),
      type,
    };
  });
}

/** The instances of one node, sorted by id. */
export const tasksOfNode = (plan: Plan, node: number): { readonly at: number; readonly task: TaskInstance }[] =>
  plan.byNode[node]!.map((at) => ({ at, task: plan.instances[at]! })).sort((a, b) => compareText(a.task.id, b.task.id));

function relationsOf(plan: Plan, at: number, direction: 'requires' | 'requiredFor'): SerializedRelation[] {
  return related(plan, at, direction)
    .map((target) => ({ name: plan.instances[target]!.id, node_id: nodeIdOf(plan, plan.instances[target]!.node) }))
    .sort((a, b) => compareText(a.name, b.name) || compareText(String(a.node_id), String(b.node_id)));
}

/** The metadata of a plan. */
export function serializedMetadata(plan: Plan): SerializedGraph['tasks_metadata'] {
  const subgraphs = plan.subgraphs.length === 0 ? {} : { subgraphs: plan.subgraphs };
  return { fault_tolerance_groups: plan.faultTolerance, ...subgraphs };
}

/** The JSON text of the whole result in pieces, a node at a time, as it may be very large. */
export function* serializedText(plan: Plan): Generator<string> {
  yield `{"any_choices":${json(plan.anyChoices)},"tasks_directory":{},"tasks_graph":{`;
  for (const [at, { key, node }] of nodesWithTasks(plan).entries()) {
    yield `${at === 0 ? '' : ','}\n${JSON.stringify(key)}:${json(serializedTasks(plan, node))}`;
  }
  yield `},\n"tasks_metadata":${json(serializedMetadata(plan))}}\n`;
}

/** Writes integers too large for JavaScript in full. */
function json(value: unknown): string {
  const large: string[] = [];
  const text = JSON.stringify(value, (_key, item: unknown) => {
    if (typeof item !== 'bigint') return item;
    large.push(String(item));
    return `${LARGE}${large.length - 1}`;
  });
  return large.length === 0
    ? text
    : text.replace(new RegExp(`"${LARGE_ESCAPED}(\\d+)"`, 'g'), (_, at: string) => large[Number(at)]!);
}

const LARGE = '\u0000whole ';
const LARGE_ESCAPED = '\\\\u0000whole ';
