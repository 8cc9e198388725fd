import { isError } from '../src/core/problems/diagnostic.ts';
import {
  type DeploymentConfiguration,
  loadSite,
  type ResolvedNode,
  type SiteDocuments,
} from '../src/documents/index.ts';
import { type RevisionRecord, type RevisionReference, type Store, StoreError } from '../src/store/index.ts';

/** A parsed revision, or why it cannot be used. */
export type ParsedRevision =
  | {
      readonly ok: true;
      readonly record: RevisionRecord;
      readonly site: SiteDocuments;
      readonly nodes: ReadonlyMap<string, ResolvedNode>;
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly record: RevisionRecord; readonly problems: readonly string[] };

export type { DeploymentConfiguration };

/** A site of a thousand nodes takes a second to parse, and every node's activity needs it. */
const KEPT = 8;

/** Parsed revisions of this process. Revisions never change, so entries never expire. */
export class SiteCache {
  readonly #store: Store;
  readonly #parsed = new Map<string, Promise<ParsedRevision>>();

  constructor(store: Store) {
    this.#store = store;
  }

  async load(site: string, reference: RevisionReference): Promise<ParsedRevision> {
    const record = await this.#store.sites.findRevision(site, reference);
    const key = `${site}/${record.number}/${record.hash}`;
    const known = this.#parsed.get(key);
    this.#parsed.delete(key);
    const parsed = known ?? this.#parse(site, record);
    this.#parsed.set(key, parsed);
    // Do not cache a failure of the store.
    parsed.catch(() => this.#parsed.delete(key));
    for (const oldest of this.#parsed.keys()) {
      if (this.#parsed.size <= KEPT) break;
      this.#parsed.delete(oldest);
    }
    return parsed;
  }

  /** The nodes of the documents that were deployed last; none before the first deployment. */
  async lastGoodNodes(site: string): Promise<ReadonlyMap<string, ResolvedNode>> {
    try {
      const parsed = await this.load(site, 'last-good');
      return parsed.ok ? parsed.nodes : new Map();
    } catch (error) {
      if (error instanceof StoreError && error.failure.kind === 'not-found') return new Map();
      throw error;
    }
  }

  async #parse(site: string, record: RevisionRecord): Promise<ParsedRevision> {
    const { files } = await this.#store.sites.getRevision(site, { number: record.number });
    const loaded = loadSite(files);
    const lines = (severity: 'error' | 'warning') =>
      loaded.diagnostics
        .filter((one) => one.severity === severity)
        .map((one) => `${one.file ?? site}:${one.line ?? 1}: ${one.message}`);
    if (!loaded.site || loaded.diagnostics.some(isError)) return { ok: false, record, problems: lines('error') };
    const nodes = new Map(loaded.site.nodes.map((node) => [node.name, node]));
    return { ok: true, record, site: loaded.site, nodes, warnings: lines('warning') };
  }
}
