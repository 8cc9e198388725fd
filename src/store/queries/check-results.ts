import { sql, type Transaction } from 'kysely';
import { monotonicFactory } from 'ulid';
import type { CheckVerdict } from '../../core/checks/judge.ts';
import { InputCheck, storable } from '../input.ts';
import type { Session } from '../session.ts';
import type { New, Stored, Tables } from '../tables.ts';
import { inBatches } from './batches.ts';
import { matching } from './conditions.ts';
import { newRow, recordOf } from './conversion.ts';
import { holdSite, readSite } from './site-row.ts';

/** What came of a check, for one node or asked once. */
export type CheckResult = Stored<'checkResult'>;
export type NewCheckResult = New<'checkResult'>;

export interface CheckResultFilter {
  readonly name?: string | undefined;
  readonly node?: string | undefined;
  readonly runId?: string | undefined;
  /** Only the newest of each check and node that the documents still have. */
  readonly newest?: boolean | undefined;
  readonly limit?: number | undefined;
}

/** What the documents have. */
interface Known {
  readonly checks: readonly string[];
  readonly nodes: readonly string[];
}

/** Results kept of each check and node. */
const KEPT = 20;

/** Ordered by time, also within a millisecond. */
const nextId = monotonicFactory();

/** Results of checks: the newest of each check and node, and some before them. */
export class CheckResultStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Adds results of one check, and forgets the oldest of each node when there are too many.
   *
   * @param known what the documents have: results of anything else are history
   * @throws `not-found` for the site
   */
  async add(site: string, name: string, results: readonly Omit<NewCheckResult, 'name'>[], known: Known): Promise<void> {
    const now = Math.floor(Date.now());
    const check = new InputCheck();
    const rows = results.map((result, index) =>
      newRow('checkResult', check, { ...result, name }, { id: nextId(now), site, newest: true }, `results[${index}].`),
    );
    check.done();
    return this.#session.write(async (transaction) => {
      await holdSite(transaction, site);
      for (const batch of inBatches(rows)) {
        const nodes = batch.map(({ node }) => node);
        const earlier = transaction.updateTable('checkResult').set({ newest: 0 }).where('newest', '=', 1);
        await earlier.where('site', '=', site).where('name', '=', storable(name)).where('node', 'in', nodes).execute();
        await transaction.insertInto('checkResult').values(batch).execute();
        await forgetOldest(transaction, site, storable(name), nodes);
      }
      await retire(transaction, site, known);
    });
  }

  /** Newest first. @throws `not-found` for the site */
  list(site: string, { limit, ...filter }: CheckResultFilter = {}): Promise<readonly CheckResult[]> {
    return this.#session.read(async (db) => {
      await readSite(db, site);
      const found = matching(db.selectFrom('checkResult').selectAll(), {
        ...filter,
        newest: filter.newest || undefined,
        site,
      });
      const ordered = found.orderBy('id', 'desc');
      const rows = await (limit === undefined ? ordered : ordered.limit(limit)).execute();
      return rows.map((row) => recordOf('checkResult', row));
    });
  }

  /** Of all sites: how many nodes have which verdict now, and the longest time that one of them took, in milliseconds. */
  count(): Promise<
    readonly {
      readonly name: string;
      readonly verdict: CheckVerdict;
      readonly nodes: number;
      readonly longest: number;
    }[]
  > {
    return this.#session.read(async (db) => {
      const rows = await db
        .selectFrom('checkResult')
        .select(['name', 'verdict'])
        .select(({ fn }) => [fn.countAll().as('nodes'), fn.max('ms').as('longest')])
        .where('newest', '=', 1)
        .groupBy(['name', 'verdict'])
        .orderBy('name')
        .orderBy('verdict')
        .execute();
      return rows.map((row) => ({ ...row, nodes: Number(row.nodes), longest: Number(row.longest) }));
    });
  }
}

async function forgetOldest(
  transaction: Transaction<Tables>,
  site: string,
  name: string,
  nodes: readonly string[],
): Promise<void> {
  const ranked = transaction
    .selectFrom('checkResult')
    .select('id')
    .select(sql<number>`row_number() over (partition by node order by id desc)`.as('rank'))
    .where('site', '=', site)
    .where('name', '=', name)
    .where('node', 'in', nodes)
    .as('ranked');
  await transaction
    .deleteFrom('checkResult')
    .where('id', 'in', (eb) => eb.selectFrom(ranked).select('ranked.id').where('ranked.rank', '>', KEPT))
    .execute();
}

/** What the documents no longer have is no state of now. */
async function retire(transaction: Transaction<Tables>, site: string, { checks, nodes }: Known): Promise<void> {
  const now = await matching(transaction.selectFrom('checkResult').select(['id', 'name', 'node']), {
    site,
    newest: true,
  }).execute();
  const [hasCheck, hasNode] = [new Set(checks), new Set(['', ...nodes])];
  const gone = now.filter(({ name, node }) => !hasCheck.has(name) || !hasNode.has(node)).map(({ id }) => id);
  for (const batch of inBatches(gone))
    await transaction.updateTable('checkResult').set({ newest: 0 }).where('id', 'in', batch).execute();
}
