import { notFound } from '../failure.ts';
import { InputCheck } from '../input.ts';
import type { Session } from '../session.ts';
import type { New, Stored } from '../tables.ts';
import { matching } from './conditions.ts';
import { newRow, recordOf } from './conversion.ts';
import { lockRow } from './identified-row.ts';

export type SettingsRevision = Stored<'settingsRevision'>;

/** Settings, and who made them so. */
type SettingsNow = Pick<New<'settingsRevision'>, 'by' | 'editable'>;

/** Revisions kept of each cluster. */
const KEPT = 200;

/** The settings of clusters, change by change. */
export class SettingsRevisionStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Adds the next revision, and ahead of the first one what was before it; forgets the oldest when there are too many. */
  add(clusterId: number, before: SettingsNow, now: SettingsNow): Promise<void> {
    const check = new InputCheck();
    const at = new Date().toISOString();
    const rowOf = (settings: SettingsNow) =>
      newRow('settingsRevision', check, { clusterId, ...settings }, { number: 0, at });
    const [first, next] = [rowOf(before), rowOf(now)];
    check.done();
    return this.#session.write(async (transaction) => {
      // Two changes at once get two numbers.
      await lockRow(transaction, 'cluster', clusterId);
      const newest = await matching(transaction.selectFrom('settingsRevision').select('number'), { clusterId })
        .orderBy('number', 'desc')
        .limit(1)
        .executeTakeFirst();
      const last = newest?.number ?? 0;
      const rows = (last === 0 ? [first, next] : [next]).map((row, index) => ({ ...row, number: last + 1 + index }));
      await transaction.insertInto('settingsRevision').values(rows).execute();
      await transaction
        .deleteFrom('settingsRevision')
        .where('clusterId', '=', clusterId)
        .where('number', '<=', last + rows.length - KEPT)
        .execute();
    });
  }

  /** Newest first. */
  list(clusterId: number): Promise<readonly SettingsRevision[]> {
    return this.#session.read(async (db) => {
      const rows = matching(db.selectFrom('settingsRevision').selectAll(), { clusterId }).orderBy('number', 'desc');
      return (await rows.execute()).map((row) => recordOf('settingsRevision', row));
    });
  }

  /** Its number; null where nothing has changed yet. */
  newest(clusterId: number): Promise<number | null> {
    return this.#session.read(async (db) => {
      const newest = matching(db.selectFrom('settingsRevision').select('number'), { clusterId }).orderBy(
        'number',
        'desc',
      );
      return (await newest.limit(1).executeTakeFirst())?.number ?? null;
    });
  }

  /** @throws `not-found` */
  get(clusterId: number, number: number): Promise<SettingsRevision> {
    return this.#session.read(async (db) => {
      const row = await matching(db.selectFrom('settingsRevision').selectAll(), {
        clusterId,
        number,
      }).executeTakeFirst();
      if (row === undefined)
        throw notFound(
          'settings',
          String(number),
          `'sitewright settings history --cluster ${clusterId}' lists the revisions.`,
        );
      return recordOf('settingsRevision', row);
    });
  }
}
