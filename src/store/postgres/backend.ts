import { PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { Backend } from '../backend.ts';
import type { OpenStoreOptions } from '../open-options.ts';
import { classifyPostgresError } from './errors.ts';

const CONNECT_LIMIT = 10_000;
const STATEMENT_LIMIT = 60_000;
const LOCK_LIMIT = 10_000;
const PATIENCE = 30_000;

/** An arbitrary fixed number: all Sitewright processes lock it while they migrate. */
const MIGRATION_LOCK = 7_741_902_211;

/** PostgreSQL's type number of `bigint`, also of `count(*)`. Our values fit a JavaScript number. */
const INT8 = 20;

interface PostgresAddress {
  readonly url: string;
  readonly shown: string;
  readonly secrets: readonly string[];
}

/** Creates a connection pool; the first query opens the first connection. */
export function openPostgres(address: PostgresAddress, options: OpenStoreOptions): Backend {
  const pool = new pg.Pool({
    connectionString: address.url,
    application_name: 'sitewright',
    max: options.connections ?? 10,
    connectionTimeoutMillis: CONNECT_LIMIT,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    statement_timeout: STATEMENT_LIMIT,
    lock_timeout: LOCK_LIMIT,
    idle_in_transaction_session_timeout: STATEMENT_LIMIT,
    // A dead server must not block a caller for ever. The limit leaves time for migrations, the longest queries.
    query_timeout: 15 * STATEMENT_LIMIT,
    ...(options.readOnly === true && { options: '-c default_transaction_read_only=on' }),
    types: {
      getTypeParser: (type: number, format?: 'text' | 'binary') =>
        type === INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(type, format as 'text'),
    } as pg.CustomTypesConfig,
  });
  // Without listeners, a broken connection would crash the process. The pool reports idle connections, which it drops;
  // the client reports busy ones, whose query fails with the same error.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));

  return {
    name: 'postgres',
    location: address.shown,
    replacing: 'Create an empty database (createdb sitewright2) and name it in store.url.',
    dialect: new PostgresDialect({ pool }),
    columnTypes: {
      text: sql`text collate "C"`,
      integer: sql`bigint`,
      bytes: sql`bytea`,
      serial: sql`bigint generated always as identity primary key`,
    },
    patience: PATIENCE,
    usualMigrations: 'apply-non-breaking',
    classify: (error) => classifyPostgresError(error, address),
    // Its server reports a full disk with the change that does not fit.
    checkPlace: async () => {},
    async hasTable(db, name) {
      const found = await sql`select 1 where to_regclass(${name}) is not null`.execute(db);
      return found.rows.length > 0;
    },
    async lockForMigration(transaction) {
      await sql`set local statement_timeout = 0`.execute(transaction);
      await sql`set local lock_timeout = '10min'`.execute(transaction);
      await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(transaction);
    },
  };
}
