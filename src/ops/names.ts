import { idOfName, type NameAnswer, type Named, type NamedKind, namesOfNode, namesOfVersion } from '../core/names.ts';
import type { Store } from '../store/index.ts';

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
  return {
    /** The thing of a kind that a name means, or why none is meant. */
    find: async (kind: NamedKind, name: string): Promise<NameAnswer> => idOfName(kind, name, await known[kind]()),
  };
}
