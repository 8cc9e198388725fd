import {
  idOfName,
  isId,
  type NameAnswer,
  type Named,
  type NamedKind,
  namesOfNode,
  namesOfVersion,
} from '../core/names.ts';
import { StoreError } from '../store/index.ts';
import { problem } from './problem.ts';
import { Service } from './service.ts';

/** Finds what people mean by names. */
export class NameOperations extends Service {
  readonly #known: Readonly<Record<NamedKind, () => Promise<readonly Named[]>>> = {
    cluster: () => this.store.clusters.list(),
    node: async () =>
      (await this.store.nodes.list()).map(({ id, name, hostname }) => ({
        id,
        name: name ?? hostname ?? '',
        also: namesOfNode(hostname),
      })),
    release: async () => this.#versioned(await this.store.releases.list()),
    plugin: async () => this.#versioned(await this.store.plugins.list()),
    sequence: () => this.store.sequences.list(),
  };

  /**
   * The id of the run with a number, its own or that of one of its graphs, or of the newest with a workflow id; any other text
   * is an id, or none.
   * @throws `not-found` for a number that no run has
   */
  async run(reference: string): Promise<string> {
    const newest = async (which: { readonly number: number } | { readonly workflowId: string }) =>
      (await this.store.runs.list({ ...which, limit: 1 })).items[0]?.id;
    if (reference.includes(':')) return (await newest({ workflowId: reference })) ?? reference;
    if (!isId(reference)) return reference;
    const number = Number(reference);
    const id = (await newest({ number })) ?? (await this.#runOfGraph(number));
    if (id !== undefined) return id;
    throw problem('not-found', `there is no run ${reference}`, {
      hint: "'sitewright run list' shows runs, with their numbers.",
    });
  }
  /** The thing of a kind that a name means, or why none is meant. */
  async find(kind: NamedKind, name: string): Promise<NameAnswer> {
    return idOfName(kind, name, await this.#known[kind]());
  }

  #versioned<T extends { readonly id: number; readonly name: string; readonly version: string }>(
    all: readonly T[],
  ): Named[] {
    return all.map(({ id, name, version }) => ({ id, name, also: namesOfVersion(name, version) }));
  }
  /** The run of the graph with this transaction. */
  async #runOfGraph(transaction: number): Promise<string | undefined> {
    const found = await this.store.transactions.getRun(transaction).catch((error: unknown) => {
      if (error instanceof StoreError && error.failure.kind === 'not-found') return null;
      throw error;
    });
    if (found === null) return undefined;
    return (await this.store.runs.list({ number: found.run.id, limit: 1 })).items[0]?.id;
  }
}
