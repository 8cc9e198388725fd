import { monotonicFactory } from 'ulid';
import { fromJson, InputCheck, storable } from '../input.js';
import type { AuditEntry, AuditFilter, AuditStore, NewAuditEntry } from '../ports/audit-store.js';
import type { Page } from '../ports/page.js';
import type { Session } from '../session.js';
import type { AuditEntryRow } from '../tables.js';
import { pageOf, readPage } from './paging.js';

/** Within one millisecond in the order of their making: the trail is read by time and id. */
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
    const row: AuditEntryRow = {
      id: check.key('id', entry.id ?? nextId(now.getTime())),
      at: check.time('at', entry.at ?? now.toISOString()),
      actor: check.key('actor', entry.actor),
      action: check.key('action', entry.action),
      target: check.key('target', entry.target),
      reason: entry.reason === undefined ? null : storable(entry.reason),
      details: entry.details === undefined ? null : check.json('details', entry.details),
    };
    check.done();
    return this.#session.write(async (transaction) => {
      await transaction
        .insertInto('auditEntry')
        .values(row)
        .onConflict((on) => on.column('id').doNothing())
        .execute();
      const stored = transaction.selectFrom('auditEntry').selectAll().where('id', '=', row.id);
      return entryOf(await stored.executeTakeFirstOrThrow());
    });
  }

  async list(filter: AuditFilter = {}): Promise<Page<AuditEntry>> {
    const { limit, after } = readPage<[string, string]>(filter, ['string', 'string']);
    const check = new InputCheck();
    const since = filter.since === undefined ? undefined : check.time('since', filter.since);
    const until = filter.until === undefined ? undefined : check.time('until', filter.until);
    check.done();
    return this.#session.read(async (db) => {
      let query = db.selectFrom('auditEntry').selectAll();
      for (const column of ['actor', 'action', 'target'] as const) {
        const value = filter[column];
        if (value !== undefined) query = query.where(column, '=', storable(value));
      }
      if (since !== undefined) query = query.where('at', '>=', since);
      if (until !== undefined) query = query.where('at', '<', until);
      if (after !== undefined) {
        const [at, id] = after;
        query = query.where((eb) => eb(eb.refTuple('at', 'id'), '<', eb.tuple(at, id)));
      }
      const rows = await query
        .orderBy('at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .execute();
      return pageOf(rows, limit, (row) => [row.at, row.id], entryOf);
    });
  }
}

const entryOf = (row: AuditEntryRow): AuditEntry => ({ ...row, details: fromJson(row.details) });
