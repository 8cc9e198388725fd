import { InputCheck, storable } from '../input.ts';
import type { Session } from '../session.ts';
import type { New, Stored } from '../tables.ts';
import { matching } from './conditions.ts';
import { columnsWithout, newRow, recordOf, replacing } from './conversion.ts';
import { holdSite } from './site-row.ts';

/** A node's machine as it was deployed. */
export type DeployedMachine = Stored<'deployedMachine'>;

/** The deployed state of each node, to compare with MAAS later. */
export class DeployedMachineStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Replaces the record of the node. @throws `not-found` for the site. */
  put(machine: New<'deployedMachine'>): Promise<void> {
    const check = new InputCheck();
    const row = newRow('deployedMachine', check, machine, {});
    check.done();
    return this.#session.write(async (transaction) => {
      await holdSite(transaction, machine.site);
      await transaction
        .insertInto('deployedMachine')
        .values(row)
        .onConflict((on) =>
          on
            .columns(['site', 'node'])
            .doUpdateSet(replacing<'deployedMachine'>(columnsWithout('deployedMachine', 'site', 'node'))),
        )
        .execute();
    });
  }

  async get(site: string, node: string): Promise<DeployedMachine | undefined> {
    const [found] = await this.#select({ site, node });
    return found;
  }

  /** By node name, ascending. */
  list(site: string): Promise<readonly DeployedMachine[]> {
    return this.#select({ site });
  }

  /** After its machine was released. */
  forget(site: string, node: string): Promise<void> {
    return this.#session.write(async (transaction) => {
      await transaction
        .deleteFrom('deployedMachine')
        .where('site', '=', storable(site))
        .where('node', '=', storable(node))
        .execute();
    });
  }

  #select(of: { readonly site: string; readonly node?: string }): Promise<readonly DeployedMachine[]> {
    return this.#session.read(async (db) => {
      const rows = await matching(db.selectFrom('deployedMachine').selectAll(), of).orderBy('node').execute();
      return rows.map((row) => recordOf('deployedMachine', row));
    });
  }
}
