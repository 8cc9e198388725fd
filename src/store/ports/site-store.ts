import type { GitSource } from '../../core/git-source.ts';
import type { New, Stored } from '../tables.ts';
import type { Page, PageRequest } from './page.ts';

export interface SiteRecord extends Omit<Stored<'site'>, 'latestRevision'> {
  readonly latestRevision: number | null;
}

/** One file of documents, under the user's name for it. */
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

/**
 * A revision by number, by hash (in full, or a unique prefix of at least 7 digits), the newest, or the last good one.
 */
export type RevisionReference = 'latest' | 'last-good' | { readonly number: number } | { readonly hash: string };

/** A successful deployment of a revision. */
export type RevisionDeployment = Omit<Stored<'revisionDeployment'>, 'site'>;

/**
 * Sites and their revisions. A stored revision never changes; no call could change one. Site names match
 * `[a-z0-9][a-z0-9._-]{0,62}`, else `invalid`. An unknown site is `not-found` for every call but `list`.
 */
export interface SiteStore {
  /** @throws `conflict` when the name is taken. */
  create(site: New<'site'>): Promise<SiteRecord>;
  get(name: string): Promise<SiteRecord>;
  /** All sites by name, ascending. */
  list(): Promise<readonly SiteRecord[]>;
  /** Sets or clears the branch that the site follows. */
  setSource(name: string, source: GitSource | null): Promise<SiteRecord>;
  /**
   * Removes the site with its revisions and node facts. Its runs and audit entries stay.
   * @throws `conflict` with the holder while a run claims the site.
   */
  delete(name: string): Promise<void>;

  /**
   * Stores the files as the next revision. If they equal the latest revision's files, returns that revision with
   * `created: false`, so the call may be repeated. Going back to older content makes a new revision.
   */
  addRevision(
    site: string,
    revision: NewRevision,
  ): Promise<{ readonly revision: RevisionRecord; readonly created: boolean }>;
  /**
   * The revision with its files; the newest if several have the requested hash.
   * @throws `not-found` when there is no such revision; `conflict` when a hash prefix matches several contents.
   */
  getRevision(site: string, reference: RevisionReference): Promise<RevisionContent>;
  /** The same without reading the files. */
  findRevision(site: string, reference: RevisionReference): Promise<RevisionRecord>;
  listRevisions(site: string, page?: PageRequest): Promise<Page<RevisionRecord>>;

  /**
   * Records that a run deployed the revision successfully, which makes it the last good one. Repeating the call for a
   * run changes nothing, even if a later run has marked another revision since.
   * @throws `conflict` when the run has marked another revision.
   */
  markLastGood(site: string, revision: number, runId: string): Promise<RevisionDeployment>;
}

/**
 * Parses a user's reference to a revision: `latest`, `last-good`, a number of up to six digits, or at least seven
 * digits of a hash. Undefined for anything else.
 */
export function parseRevisionReference(text: string): RevisionReference | undefined {
  if (text === 'latest' || text === 'last-good') return text;
  if (/^[0-9]{1,6}$/.test(text)) return { number: Number(text) };
  if (/^[0-9a-f]{7,64}$/i.test(text)) return { hash: text.toLowerCase() };
  return undefined;
}
