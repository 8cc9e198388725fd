import type { Kysely } from 'kysely';
import type { GitSource } from '../../core/sources/git-source.ts';
import type { ResolvedSite } from '../../documents/index.ts';
import { conflict, notFound } from '../failure.ts';
import { InputCheck, storable } from '../input.ts';
import type { Page, PageRequest } from '../page.ts';
import type { Session } from '../session.ts';
import type { New, Row, Stored, Tables } from '../tables.ts';
import { assertUnclaimed } from './claims.ts';
import { columnsWithout, newRow, recordOf } from './conversion.ts';
import { endMaintenance } from './maintenance.ts';
import { fetchPage, newestFirst, readPage } from './paging.ts';
import { packFiles, packResolved, type RevisionFile, unpackFiles, unpackResolved } from './revision-files.ts';
import { holdSite, readSite } from './site-row.ts';

export interface SiteRecord extends Omit<Stored<'site'>, 'latestRevision'> {
  readonly latestRevision: number | null;
}

interface NewRevision extends Omit<New<'revision'>, 'site'> {
  readonly files: readonly RevisionFile[];
  /** What they mean; null when they have errors. */
  readonly resolved: ResolvedSite | null;
}

/** A revision without its files and what they mean. */
export interface RevisionRecord extends Omit<Stored<'revision'>, 'files' | 'resolved'> {
  readonly lastGood: boolean;
}

interface RevisionContent extends RevisionRecord {
  readonly files: readonly RevisionFile[];
}

/** A revision with what its documents mean. */
export interface ResolvedRevision {
  readonly record: RevisionRecord;
  /** Null when its documents have errors. */
  readonly site: ResolvedSite | null;
}

/**
 * A revision by number, by hash (in full, or a unique prefix of at least 7 digits), the newest, or the last good one.
 */
export type RevisionReference = 'latest' | 'last-good' | { readonly number: number } | { readonly hash: string };

/** A successful deployment of a revision. */
type RevisionDeployment = Omit<Stored<'revisionDeployment'>, 'site'>;

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

const SHORTEST_HASH = 7;

const WITHOUT_FILES = columnsWithout('revision', 'files', 'resolved');

/**
 * Sites and their revisions. A stored revision never changes; no call could change one. Site names match
 * `[a-z0-9][a-z0-9._-]{0,62}`, else `invalid`. An unknown site is `not-found` for every call but `list`.
 */
