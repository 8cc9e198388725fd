import { kindOf } from '../../core/data/plain-value.ts';
import { compareText } from '../../core/text/text.ts';
import { valueKey } from '../fields/value-key.ts';
import { GraphProblemError } from '../problem.ts';
import { isInstanceTag, tagPattern } from '../tasks/name-pattern.ts';

/** A node of the run, with the tags and roles that tasks match. */
export interface TaggedNode {
  readonly uid: string;
  /** All its tags: `primary-TAG` instead of `TAG` where it is primary. */
  readonly tags: readonly string[];
  /** Its roles in the same form, for tasks of plugins without tags; absent: those tasks use tags, too. */
  readonly roles?: readonly string[];
}

/** The orchestrator's own host, as a node. */
export const MASTER = 'master';
/** The virtual node of stages; its id is null for executors. */
export const SYNC = 'null';

const PRIMARY = 'primary-';

/** A node that has `primary-TAG` where a task asks for `TAG`. */
export interface SkippedPrimary {
  readonly node: string;
  readonly tag: string;
}

/** The nodes for a list of tags or roles. */
interface ResolvedNodes {
  /** Ascending indexes into `NodeResolver.nodes`. */
  readonly nodes: readonly number[];
  /** Why the value cannot be tags and so resolves to no nodes. */
  readonly nothing?: string;
}

/**
 * Finds nodes by tags or roles: names, `/regex/`, `mysql*`, `master`, and a single `*` for every node with any tag
 * that is not an instance. Nodes are numbered: those of the run in their order, then `master`, then the sync node.
 */
export class NodeResolver {
  readonly nodes: readonly string[];
  readonly master: number;
  readonly sync: number;
  readonly #byTag = new Map<string, number[]>();
  readonly #any: readonly number[];
  readonly #known = new Map<string, ResolvedNodes>();

  constructor(nodes: readonly TaggedNode[]) {
    this.nodes = [...nodes.map(({ uid }) => uid), MASTER, SYNC];
    this.master = nodes.length;
    this.sync = nodes.length + 1;
    const any: number[] = [];
    nodes.forEach(({ tags }, node) => {
      if (tags.some((tag) => !isInstanceTag(tag))) any.push(node);
      for (const tag of new Set(tags)) {
        const list = this.#byTag.get(tag);
        if (list === undefined) this.#byTag.set(tag, [node]);
        else list.push(node);
      }
    });
    this.#any = any;
  }

  /** Throws GraphProblemError for an entry that is not text or not a valid regular expression. */
  resolve(tags: unknown): ResolvedNodes {
    const key = valueKey(tags);
    let resolved = this.#known.get(key);
    if (resolved === undefined) {
      resolved = this.#find(tags);
      this.#known.set(key, resolved);
    }
    return resolved;
  }

  #find(tags: unknown): ResolvedNodes {
    if (tags === '*') return { nodes: this.#any };
    const entries = typeof tags === 'string' ? [tags] : tags;
    if (!Array.isArray(entries)) return { nodes: [], nothing: `${kindOf(tags)} names no tags` };
    const found = new Set<number>();
    entries.forEach((entry: unknown, at) => {
      if (entry === MASTER) {
        found.add(this.master);
        return;
      }
      for (const tag of this.#tagsLike(entry, at)) for (const node of this.#byTag.get(tag) ?? []) found.add(node);
    });
    return { nodes: [...found].sort((a, b) => a - b) };
  }

  #tagsLike(entry: unknown, at: number): readonly string[] {
    try {
      const pattern = tagPattern(entry);
      if (pattern.exact !== undefined) return [pattern.exact];
      return [...this.#byTag.keys()].filter((tag) => pattern.matches(tag));
    } catch (error) {
      if (!(error instanceof GraphProblemError)) throw error;
      throw new GraphProblemError(error.code, error.message, error.hint, [at]);
    }
  }

  /** The tags of the run's nodes that match a pattern or a list of patterns; all tags without one. */
  tagsMatching(tags: unknown): string[] {
    const all = [...this.#byTag.keys()];
    if (tags === undefined || tags === null || tags === '*') return all;
    const entries = typeof tags === 'string' ? [tags] : tags;
    if (!Array.isArray(entries)) return [];
    const patterns = entries.map((entry: unknown) => tagPattern(entry));
    return all.filter((tag) => patterns.some((pattern) => pattern.matches(tag)));
  }

  /** Primary nodes that would have a tag of `tags` if they were not primary for it: these tags skip them. */
  skippedPrimaries(tags: unknown): SkippedPrimary[] {
    const entries = typeof tags === 'string' ? [tags] : tags;
    if (tags === '*' || !Array.isArray(entries)) return [];
    const patterns = entries.map((entry: unknown) => tagPattern(entry));
    const placed = new Set(this.resolve(tags).nodes);
    return [...this.#byTag].flatMap(([tag, nodes]) =>
      tag.startsWith(PRIMARY) && patterns.some((pattern) => pattern.matches(tag.slice(PRIMARY.length)))
        ? nodes.filter((node) => !placed.has(node)).map((node) => ({ node: this.nodes[node]!, tag }))
        : [],
    );
  }

  /** The node that `policy: any` chooses of several: the lowest id. */
  lowest(nodes: readonly number[]): number {
    return nodes.reduce((best, node) => (compareIds(this.nodes[node]!, this.nodes[best]!) < 0 ? node : best));
  }
}

/** Orders numbers by value and before words, words by text. */
function compareIds(a: string, b: string): number {
  const [numberA, numberB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (numberA !== numberB) return numberA ? -1 : 1;
  if (numberA && a.length !== b.length) return a.length - b.length;
  return compareText(a, b);
}
