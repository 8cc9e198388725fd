import type { Kysely } from 'kysely';
import { StoreError } from '../failure.ts';
import type { Session } from '../session.ts';
import type { MigrationInfo, StoreStatus } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { initial } from './0001-initial.ts';
import type { Migration } from './migration.ts';

/** All migrations, oldest first; the number of each is its place, from 1. */
export const migrations: readonly Migration[] = [initial];

/** Migrates a database to this program's schema, and reports its status. */
export class Migrator {
  readonly #session: Session;
  readonly #known: readonly Migration[];

  constructor(session: Session, known: readonly Migration[]) {
    this.#session = session;
    this.#known = known;
  }

  async status(): Promise<StoreStatus> {
    const { backend } = this.#session;
    const rows = await this.#session.read(async (db) =>
      (await backend.hasTable(db, 'sitewright_migration')) ? appliedMigrations(db) : [],
    );
    return {
      dialect: backend.name,
      location: backend.location,
      schemaVersion: rows.at(-1)?.version ?? 0,
      knownVersion: this.#known.length,
      applied: rows.map((row) => ({
        version: row.version,
        name: row.name,
        breaking: row.breaking !== 0,
        appliedAt: row.appliedAt,
      })),
      pending: this.#known.slice(rows.length).map(infoOf),
    };
  }

  /**
   * Applies missing migrations in one transaction. A process that finds another one migrating waits, sees its rows, and
   * does nothing. Each version's row is written before its change, so that even without the lock only one process could
   * pass.
   *
   * @param spareRunning as of `Store.migrate`
   */
  async migrate(spareRunning = false): Promise<readonly MigrationInfo[]> {
    const { schemaVersion, pending: missing } = await this.#checked();
    if (missing.length === 0) return [];
    if (spareRunning && schemaVersion > 0 && missing.some(({ breaking }) => breaking)) await this.assertCurrent();
    const { backend } = this.#session;
    return this.#session.write(async (transaction) => {
      await backend.lockForMigration(transaction);
      const { text, integer } = backend.columnTypes;
      await transaction.schema
        .createTable('sitewright_migration')
        .ifNotExists()
        .addColumn('version', integer, (column) => column.primaryKey())
        .addColumn('name', text, (column) => column.notNull())
        .addColumn('breaking', integer, (column) => column.notNull())
        .addColumn('applied_at', text, (column) => column.notNull())
        .execute();
      const rows = await appliedMigrations(transaction);
      this.#assertKnown(rows);
      const pending = this.#known.slice(rows.length);
      for (const migration of pending) {
        await transaction
          .insertInto('sitewrightMigration')
          .values({
            version: migration.version,
            name: migration.name,
            breaking: migration.breaking ? 1 : 0,
            appliedAt: new Date().toISOString(),
          })
          .execute();
        await migration.up(transaction.withoutPlugins() as unknown as Kysely<unknown>, backend.columnTypes);
      }
      return pending.map(infoOf);
    });
  }

  /** @throws StoreError unless the schema is this program's, or one that a later release added to */
  async assertCurrent(): Promise<void> {
    const status = await this.#checked();
    if (status.pending.length === 0) return;
    const breaking = status.pending.some((migration) => migration.breaking);
    throw new StoreError({
      kind: 'schema-behind',
      found: status.schemaVersion,
      known: status.knownVersion,
      message: `The database ${status.location} has schema version ${status.schemaVersion}; this program needs ${status.knownVersion}.`,
      hint: breaking
        ? 'Stop every Sitewright process that uses it (a pending migration is breaking), then run: sitewright db migrate'
        : 'Run: sitewright db migrate (running processes may stay)',
    });
  }

  async #checked(): Promise<StoreStatus> {
    const status = await this.status();
    this.#assertKnown(status.applied);
    return status;
  }

  /** A later release may run next to this one: its additions that break nothing are fine. */
  #assertKnown(rows: readonly (Pick<Row<'sitewrightMigration'>, 'version' | 'name'> & { breaking: unknown })[]): void {
    const { location, replacing } = this.#session.backend;
    const found = rows.at(-1)?.version ?? 0;
    const known = this.#known.length;
    const strange = rows
      .slice(0, known)
      .find((row, index) => row.version !== index + 1 || row.name !== this.#known[index]?.name);
    if (strange !== undefined) {
      throw new StoreError({
        kind: 'schema-foreign',
        message: `No release of Sitewright made the database ${location}: none has a migration ${strange.version} "${strange.name}".`,
        hint: `Check store.url. If it is right, a build from before the first release made this database, and it cannot be converted. ${replacing}`,
      });
    }
    if (rows.slice(known).some(({ breaking }) => Boolean(breaking))) {
      throw new StoreError({
        kind: 'schema-too-new',
        found,
        known,
        message: `The database ${location} has schema version ${found}; this program knows versions up to ${known}.`,
        hint: 'Update this program to the release that wrote it. To go back instead, restore a backup made before.',
      });
    }
  }
}

const infoOf = ({ version, name, breaking }: MigrationInfo): MigrationInfo => ({ version, name, breaking });

const appliedMigrations = (db: Kysely<Tables>): Promise<Row<'sitewrightMigration'>[]> =>
  db.selectFrom('sitewrightMigration').selectAll().orderBy('version').execute();