export class SiteStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** @throws `conflict` when the name is taken. */
  async create(site: New<'site'>): Promise<SiteRecord> {
    const check = new InputCheck();
    const wanted = newRow('site', check, site, { createdAt: new Date().toISOString(), latestRevision: 0 });
    check.done();
    return this.#session.write(async (transaction) => {
      const row = await transaction
        .insertInto('site')
        .values(wanted)
        .onConflict((on) => on.column('name').doNothing())
        .returningAll()
        .executeTakeFirst();
      if (row === undefined)
        throw conflict(`There is a site "${site.name}" already.`, 'Use it, or choose another name.');
      return siteOf(row);
    });
  }

  get(name: string): Promise<SiteRecord> {
    return this.#session.read(async (db) => siteOf(await readSite(db, name)));
  }

  /** All sites by name, ascending. */
  list(): Promise<readonly SiteRecord[]> {
    return this.#session.read(async (db) =>
      (await db.selectFrom('site').selectAll().orderBy('name').execute()).map(siteOf),
    );
  }

  /** Within `atomically`: others who hold the site, or add a revision to it, wait until the end of this change. */
  async hold(name: string): Promise<void> {
    await this.#session.write((transaction) => holdSite(transaction, name));
  }

  /** Sets or clears the branch that the site follows. */
  setSource(name: string, source: GitSource | null): Promise<SiteRecord> {
    const check = new InputCheck();
    const value = source === null ? null : check.json('source', source);
    check.done();
    return this.#session.write(async (transaction) => {
      const site = await holdSite(transaction, name);
      await transaction.updateTable('site').set({ source: value }).where('name', '=', name).execute();
      return siteOf({ ...site, source: value });
    });
  }

  /**
   * Removes the site with its revisions and node facts. Its runs and audit entries stay.
   * @throws `conflict` with the holder while a run claims the site.
   */
  delete(name: string): Promise<void> {
    return this.#session.write(async (transaction) => {
      await holdSite(transaction, name);
      await assertUnclaimed(transaction, { site: name }, name);
      await transaction.deleteFrom('site').where('name', '=', name).execute();
      await endMaintenance(transaction, { site: name });
    });
  }

  /**
   * Stores the files as the next revision. If they equal the latest revision's files, returns that revision with
   * `created: false`, so the call may be repeated. Going back to older content makes a new revision.
   */
  async addRevision(
    site: string,
    revision: NewRevision,
  ): Promise<{ readonly revision: RevisionRecord; readonly created: boolean }> {
    const check = new InputCheck();
    const { files, resolved, ...about } = revision;
    const packed = await packFiles(check, files);
    const draft = newRow(
      'revision',
      check,
      { ...about, site },
      {
        number: 0,
        hash: packed.hash,
        createdAt: new Date().toISOString(),
        fileCount: files.length,
        size: packed.size,
        files: packed.bytes,
        forced: resolved === null,
        resolved: await packResolved(check, resolved),
      },
    );
    check.done();
    return this.#session.write(async (transaction) => {
      const owner = await holdSite(transaction, site);
      const latest = await transaction
        .selectFrom('revision')
        .select(WITHOUT_FILES)
        .where('site', '=', site)
        .where('number', '=', owner.latestRevision)
        .executeTakeFirst();
      if (latest?.hash === packed.hash) return { revision: revisionOf(latest, owner), created: false };
      const row = { ...draft, number: owner.latestRevision + 1 };
      await transaction.insertInto('revision').values(row).execute();
      await transaction.updateTable('site').set({ latestRevision: row.number }).where('name', '=', site).execute();
      const { files: _files, resolved: _resolved, ...rest } = row;
      return { revision: revisionOf(rest, owner), created: true };
    });
  }

  /**
   * The revision with its files; the newest if several have the requested hash.
   * @throws `not-found` when there is no such revision; `conflict` when a hash prefix matches several contents.
   */
  async getRevision(site: string, reference: RevisionReference): Promise<RevisionContent> {
    const { record, bytes } = await this.#read(site, reference, 'files');
    return { ...record, files: await unpackFiles(bytes!) };
  }

  /** The revision with what its documents mean. Throws as `getRevision`. */
  async resolvedRevision(site: string, reference: RevisionReference): Promise<ResolvedRevision> {
    const { record, bytes } = await this.#read(site, reference, 'resolved');
    return { record, site: bytes === null ? null : await unpackResolved(bytes) };
  }

  #read(site: string, reference: RevisionReference, content: 'files' | 'resolved') {
    return this.#session.read(async (db) => {
      const record = await findRevision(db, site, reference);
      const { bytes } = await db
        .selectFrom('revision')
        .select(({ ref }) => ref(content).as('bytes'))
        .where('site', '=', site)
        .where('number', '=', record.number)
        .executeTakeFirstOrThrow(() => revisionNotFound(site, reference));
      return { record, bytes };
    });
  }

  /** The record alone. */
  findRevision(site: string, reference: RevisionReference): Promise<RevisionRecord> {
    return this.#session.read((db) => findRevision(db, site, reference));
  }

  async listRevisions(site: string, request: PageRequest = {}): Promise<Page<RevisionRecord>> {
    const page = readPage(request, newestFirst({ number: 'number' }));
    return this.#session.read(async (db) => {
      const owner = await readSite(db, site);
      const query = db.selectFrom('revision').select(WITHOUT_FILES).where('site', '=', site);
      return fetchPage(
        query,
        page,
        (row) => [row.number],
        (row) => revisionOf(row, owner),
      );
    });
  }

  /**
   * Records that a run deployed the revision successfully, which makes it the last good one. Repeating the call for a
   * run changes nothing, even if a later run has marked another revision since.
   * @throws `conflict` when the run has marked another revision.
   */
  async markLastGood(site: string, revision: number, runId: string): Promise<RevisionDeployment> {
    const check = new InputCheck();
    const run = check.key('runId', runId);
    check.done();
    return this.#session.write(async (transaction) => {
      await holdSite(transaction, site);
      const marked = await transaction
        .selectFrom('revisionDeployment')
        .select(['revision', 'runId', 'at'])
        .where('site', '=', site)
        .where('runId', '=', run)
        .executeTakeFirst();
      if (marked !== undefined) {
        if (marked.revision === revision) return marked;
        const hint = 'A run deploys one revision; check the run id.';
        throw conflict(`Run ${run} has deployed revision ${marked.revision} of "${site}", not ${revision}.`, hint);
      }
      await findRevision(transaction, site, { number: revision });
      const deployment = { revision, runId: run, at: new Date().toISOString() };
      await transaction
        .insertInto('revisionDeployment')
        .values({ site, ...deployment })
        .execute();
      await transaction.updateTable('site').set({ lastGoodRevision: revision }).where('name', '=', site).execute();
      return deployment;
    });
  }
}

