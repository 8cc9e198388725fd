import { notFound } from '../failure.ts';
import { InputCheck } from '../input.ts';
import type { Session } from '../session.ts';
import type { New, Stored } from '../tables.ts';
import { matching } from './conditions.ts';
import { newRow, recordOf } from './conversion.ts';

export type SettingsRevision = Stored<'settingsRevision'>;

/** Revisions kept of each cluster. */
const KEPT = 200;

/** The settings of clusters, change by change. */
export class SettingsRevisionStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Adds the next revision; forgets the oldest ones when there are too many. */
  add(revision: New<'settingsRevision'>): Promise<SettingsRevision> {
    const check = new InputCheck();
    const row = newRow('settingsRevision', check, revision, { number: 0, at: new Date().toISOString() });
    check.done();
    const { clusterId } = row;
    return this.#session.write(async (transaction) => {
      const newest = await matching(transaction.selectFrom('settingsRevision').select('number'), { clusterId })
        .orderBy('number', 'desc')
        .limit(1)
        .executeTakeFirst();
      const stored = { ...row, number: (newest?.number ?? 0) + 1 };
      await transaction.insertInto('settingsRevision').values(stored).execute();
      await transaction
        .deleteFrom('settingsRevision')
        .where('clusterId', '=', clusterId)
        .where('number', '<=', stored.number - KEPT)
        .execute();
      return recordOf('settingsRevision', stored);
    });
  }

  /** Newest first. */
  list(clusterId: number): Promise<readonly SettingsRevision[]> {
    return this.#session.read(async (db) => {
      const rows = matching(db.selectFrom('settingsRevision').selectAll(), { clusterId }).orderBy('number', 'desc');
      return (await rows.execute()).map((row) => recordOf('settingsRevision', row));
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
