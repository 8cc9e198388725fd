import type { New, Stored } from '../tables.js';
import type { Page, PageRequest } from './page.js';

export interface SiteRecord extends Omit<Stored<'site'>, 'latestRevision'> {
  readonly latestRevision: number | null;
}

/** One file of documents, with the name the user gave it. */
export interface RevisionFile {
  readonly name: string;
  readonly text: string;
}

export interface NewRevision extends Omit<New<'revision'>, 'site'> {
  readonly files: readonly RevisionFile[];
}

/** A revision without its files. */
export interface RevisionRecord extends Omit<Stored<'revision'>, 'files'> {
  readonly lastGood: boolean;
}

export interface RevisionContent extends RevisionRecord {
  readonly files: readonly RevisionFile[];
}

/** A revision by number, by hash (whole, or a unique beginning of 7 digits and more), the newest, the last good one. */
export type RevisionReference = 'latest' | 'last-good' | { readonly number: number } | { readonly hash: string };

/** A successful deployment of a revision. */
export type RevisionDeployment = Omit<Stored<'revisionDeployment'>, 'site'>;

/**
 * Sites and their revisions. A revision never changes once stored; there is no call that could change one.
 * Names of sites match `[a-z0-9][a-z0-9._-]{0,62}`; another is refused as `invalid`. A site that does not exist is
 * `not-found` for every call but `list`.
 */
export interface SiteStore {
  /** @throws `conflict` when the name is taken. */
  create(site: New<'site'>): Promise<SiteRecord>;
  get(name: string): Promise<SiteRecord>;
  /** All sites by name, ascending. */
  list(): Promise<readonly SiteRecord[]>;
  /** Names or clears the site's cluster. */
  setCluster(name: string, cluster: string | null): Promise<SiteRecord>;
  /**
   * Removes the site with its revisions and node facts. Its runs and audit entries stay.
   * @throws `conflict` with the holder while a run claims the site.
   */
  delete(name: string): Promise<void>;

  /**
   * Stores the files as the next revision. When they equal the latest revision's files, that one is returned with
   * `created: false` and nothing is stored: so the call may be repeated. Going back to older content is a new revision.
   */
  addRevision(
    site: string,
    revision: NewRevision,
  ): Promise<{ readonly revision: RevisionRecord; readonly created: boolean }>;
  /**
   * The revision with its files. When several have the hash asked for, the newest.
   * @throws `not-found` when there is no such revision; `conflict` when a beginning of a hash fits several contents.
   */
  getRevision(site: string, reference: RevisionReference): Promise<RevisionContent>;
  /** The same without reading the files. */
  findRevision(site: string, reference: RevisionReference): Promise<RevisionRecord>;
  listRevisions(site: string, page?: PageRequest): Promise<Page<RevisionRecord>>;

  /**
   * Records that a run deployed the revision successfully, which makes it the last good one. Repeating the call for a
   * run changes nothing, even when a later run has marked another revision since.
   * @throws `conflict` when the run has marked another revision.
   */
  markLastGood(site: string, revision: number, runId: string): Promise<RevisionDeployment>;
  /** Successful deployments, newest first. */
  listDeployments(site: string, page?: PageRequest): Promise<Page<RevisionDeployment>>;
}

/**
 * Reads what a user types for a revision: `latest`, `last-good`, a number of up to six digits, or seven and more digits
 * of a hash. Undefined for anything else.
 */
export function parseRevisionReference(text: string): RevisionReference | undefined {
  if (text === 'latest' || text === 'last-good') return text;
  if (/^[0-9]{1,6}$/.test(text)) return { number: Number(text) };
  if (/^[0-9a-f]{7,64}$/i.test(text)) return { hash: text.toLowerCase() };
  return undefined;
}
