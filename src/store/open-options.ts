import type { Migration } from './migrations/migration.ts';
import type { StoreCall } from './session.ts';

export interface OpenStoreOptions {
  /**
   * Handling of an outdated schema:
   * - `apply`: migrate it. The default for SQLite, which no other release shares.
   * - `apply-non-breaking`: the same, unless running processes of an older release would break; then like `require`.
   *   The default for PostgreSQL. An empty database is always migrated.
   * - `require`: fail as `schema-behind`. The default with `readOnly`.
   * - `ignore`: open it anyway, for `status()` and `migrate()`.
   */
  readonly migrations?: 'apply' | 'apply-non-breaking' | 'require' | 'ignore';
  /** Every change fails as `read-only`; a missing database is not created. */
  readonly readOnly?: boolean;
  /** SQLite: read every page first, and refuse a damaged database. For what runs long: it takes two seconds for each gigabyte. */
  readonly verify?: boolean;
  /**
   * SQLite: the crashes that a committed change survives. `process` (default): a crash of any process. `power`: a crash of the
   * machine too, at the cost of one disk flush per change. PostgreSQL follows its server's settings.
   */
  readonly durability?: 'process' | 'power';
  /** PostgreSQL: maximum number of connections; default 10. */
  readonly connections?: number;
  /** Called after each call. */
  readonly onCall?: (call: StoreCall) => void;
  /** Replaces the program's migrations, for tests of the migrator. */
  readonly knownMigrations?: readonly Migration[];
}
