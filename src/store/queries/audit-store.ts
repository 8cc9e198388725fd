import { monotonicFactory } from 'ulid';
import { InputCheck } from '../input.ts';
import type { AuditEntry, AuditFilter, AuditStore, NewAuditEntry } from '../ports/audit-store.ts';
import type { Page } from '../ports/page.ts';
import type { Session } from '../session.ts';
import { matching, readPeriod, within } from './conditions.ts';
import { newRow, recordOf } from './conversion.ts';
import { fetchPage, newestFirst, readPage } from './paging.ts';

/** Monotonic within a millisecond, because the trail is sorted by time and id. */
const nextId = monotonicFactory();

/** AuditStore on either database. */
export class SqlAuditStore implements AuditStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

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
