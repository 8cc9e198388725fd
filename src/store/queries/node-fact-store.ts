import { InputCheck, storable } from '../input.js';
import type { NodeFact, NodeFactStore, NodeSighting } from '../ports/node-fact-store.js';
import type { Session } from '../session.js';
import type { NodeFactRow } from '../tables.js';
import { inBatches } from './batches.js';
import { holdSite, readSite } from './site-row.js';

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
              .doUpdateSet((eb) => ({
                systemId: eb.ref('excluded.systemId'),
                hostname: eb.ref('excluded.hostname'),
                status: eb.ref('excluded.status'),
                power: eb.ref('excluded.power'),
                tags: eb.ref('excluded.tags'),
                zone: eb.ref('excluded.zone'),
                seenAt: eb.ref('excluded.seenAt'),
              }))
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
      return rows.map((row) => ({ ...row, tags: JSON.parse(row.tags) as string[] }));
    });
  }

  forget(site: string, nodes: readonly string[]): Promise<number> {
    return this.#session.write(async (transaction) => {
      await holdSite(transaction, site);
      let count = 0n;
      for (const batch of inBatches(nodes.map(storable))) {
        const { numDeletedRows } = await transaction
          .deleteFrom('nodeFact')
          .where('site', '=', site)
          .where('node', 'in', batch)
          .executeTakeFirstOrThrow();
        count += numDeletedRows;
      }
      return Number(count);
    });
  }
}

function checkedRows(site: string, sightings: readonly NodeSighting[]): NodeFactRow[] {
  const check = new InputCheck();
  const text = (value: string | undefined): string | null => (value === undefined ? null : storable(value));
  const rows = sightings.map((seen, index) => ({
    site,
    node: check.key(`sightings[${index}].node`, seen.node),
    systemId: text(seen.systemId),
    hostname: text(seen.hostname),
    status: text(seen.status),
    power: text(seen.power),
    tags: JSON.stringify(seen.tags ?? []),
    zone: text(seen.zone),
    seenAt: check.time(`sightings[${index}].seenAt`, seen.seenAt),
  }));
  check.done();
  return rows;
}

/** PostgreSQL refuses one statement that changes a row twice. */
function newestOfEach(rows: readonly NodeFactRow[]): NodeFactRow[] {
  const newest = new Map<string, NodeFactRow>();
  for (const row of rows) {
    const other = newest.get(row.node);
    if (other === undefined || row.seenAt >= other.seenAt) newest.set(row.node, row);
  }
  return [...newest.values()];
}
