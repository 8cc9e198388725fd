import { monotonicFactory } from 'ulid';
import { InputCheck } from '../input.ts';
import type { Session } from '../session.ts';
import type { New, Stored } from '../tables.ts';
import { matching } from './conditions.ts';
import { newRow, recordOf } from './conversion.ts';

/** One attempt to deliver a notice. */
type NoticeDeliveryRecord = Stored<'noticeDelivery'>;

type NewNoticeDelivery = New<'noticeDelivery'>;

/** Attempts kept of each receiver. */
const KEPT = 100;

/** Ordered by time, also within a millisecond. */
const nextId = monotonicFactory();

/** Deliveries of notices: the newest attempts of each receiver. */
export class NoticeStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Forgets the oldest ones of the receiver when there are too many. */
  async add(delivery: NewNoticeDelivery): Promise<NoticeDeliveryRecord> {
    const now = new Date();
    const check = new InputCheck();
    const row = newRow('noticeDelivery', check, delivery, { id: nextId(now.getTime()), at: now.toISOString() });
    check.done();
    return this.#session.write(async (transaction) => {
      await transaction.insertInto('noticeDelivery').values(row).execute();
      const oldest = await transaction
        .selectFrom('noticeDelivery')
        .select('id')
        .where('receiver', '=', row.receiver)
        .orderBy('id', 'desc')
        .offset(KEPT)
        .limit(1)
        .executeTakeFirst();
      if (oldest !== undefined)
        await transaction
          .deleteFrom('noticeDelivery')
          .where('receiver', '=', row.receiver)
          .where('id', '<=', oldest.id)
          .execute();
      const stored = transaction.selectFrom('noticeDelivery').selectAll().where('id', '=', row.id);
      return recordOf('noticeDelivery', await stored.executeTakeFirstOrThrow());
    });
  }

  /** Newest first. */
  list(receiver?: string): Promise<readonly NoticeDeliveryRecord[]> {
    return this.#session.read(async (db) => {
      const rows = matching(db.selectFrom('noticeDelivery').selectAll(), { receiver });
      return (await rows.orderBy('id', 'desc').limit(KEPT).execute()).map((row) => recordOf('noticeDelivery', row));
    });
  }
}
