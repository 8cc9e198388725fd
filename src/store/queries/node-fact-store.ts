import { InputCheck } from '../input.ts';
import type { NodeFact, NodeFactStore, NodeSighting } from '../ports/node-fact-store.ts';
import type { Session } from '../session.ts';
import type { Row } from '../tables.ts';
import { inBatches } from './batches.ts';
import { columnsWithout, newRow, recordOf, replacing } from './conversion.ts';
import { holdSite, readSite } from './site-row.ts';

/** NodeFactStore on either database. */
export class SqlNodeFactStore implements NodeFactStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async put(site: string, sightings: readonly NodeSighting[]): Promise<void> {
    const rows = newestOfEach(checkedRows(site, sightings));
    return this.#session.write(async (transaction) => {
      await holdSite(transaction, site);
      for (const batch of inBatches(rows)) {
        await transaction
          .insertInto('nodeFact')
          .values(batch)
          .onConflict((on) =>
            on
              .columns(['site', 'node'])
              .doUpdateSet(replacing<'nodeFact'>(columnsWithout('nodeFact', 'site', 'node')))
              .whereRef('excluded.seenAt', '>=', 'nodeFact.seenAt'),
          )
          .execute();
      }
    });
  }

  list(site: string): Promise<readonly NodeFact[]> {
    return this.#session.read(async (db) => {
      await readSite(db, site);
      const rows = await db.selectFrom('nodeFact').selectAll().where('site', '=', site).orderBy('node').execute();
      return rows.map((row) => recordOf('nodeFact', row));
    });
  }
}

function checkedRows(site: string, sightings: readonly NodeSighting[]): Row<'nodeFact'>[] {
  const check = new InputCheck();
  const rows = sightings.map((seen, index) => newRow('nodeFact', check, { ...seen, site }, {}, `sightings[${index}].`));
  check.done();
  return rows;
}

/** PostgreSQL refuses a statement that changes a row twice. */
function newestOfEach(rows: readonly Row<'nodeFact'>[]): Row<'nodeFact'>[] {
  const newest = new Map<string, Row<'nodeFact'>>();
  for (const row of rows) {
    const other = newest.get(row.node);
    if (other === undefined || row.seenAt >= other.seenAt) newest.set(row.node, row);
  }
  return [...newest.values()];
}
