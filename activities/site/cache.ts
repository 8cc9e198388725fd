import type { ResolvedNode } from '../../src/documents/index.ts';
import {
  type ResolvedRevision,
  type RevisionReference,
  type Store,
  StoreError,
  unlessNotFound,
} from '../../src/store/index.ts';

/** The activity of every node needs the revision; that of a thousand nodes has a megabyte of JSON. */
const KEPT = 8;

/** Revisions of this process. They never change, so entries never expire. */
export class SiteCache {
  readonly #store: Store;
  readonly #kept = new Map<string, Promise<ResolvedRevision>>();

  constructor(store: Store) {
    this.#store = store;
  }

  async load(site: string, reference: RevisionReference): Promise<ResolvedRevision> {
    const { number, hash } = await this.#store.sites.findRevision(site, reference);
    const key = `${site}/${number}/${hash}`;
    const known = this.#kept.get(key);
    this.#kept.delete(key);
    const revision = known ?? this.#store.sites.resolvedRevision(site, { number });
    this.#kept.set(key, revision);
    // Do not cache a failure of the store.
    revision.catch(() => this.#kept.delete(key));
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT) break;
      this.#kept.delete(oldest);
    }
    return revision;
  }

  /** Undefined: there is no such revision. */
  readonly find = (site: string, reference: RevisionReference): Promise<ResolvedRevision | undefined> =>
    this.load(site, reference).catch(unlessNotFound);

  /** The nodes of the documents that were deployed last; none before the first deployment. */
  async lastGoodNodes(site: string): Promise<ReadonlyMap<string, ResolvedNode>> {
    try {
      const { site: resolved } = await this.load(site, 'last-good');
      return new Map((resolved?.nodes ?? []).map((node) => [node.name, node]));
    } catch (error) {
      if (error instanceof StoreError && error.failure.kind === 'not-found') return new Map();
      throw error;
    }
  }
}
