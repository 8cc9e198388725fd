import { InputCheck, storable } from '../input.ts';
import type { Session } from '../session.ts';
import { inBatches } from './batches.ts';
import { newRow, recordOf, replacing } from './conversion.ts';
import { holdSite } from './site-row.ts';

/** The tags that runs of a site put on its machines, by the ids that machines have in MAAS. A person's tags are not among them. */
export class GivenTagsStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Replaces those of these machines; none forgets a machine. @throws `not-found` for the site. */
  put(site: string, machines: ReadonlyMap<string, readonly string[]>): Promise<void> {
    const check = new InputCheck();
    const rows = [...machines].map(([systemId, tags]) => newRow('givenTags', check, { site, systemId, tags }, {}));
    check.done();
    return this.#session.write(async (transaction) => {
      await holdSite(transaction, site);
      for (const batch of inBatches(rows))
        await transaction
          .insertInto('givenTags')
          .values(batch)
          .onConflict((on) => on.columns(['site', 'systemId']).doUpdateSet(replacing<'givenTags'>(['tags'])))
          .execute();
      await transaction.deleteFrom('givenTags').where('site', '=', site).where('tags', '=', '[]').execute();
    });
  }

  async get(site: string, systemId: string): Promise<readonly string[]> {
    const [row] = await this.#session.read((db) =>
      db
        .selectFrom('givenTags')
        .selectAll()
        .where('site', '=', storable(site))
        .where('systemId', '=', storable(systemId))
        .execute(),
    );
    return row === undefined ? [] : recordOf('givenTags', row).tags;
  }

  /** By machine. */
  async list(site: string): Promise<ReadonlyMap<string, readonly string[]>> {
    const rows = await this.#session.read((db) =>
      db.selectFrom('givenTags').selectAll().where('site', '=', storable(site)).execute(),
    );
    return new Map(rows.map((row) => [row.systemId, recordOf('givenTags', row).tags]));
  }

  /** After the machine was released. */
  forget(site: string, systemId: string): Promise<void> {
    return this.#session.write(async (transaction) => {
      await transaction
        .deleteFrom('givenTags')
        .where('site', '=', storable(site))
        .where('systemId', '=', storable(systemId))
        .execute();
    });
  }
}
