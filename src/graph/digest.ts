import { createHash } from 'node:crypto';
import { canonicalJson } from '../documents/canonical-json.ts';
import type { AnyChoice, Plan } from './plan.ts';
import { RelationText } from './relation-text.ts';
import { nodesWithTasks, serializedMetadata, tasksOfNode } from './result.ts';

/** Counts and hashes of a result. Equal digests mean equal results. */
interface GraphDigest {
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

interface NodeDigest {
  readonly tasks: number;
  readonly running: number;
  readonly relations: number;
  /** SHA-256 of the node's list of tasks, as canonical JSON: keys sorted, no whitespace. */
  readonly sha256: string;
}

export function digestOf(plan: Plan): GraphDigest {
  const relations = new RelationText(plan);
  const known = new WeakMap<object, string>();
  // Instances share parameters.
  const parametersText = (value: object): string => {
    const text = known.get(value) ?? canonicalJson(withoutLarge(value));
    known.set(value, text);
    return text;
  };
  const byNode = Object.fromEntries(
    nodesWithTasks(plan).map(({ key, node }) => [key, digestOfNode(plan, node, relations, parametersText)] as const),
  );
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

/** Hashes the result of `serializedTasks`, without building its relations. */
function digestOfNode(
  plan: Plan,
  node: number,
  relations: RelationText,
  parametersText: (value: object) => string,
): NodeDigest {
  const text = new HashedText();
  let [running, count] = [0, 0];
  const list = (name: string, instance: number, direction: 'requires' | 'requiredFor'): void => {
    let opened = false;
    count += relations.write(instance, direction, (part) => {
      if (!opened) text.add(`,"${name}":[`);
      opened = true;
      text.addBytes(part);
    });
    if (!opened) return;
    text.dropComma();
    text.add(']');
  };
  const tasks = tasksOfNode(plan, node);
  text.add('[');
  for (const [place, { at, task }] of tasks.entries()) {
    if (task.type !== 'skipped') running++;
    // Members in the order of canonical JSON.
    text.add(place === 0 ? '{' : ',{');
    if (task.failOnError !== undefined) text.add(`"fail_on_error":${canonicalJson(withoutLarge(task.failOnError))},`);
    text.add(`"id":${JSON.stringify(task.id)}`);
    if (task.parameters !== undefined) text.add(`,"parameters":${parametersText(task.parameters)}`);
    list('required_for', at, 'requiredFor');
    list('requires', at, 'requires');
    text.add(`,"type":${JSON.stringify(task.type)}}`);
  }
  text.add(']');
  return { tasks: tasks.length, running, relations: count, sha256: text.sha256() };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Hashes a text given in many small parts, in blocks. */
class HashedText {
  readonly #hash = createHash('sha256');
  readonly #block = Buffer.allocUnsafe(64 * 1024);
  #used = 0;

  add(text: string): void {
    // UTF-8 needs at most three bytes for each UTF-16 code unit.
    if (text.length * 3 > this.#block.length) this.addBytes(Buffer.from(text));
    else {
      if (text.length * 3 > this.#block.length - this.#used) this.#flush();
      this.#used += this.#block.write(text, this.#used);
    }
  }

  addBytes(bytes: Buffer): void {
    if (bytes.length > this.#block.length - this.#used) this.#flush();
    if (bytes.length > this.#block.length) {
      // The last byte stays behind: `dropComma` may take it back.
      this.#hash.update(bytes.subarray(0, -1));
      bytes = bytes.subarray(-1);
    }
    this.#used += bytes.copy(this.#block, this.#used);
  }

  /** Takes back the last byte, which the previous call added. */
  dropComma(): void {
    this.#used--;
  }

  sha256(): string {
    this.#flush();
    return this.#hash.digest('hex');
  }

  #flush(): void {
    this.#hash.update(this.#block.subarray(0, this.#used));
    this.#used = 0;
  }
}

/** Replaces integers too large for JavaScript with text. */
export function withoutLarge(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(withoutLarge);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutLarge(item)]));
}
