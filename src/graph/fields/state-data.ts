import { AnyOf, BackedDict, Dict, type NodeState, nodeState, prepareData, type Value } from '@sitewright/yaql';
import type { Fields } from '../tasks/task.ts';
import { type ClusterState, ownPart } from './state.ts';

/**
 * A cluster's state as expressions read it: `$`, `$node` and `$common`, for each node or none. The facts of the state
 * can be read there by name, and in the rows of `$.nodes` those of the row's node and its own data, too. They are not
 * part of the content, so `changed($.nodes)` is about the nodes, not about their statuses.
 */
export class StateData {
  readonly #state: ClusterState;
  readonly #common: Dict;
  readonly #own = new Map<string, Dict>();
  readonly #facts = new Map<string, Dict | undefined>();

  constructor(state: ClusterState) {
    this.#state = state;
    this.#common = this.#commonData();
  }

  /** The data of a node; null: of the cluster alone. */
  of(node: string | null): NodeState {
    const content = node === null ? new Dict(false) : this.#ownData(node);
    const facts = node === null ? undefined : this.#factsOf(node);
    return nodeState(this.#common, facts === undefined ? content : backed(content, facts));
  }

  #commonData(): Dict {
    const { common, facts } = this.#state;
    const content = prepareData(common);
    if (facts === undefined) return content;
    const further = prepareFacts(facts.common);
    const [cluster, ofCluster] = [content.get('cluster'), further.get('cluster')];
    if (cluster instanceof Dict && ofCluster instanceof Dict) content.set('cluster', backed(cluster, ofCluster));
    const rows = content.get('nodes');
    if (Array.isArray(rows))
      content.set(
        'nodes',
        rows.map((row) => this.#row(row)),
      );
    const network = content.get('network_metadata');
    const nodes = network instanceof Dict ? network.get('nodes') : undefined;
    if (nodes instanceof Dict) for (const [name, row] of nodes.entries()) nodes.set(name, this.#row(row));
    return backed(content, further);
  }

  #row(row: Value): Value {
    const uid = row instanceof Dict ? row.get('uid') : undefined;
    if (!(row instanceof Dict) || typeof uid !== 'string') return row;
    return new BackedDict(
      row.entries(),
      (key) => this.#factsOf(uid)?.get(key) ?? this.#ownData(uid).get(key),
      () => [...stringKeys(this.#factsOf(uid)), ...stringKeys(this.#ownData(uid))],
    );
  }

  #ownData(uid: string): Dict {
    let data = this.#own.get(uid);
    if (data === undefined) {
      data = prepareData(ownPart(this.#state, uid) ?? {});
      this.#own.set(uid, data);
    }
    return data;
  }

  #factsOf(uid: string): Dict | undefined {
    if (!this.#facts.has(uid)) {
      const facts = factsOf(this.#state, uid);
      this.#facts.set(uid, facts === undefined ? undefined : prepareFacts(facts));
    }
    return this.#facts.get(uid);
  }
}

/** The facts of a node, apart from its data; undefined when there are none. */
export function factsOf({ facts }: ClusterState, uid: string): Fields | undefined {
  return facts !== undefined && Object.hasOwn(facts.nodes, uid) ? facts.nodes[uid] : undefined;
}

/** Facts as values of the language: those of which a node has several equal each of them. */
export function prepareFacts(facts: Fields): Dict {
  const data = prepareData(facts);
  for (const name of SEVERAL) {
    const given = facts[name];
    if (Array.isArray(given)) data.set(name, new AnyOf(given.map(String)));
  }
  const configs = data.get('configs');
  // Nothing is configured for a service that no configuration mentions.
  if (configs instanceof Dict) {
    data.set(
      'configs',
      new BackedDict(
        configs.entries(),
        () => new Dict(false),
        () => [],
      ),
    );
  }
  return data;
}

/** Names under which a node has several texts: `$.label = testing` asks for one of them. */
const SEVERAL = ['label', 'attribute'] as const;

const backed = (content: Dict, further: Dict): Dict =>
  new BackedDict(
    content.entries(),
    (key) => further.get(key),
    () => stringKeys(further),
  );

const stringKeys = (dict: Dict | undefined): string[] =>
  dict === undefined ? [] : [...dict.keys()].filter((key) => typeof key === 'string');
