import { valueKey } from '../fields/value-key.ts';
import type { NodeResolver } from '../placing/node-resolver.ts';
import type { AnyChoice, TargetSet } from '../plan.ts';
import type { NamePattern } from '../tasks/name-pattern.ts';
import { below, type Relation } from './relations.ts';

/** Instances of tasks, by task id and node. */
export class InstanceIndex {
  /** By name, by node. */
  readonly #byName = new Map<string, Map<number, number>>();
  readonly #matching = new Map<NamePattern, readonly string[]>();

  add(name: string, node: number, instance: number): void {
    let nodes = this.#byName.get(name);
    if (nodes === undefined) {
      nodes = new Map();
      this.#byName.set(name, nodes);
    }
    nodes.set(node, instance);
  }

  at(name: string, node: number): number | undefined {
    return this.#byName.get(name)?.get(node);
  }

  /** Names of placed tasks that match a pattern. */
  names(pattern: NamePattern): readonly string[] {
    let names = this.#matching.get(pattern);
    if (names === undefined) {
      const { exact } = pattern;
      if (exact !== undefined) names = this.#byName.has(exact) ? [exact] : [];
      else names = [...this.#byName.keys()].filter((name) => pattern.matches(name));
      this.#matching.set(pattern, names);
    }
    return names;
  }
}

/** Nodes chosen by `policy: any` for these tags. With candidates, the choice is from a recorded plan and repeated as it is. */
export type EarlierChoice = Pick<AnyChoice, 'roles' | 'chosen'> & Partial<Pick<AnyChoice, 'candidates'>>;

/** Turns relations into sets of instances. Equal sets are shared. */
export class Linker {
  readonly targets: TargetSet[] = [];
  readonly anyChoices: AnyChoice[] = [];
  readonly #index: InstanceIndex;
  readonly #resolver: NodeResolver;
  readonly #known = new Map<string, number>();
  readonly #shared = new Map<NamePattern, Map<string, number>>();
  readonly #chosen = new Map<string, string[]>();
  readonly #earlier = new Map<string, EarlierChoice>();

  constructor(index: InstanceIndex, resolver: NodeResolver, earlier: readonly EarlierChoice[] = []) {
    for (const choice of earlier) this.#earlier.set(valueKey(choice.roles), choice);
    this.#index = index;
    this.#resolver = resolver;
  }

  /** The set for a relation of a task on `node`; undefined when it is empty. Throws GraphProblemError. */
  resolve(relation: Relation, node: number): number | undefined {
    const { where, name } = relation;
    switch (where.on) {
      case 'near':
        return this.#onNodes(name, node === this.#resolver.sync ? [node] : [node, this.#resolver.sync], false);
      case 'self':
        return this.#onNodes(name, [node], false);
      case 'sync':
        return this.#onNodes(name, [this.#resolver.sync], false);
      case 'tags': {
        let byTags = this.#shared.get(name);
        if (byTags === undefined) {
          byTags = new Map();
          this.#shared.set(name, byTags);
        }
        const key = `${where.policy}${valueKey(where.tags)}`;
        let set = byTags.get(key);
        if (set === undefined) {
          const nodes = below(['role'], () => this.#nodesOf(where.tags, where.policy, name));
          set = this.#onNodes(name, nodes, true) ?? -1;
          byTags.set(key, set);
        }
        return set < 0 ? undefined : set;
      }
    }
  }

  /** `any` chooses among the nodes that have the task: an earlier choice if it is one of them, else the lowest. */
  #nodesOf(tags: unknown, policy: 'all' | 'any', name: NamePattern): readonly number[] {
    const { nodes } = this.#resolver.resolve(tags);
    if (policy === 'all' || nodes.length === 0) return nodes;
    const roles: readonly unknown[] = Array.isArray(tags) ? tags : [tags];
    const key = valueKey(roles);
    const ids = nodes.map((node) => this.#resolver.nodes[node]!).sort();
    const earlier = this.#earlier.get(key);
    const having = nodes.filter((node) => this.#onNodes(name, [node], false) !== undefined);
    const possible = having.length === 0 || valueKey(earlier?.candidates) === valueKey(ids) ? nodes : having;
    const kept = possible.find((node) => earlier?.chosen.includes(this.#resolver.nodes[node]!));
    const chosen = kept ?? this.#resolver.lowest(possible);
    this.#record(key, { roles, candidates: ids }, this.#resolver.nodes[chosen]!);
    return [chosen];
  }

  /** Tasks on different nodes of the same tags make several choices for these tags. */
  #record(key: string, about: Pick<AnyChoice, 'roles' | 'candidates'>, node: string): void {
    const known = this.#chosen.get(key);
    if (known !== undefined) {
      if (!known.includes(node)) known.push(node);
      return;
    }
    const chosen = [node];
    this.#chosen.set(key, chosen);
    this.anyChoices.push({ ...about, chosen });
  }

  #onNodes(pattern: NamePattern, nodes: readonly number[], shared: boolean): number | undefined {
    const found: number[] = [];
    for (const name of this.#index.names(pattern)) {
      for (const node of nodes) {
        const instance = this.#index.at(name, node);
        if (instance !== undefined) found.push(instance);
      }
    }
    if (found.length === 0) return undefined;
    found.sort((a, b) => a - b);
    const key = `${shared ? 's' : ''}${found.join()}`;
    let set = this.#known.get(key);
    if (set === undefined) {
      set = this.targets.length;
      // Without the room that a list has to grow: there are hundreds of thousands.
      this.targets.push({ instances: found.slice(), shared });
      this.#known.set(key, set);
    }
    return set;
  }
}
