import { InputCheck } from '../input.ts';
import type { Session } from '../session.ts';
import type { New, Row, Stored } from '../tables.ts';
import { inBatches } from './batches.ts';
import { columnsWithout, newRow, recordOf, replacing } from './conversion.ts';
import { holdSite, readSite } from './site-row.ts';

/** The last facts from MAAS about a node. */
type NodeFact = Stored<'nodeFact'>;

/** A node as MAAS shows it now. An absent field is unknown to MAAS and becomes null. */
type NodeSighting = Omit<New<'nodeFact'>, 'site'>;

/** Last known facts, to show the state of nodes, marked as old, while MAAS is unreachable. */
export class NodeFactStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Stores sightings, all or none. An older sighting never replaces a newer one. @throws `not-found` for the site. */
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

  /** By node name, ascending; empty for a site without sightings. */
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
