import {
  idOfName,
  isId,
  type NameAnswer,
  type Named,
  type NamedKind,
  namesOfNode,
  namesOfVersion,
} from '../core/names.ts';
import { type Store, StoreError } from '../store/index.ts';
import { problem } from './problem.ts';

/** Finds what people mean by names. */
export function nameOperations(store: Store) {
  const versioned = <T extends { readonly id: number; readonly name: string; readonly version: string }>(
    all: readonly T[],
  ): Named[] => all.map(({ id, name, version }) => ({ id, name, also: namesOfVersion(name, version) }));
  const known: Readonly<Record<NamedKind, () => Promise<readonly Named[]>>> = {
    cluster: () => store.clusters.list(),
    node: async () =>
      (await store.nodes.list()).map(({ id, name, hostname }) => ({
        id,
        name: name ?? hostname ?? '',
        also: namesOfNode(hostname),
      })),
    release: async () => versioned(await store.releases.list()),
    plugin: async () => versioned(await store.plugins.list()),
    sequence: () => store.sequences.list(),
  };
  /** The run of the graph with this transaction. */
  async function runOfGraph(transaction: number): Promise<string | undefined> {
    const found = await store.transactions.getRun(transaction).catch((error: unknown) => {
      if (error instanceof StoreError && error.failure.kind === 'not-found') return null;
      throw error;
    });
    if (found === null) return undefined;
    return (await store.runs.list({ number: found.run.id, limit: 1 })).items[0]?.id;
  }
  return {
    /**
     * The id of the run with a number, its own or that of one of its graphs, or of the newest with a workflow id; any other text
     * is an id, or none.
     * @throws `not-found` for a number that no run has
     */
    async run(reference: string): Promise<string> {
      const newest = async (which: { readonly number: number } | { readonly workflowId: string }) =>
        (await store.runs.list({ ...which, limit: 1 })).items[0]?.id;
      if (reference.includes(':')) return (await newest({ workflowId: reference })) ?? reference;
      if (!isId(reference)) return reference;
      const number = Number(reference);
      const id = (await newest({ number })) ?? (await runOfGraph(number));
      if (id !== undefined) return id;
      throw problem('not-found', `there is no run ${reference}`, {
        hint: "'sitewright run list' shows runs, with their numbers.",
      });
    },
    /** The thing of a kind that a name means, or why none is meant. */
    find: async (kind: NamedKind, name: string): Promise<NameAnswer> => idOfName(kind, name, await known[kind]()),
  };
}