async function findRevision(db: Kysely<Tables>, site: string, reference: RevisionReference): Promise<RevisionRecord> {
  const owner = await readSite(db, site);
  const ofSite = db.selectFrom('revision').select(WITHOUT_FILES).where('site', '=', site);
  if (typeof reference === 'object' && 'hash' in reference) {
    const hash = reference.hash.toLowerCase();
    if (!/^[0-9a-f]+$/.test(hash) || hash.length < SHORTEST_HASH) throw revisionNotFound(site, reference);
    // "g" sorts after every hexadecimal digit, so this is the range of all hashes with that prefix.
    const rows = await ofSite
      .where('hash', '>=', hash)
      .where('hash', '<', `${hash}g`)
      .orderBy('number', 'desc')
      .execute();
    const [newest] = rows;
    if (newest === undefined) throw revisionNotFound(site, reference);
    if (rows.some((row) => row.hash !== newest.hash)) {
      const numbers = rows.map((row) => row.number).join(', ');
      throw conflict(`Hash ${hash} fits revisions ${numbers} of "${site}".`, 'Give more digits, or the number.');
    }
    return revisionOf(newest, owner);
  }
  const number =
    reference === 'latest'
      ? owner.latestRevision
      : reference === 'last-good'
        ? owner.lastGoodRevision
        : reference.number;
  const row =
    number !== null && Number.isSafeInteger(number)
      ? await ofSite.where('number', '=', number).executeTakeFirst()
      : undefined;
  if (row === undefined) throw revisionNotFound(site, reference);
  return revisionOf(row, owner);
}

function revisionNotFound(site: string, reference: RevisionReference) {
  const wanted = typeof reference === 'string' ? reference : 'hash' in reference ? reference.hash : reference.number;
  const hints = {
    latest: 'Commit documents to the site first.',
    'last-good': 'No revision of the site has been deployed successfully yet.',
  };
  const hint =
    typeof reference === 'string'
      ? hints[reference]
      : `List the revisions of the site; a hash needs at least ${SHORTEST_HASH} digits.`;
  return notFound('revision', `${site}@${storable(String(wanted))}`, hint);
}

const siteOf = (row: Row<'site'>): SiteRecord => ({
  ...recordOf('site', row),
  latestRevision: row.latestRevision === 0 ? null : row.latestRevision,
});

const revisionOf = (row: Omit<Row<'revision'>, 'files' | 'resolved'>, site: Row<'site'>): RevisionRecord => ({
  ...recordOf('revision', row),
  lastGood: row.number === site.lastGoodRevision,
});
