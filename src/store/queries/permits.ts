import { InputCheck, storable } from '../input.ts';
import type { Session } from '../session.ts';
import type { New, Stored } from '../tables.ts';
import { inBatches } from './batches.ts';
import { newRow, recordOf, replacing } from './conversion.ts';

/** A machine that a run may touch, waits for, or has left broken. */
export type PermitRow = Stored<'permit'>;

/**
 * Permits of runs. They hold while their run has a claim, so that those of a dead run are gone with it. What they mean, and who gets
 * one, is decided by src/runs/permits.ts within a transaction that has the `turn`.
 */
export class PermitStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Waits until no other transaction decides about permits. */
  turn(): Promise<void> {
    return this.#session.write(async (transaction) => {
      await transaction
        .insertInto('permitTurn')
        .values({ id: 'all', turn: 1 })
        .onConflict((on) => on.column('id').doUpdateSet((row) => ({ turn: row('permitTurn.turn', '+', 1) })))
        .execute();
    });
  }

  /** Of all sites: those of runs with a claim, and the machines that any run has left broken. */
  list(): Promise<readonly PermitRow[]> {
    return this.#session.read(async (db) => {
      const rows = await db
        .selectFrom('permit')
        .selectAll()
        .where((eb) =>
          eb.or([
            eb('state', '=', 'failed'),
            eb('runId', 'in', eb.selectFrom('siteClaim').select('runId')),
            eb('runId', 'in', eb.selectFrom('clusterClaim').select('runId')),
          ]),
        )
        .orderBy('site')
        .orderBy('since')
        .orderBy('machine')
        .execute();
      return rows.map((row) => recordOf('permit', row));
    });
  }

  /** Adds them, or replaces those of the same machine and run. */
  put(permits: readonly New<'permit'>[]): Promise<void> {
    const check = new InputCheck();
    const rows = permits.map((permit, index) => newRow('permit', check, permit, {}, `permits[${index}].`));
    check.done();
    return this.#session.write(async (transaction) => {
      for (const batch of inBatches(rows))
        await transaction
          .insertInto('permit')
          .values(batch)
          .onConflict((on) =>
            on
              .columns(['site', 'machine', 'runId'])
              .doUpdateSet(replacing<'permit'>(['work', 'state', 'counted', 'since', 'askedAt'])),
          )
          .execute();
    });
  }

  /** A run has no business with these machines of a site any more. One that it has left broken stays that, until it is `repaired`. */
  remove(site: string, run: string, machines: readonly string[]): Promise<void> {
    return this.#session.write(async (transaction) => {
      for (const batch of inBatches(machines.map(storable)))
        await transaction
          .deleteFrom('permit')
          .where('site', '=', storable(site))
          .where('runId', '=', storable(run))
          .where('machine', 'in', batch)
          .where('state', '!=', 'failed')
          .execute();
    });
  }

  /** A run has succeeded on these machines of a site. */
  repaired(site: string, machines: readonly string[]): Promise<void> {
    return this.#session.write(async (transaction) => {
      for (const batch of inBatches(machines.map(storable)))
        await transaction
          .deleteFrom('permit')
          .where('site', '=', storable(site))
          .where('state', '=', 'failed')
          .where('machine', 'in', batch)
          .execute();
    });
  }

  /** Whether a run, which has a claim, may touch a machine of a site. */
  async holds(site: string, run: string, machine: string): Promise<boolean> {
    const row = await this.#session.read((db) =>
      db
        .selectFrom('permit')
        .select('runId')
        .where('site', '=', storable(site))
        .where('machine', '=', storable(machine))
        .where('runId', '=', storable(run))
        .where('state', '=', 'held')
        .executeTakeFirst(),
    );
    return row !== undefined;
  }

  /** A run waits for no machine any more: of a site, or of any. */
  waitsNoMore(run: string, site?: string): Promise<void> {
    return this.#session.write(async (transaction) => {
      const of = transaction.deleteFrom('permit').where('runId', '=', storable(run)).where('state', '=', 'waiting');
      await (site === undefined ? of : of.where('site', '=', storable(site))).execute();
    });
  }

  /** Removes what runs without a claim have left. */
  forgetDead(): Promise<void> {
    return this.#session.write(async (transaction) => {
      await transaction
        .deleteFrom('permit')
        .where('state', '!=', 'failed')
        .where((eb) =>
          eb.and([
            eb('runId', 'not in', eb.selectFrom('siteClaim').select('runId')),
            eb('runId', 'not in', eb.selectFrom('clusterClaim').select('runId')),
          ]),
        )
        .execute();
    });
  }
}
