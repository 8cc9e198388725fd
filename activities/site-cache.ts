import type { ResolvedNode } from '../src/documents/index.ts';
import { type ResolvedRevision, type RevisionReference, type Store, StoreError } from '../src/store/index.ts';

/** A revision for activities on single nodes: its nodes by name; none when its documents have errors. */
export interface CachedRevision extends ResolvedRevision {
  readonly nodes: ReadonlyMap<string, ResolvedNode>;
}

/** The activity of every node needs the revision; that of a thousand nodes has a megabyte of JSON. */
const KEPT = 8;

/** Revisions of this process. They never change, so entries never expire. */
export class SiteCache {
  readonly #store: Store;
  readonly #kept = new Map<string, Promise<CachedRevision>>();

  constructor(store: Store) {
    this.#store = store;
  }

  async load(site: string, reference: RevisionReference): Promise<CachedRevision> {
    const { number, hash } = await this.#store.sites.findRevision(site, reference);
    const key = `${site}/${number}/${hash}`;
    const known = this.#kept.get(key);
    this.#kept.delete(key);
    const revision = known ?? this.#read(site, number);
    this.#kept.set(key, revision);
    // Do not cache a failure of the store.
    revision.catch(() => this.#kept.delete(key));
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT) break;
      this.#kept.delete(oldest);
    }
    return revision;
  }

  /** The nodes of the documents that were deployed last; none before the first deployment. */
  async lastGoodNodes(site: string): Promise<ReadonlyMap<string, ResolvedNode>> {
    try {
      return (await this.load(site, 'last-good')).nodes;
    } catch (error) {
      if (error instanceof StoreError && error.failure.kind === 'not-found') return new Map();
      throw error;
    }
  }

  async #read(site: string, number: number): Promise<CachedRevision> {
    const revision = await this.#store.sites.resolvedRevision(site, { number });
    return { ...revision, nodes: new Map((revision.site?.nodes ?? []).map((node) => [node.name, node])) };
  }
}
