import { createHash } from 'node:crypto';
import { canonicalJson } from '../documents/canonical-json.js';
import type { AnyChoice, Plan } from './plan.js';
import { nodesWithTasks, serializedMetadata, serializedTasks } from './result.js';

/** Counts and hashes of a result. Equal digests mean equal results. */
export interface GraphDigest {
  readonly nodes: number;
  /** Tasks on nodes, including those that do not run. */
  readonly tasks: number;
  readonly running: number;
  /** Total number of entries of `requires` and `required_for`. */
  readonly relations: number;
  /** By node id, as in `tasks_graph`. */
  readonly by_node: Readonly<Record<string, NodeDigest>>;
  /** SHA-256 of the metadata of the tasks, as canonical JSON. */
  readonly metadata: string;
  readonly any_choices: readonly AnyChoice[];
  /** SHA-256 over the hashes of the nodes and of the metadata. */
  readonly sha256: string;
}

export interface NodeDigest {
  readonly tasks: number;
  readonly running: number;
  readonly relations: number;
  /** SHA-256 of the node's list of tasks, as canonical JSON: keys sorted, no whitespace. */
  readonly sha256: string;
}

export function digestOf(plan: Plan): GraphDigest {
  const byNode: Record<string, NodeDigest> = {};
  for (const { key, node } of nodesWithTasks(plan)) {
    const tasks = serializedTasks(plan, node);
    byNode[key] = {
      tasks: tasks.length,
      running: tasks.filter(({ type }) => type !== 'skipped').length,
      relations: tasks.reduce((sum, one) => sum + (one.requires?.length ?? 0) + (one.required_for?.length ?? 0), 0),
      sha256: sha256(canonicalJson(withoutLarge(tasks))),
    };
  }
  const all = Object.values(byNode);
  const total = (field: 'tasks' | 'running' | 'relations'): number => all.reduce((sum, one) => sum + one[field], 0);
  const metadata = sha256(canonicalJson(serializedMetadata(plan)));
  const hashes = [
    ...Object.entries(byNode)
      .map(([key, { sha256: hash }]) => `${key} ${hash}`)
      .sort(),
    metadata,
  ];
  return {
    nodes: all.length,
    tasks: total('tasks'),
    running: total('running'),
    relations: total('relations'),
    by_node: byNode,
    metadata,
    any_choices: plan.anyChoices,
    sha256: sha256(hashes.join('\n')),
  };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Replaces integers too large for JavaScript with text. */
function withoutLarge(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(withoutLarge);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutLarge(item)]));
}
