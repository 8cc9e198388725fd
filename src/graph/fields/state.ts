import { createHash } from 'node:crypto';
import { Float } from '@sitewright/yaql';
import { isMapping } from '../../core/data/plain-value.ts';
import { canonicalJson } from '../../documents/canonical-json.ts';
import type { Fields } from '../tasks/task.ts';

/** The data of a cluster at one time: `common` to all its nodes, and each node's own part. */
export interface ClusterState {
  readonly common: Fields;
  readonly nodes: Readonly<Record<string, Fields>>;
  /** Data that can be read by name, but is neither compared nor printed: statuses, labels … `StateData` has the rules. */
  readonly facts?: { readonly common: Fields; readonly nodes: Readonly<Record<string, Fields>> };
}

/** States of earlier runs: for a task, the state with which it last succeeded. */
export interface OldStates {
  readonly states: Readonly<Record<string, ClusterState>>;
  /** By task id, the name of one of `states`: the last with which it succeeded on any node. */
  readonly tasks: Readonly<Record<string, string>>;
  /** By task id and node, where nodes differ: takes precedence, and a node without an entry has no old state. */
  readonly onNodes?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** By task id and node, the digest of what succeeded there last; see `TaskChanges`. */
  readonly digests?: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/** The name of the state with which a task last succeeded on a node, null: on any; undefined when it never did. */
export function oldStateName(old: OldStates, task: string, node: string | null): string | undefined {
  if (node === null) return Object.hasOwn(old.tasks, task) ? old.tasks[task] : undefined;
  const nodes = old.onNodes !== undefined && Object.hasOwn(old.onNodes, task) ? old.onNodes[task] : undefined;
  if (nodes !== undefined) return Object.hasOwn(nodes, node) ? nodes[node] : undefined;
  return Object.hasOwn(old.tasks, task) ? old.tasks[task] : undefined;
}

/** The node's own part, if it has a non-empty one. */
export function ownPart(state: ClusterState, node: string): Fields | undefined {
  return Object.hasOwn(state.nodes, node) ? state.nodes[node] : undefined;
}

/** The result of a look-up: a value (null when a key is absent), or why there can be none. */
export type Found = { readonly value: unknown } | { readonly error: string };

/** Follows a path through common data overlaid with a node's own: mappings are merged, all else is replaced. */
export function lookUp(common: Fields, own: Fields, path: readonly string[]): Found {
  let over: unknown = own;
  let base: unknown = common;
  for (const [at, key] of path.entries()) {
    if (!isMapping(over ?? base)) return { error: `'${path[at - 1]}' has no keys, so no '${key}'` };
    over = memberOf(over, key);
    base = memberOf(base, key);
    if (over === undefined && base === undefined) return { value: null };
    if (over !== undefined && !isMapping(over)) base = undefined;
  }
  return { value: isMapping(over) && isMapping(base) ? { ...base, ...over } : over === undefined ? base : over };
}

const memberOf = (value: unknown, key: string): unknown =>
  isMapping(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** Longer texts are known by their hashes, which end with `=`, as no JSON does. */
const LONG = 100;

/** Numbers values, equal ones alike, so that nodes can be compared key by key. */
export class ValueNumbers {
  readonly #numbers = new Map<string, number>();
  readonly #ofNode = new WeakMap<Fields, Map<string, number>>();

  /** 0 when the part does not have the key. */
  of(part: Fields, key: string): number {
    if (!Object.hasOwn(part, key)) return 0;
    let known = this.#ofNode.get(part);
    if (known === undefined) {
      known = new Map();
      this.#ofNode.set(part, known);
    }
    let number = known.get(key);
    if (number === undefined) {
      const text = canonicalJson(exactText(part[key]));
      // Each of many nodes may have kilobytes of its own.
      const name = text.length < LONG ? text : createHash('sha256').update(text).digest('base64');
      number = this.#numbers.get(name) ?? this.#numbers.size + 1;
      this.#numbers.set(name, number);
      known.set(key, number);
    }
    return number;
  }
}

/** Keeps numbers distinct that JSON would confuse (1 and 1.0). */
function exactText(value: unknown): unknown {
  if (typeof value === 'bigint') return { $int: String(value) };
  if (value instanceof Float) return { $float: String(value.value) };
  if (Array.isArray(value)) return value.map(exactText);
  if (!isMapping(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, exactText(item)]));
}
