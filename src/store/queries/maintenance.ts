import type { Transaction } from 'kysely';
import { InputCheck } from '../input.ts';
import type { Session } from '../session.ts';
import type { New, Stored, Tables } from '../tables.ts';
import { matching } from './conditions.ts';
import { newRow, recordOf } from './conversion.ts';

/** A node in maintenance. */
export type Maintenance = Stored<'nodeMaintenance'>;

/** How a node in maintenance is named: see the table's columns. */
type MaintenanceKey = Pick<Maintenance, 'site' | 'node'>;

/** The nodes that are in maintenance now. What was is in the audit trail. */
export class NodeMaintenanceStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Of one site, or of all; by site and node. */
  list(site?: string): Promise<readonly Maintenance[]> {
    return this.#session.read(async (db) => {
      const rows = await matching(db.selectFrom('nodeMaintenance').selectAll(), { site })
        .orderBy('site')
        .orderBy('node')
        .execute();
      return rows.map((row) => recordOf('nodeMaintenance', row));
    });
  }

  /** A node that is in maintenance already keeps what was said of it first: that is returned. */
  begin(maintenance: New<'nodeMaintenance'>): Promise<Maintenance> {
    const check = new InputCheck();
    const row = newRow('nodeMaintenance', check, maintenance, {});
    check.done();
    return this.#session.write(async (transaction) => {
      await transaction
        .insertInto('nodeMaintenance')
        .values(row)
        .onConflict((on) => on.columns(['site', 'node']).doNothing())
        .execute();
      const { site, node } = row;
      const stored = matching(transaction.selectFrom('nodeMaintenance').selectAll(), { site, node });
      return recordOf('nodeMaintenance', await stored.executeTakeFirstOrThrow());
    });
  }

  /** Records which machine in MAAS this maintenance has locked. */
  locked({ site, node }: MaintenanceKey, lockedMachine: string): Promise<void> {
    return this.#session.write(async (transaction) => {
      await transaction
        .updateTable('nodeMaintenance')
        .set({ lockedMachine })
        .where('site', '=', site)
        .where('node', '=', node)
        .execute();
    });
  }

  /** What has ended; undefined if the node was not in maintenance. */
  end(key: MaintenanceKey): Promise<Maintenance | undefined> {
    return this.#session.write(async (transaction) => {
      const stored = matching(transaction.selectFrom('nodeMaintenance').selectAll(), {
        site: key.site,
        node: key.node,
      });
      const row = await stored.executeTakeFirst();
      await endMaintenance(transaction, key);
      return row && recordOf('nodeMaintenance', row);
    });
  }
}

/** Ends the maintenance of a node, or of all nodes of a site. */
export async function endMaintenance(
  transaction: Transaction<Tables>,
  { site, node }: { readonly site: string; readonly node?: string },
): Promise<void> {
  const of = transaction.deleteFrom('nodeMaintenance').where('site', '=', site);
  await (node === undefined ? of : of.where('node', '=', node)).execute();
}
