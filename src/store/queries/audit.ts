import { monotonicFactory } from 'ulid';
import { InputCheck, storable } from '../input.ts';
import type { Page, PageRequest } from '../page.ts';
import type { Session } from '../session.ts';
import type { New, Stored } from '../tables.ts';
import { matching, readPeriod, within } from './conditions.ts';
import { newRow, recordOf } from './conversion.ts';
import { fetchPage, newestFirst, readPage } from './paging.ts';

/** Who did what, when and why. */
export type AuditEntry = Stored<'auditEntry'>;

/** Give an id if the call may be repeated: each id is stored once. The time defaults to now. */
export type NewAuditEntry = New<'auditEntry'>;

export interface AuditFilter extends PageRequest {
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
  /** ISO 8601, inclusive. */
  readonly since?: string;
  /** ISO 8601, exclusive. */
  readonly until?: string;
}

/** Monotonic within a millisecond, because the trail is sorted by time and id. */
const nextId = monotonicFactory();

/** Append-only: entries are never changed or removed. */
export class AuditStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Returns the stored entry: the first one if the id existed. */
  async append(entry: NewAuditEntry): Promise<AuditEntry> {
    const now = new Date();
    const check = new InputCheck();
    const { id = nextId(now.getTime()), at = now.toISOString() } = entry;
    const row = newRow('auditEntry', check, entry, { id, at });
    check.done();
    return this.#session.write(async (transaction) => {
      await transaction
        .insertInto('auditEntry')
        .values(row)
        .onConflict((on) => on.column('id').doNothing())
        .execute();
      const stored = transaction.selectFrom('auditEntry').selectAll().where('id', '=', row.id);
      return recordOf('auditEntry', await stored.executeTakeFirstOrThrow());
    });
  }

  /** Those of these ids that exist, in no order. */
  find(ids: readonly string[]): Promise<readonly AuditEntry[]> {
    if (ids.length === 0) return Promise.resolve([]);
    return this.#session.read(async (db) => {
      const rows = await db.selectFrom('auditEntry').selectAll().where('id', 'in', ids.map(storable)).execute();
      return rows.map((row) => recordOf('auditEntry', row));
    });
  }

  /** Newest first. */
  async list(filter: AuditFilter = {}): Promise<Page<AuditEntry>> {
    const page = readPage(filter, newestFirst({ at: 'string', id: 'string' }));
    const period = readPeriod(filter);
    const { actor, action, target } = filter;
    return this.#session.read((db) =>
      fetchPage(
        within(matching(db.selectFrom('auditEntry').selectAll(), { actor, action, target }), 'at', period),
        page,
        (row) => [row.at, row.id],
        (row) => recordOf('auditEntry', row),
      ),
    );
  }
}
