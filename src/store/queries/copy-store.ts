import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import { conflict } from '../failure.ts';
import type { Session } from '../session.ts';
import type { TableName, Tables } from '../tables.ts';
import { rowsOfRun } from './transactions.ts';

/** Rows as they are stored, by table. */
export type StoreCopy = Readonly<Partial<Record<TableName, readonly object[]>>>;

/** What a copy is of. */
export interface CopiedSubject {
  readonly site?: string;
  readonly cluster?: number;
  /** Besides the latest and the last good one of the site. */
  readonly revision?: number;
  /** Transaction of an earlier run of graphs that is continued. */
  readonly from?: number;
}

type Where<T extends TableName> = (eb: ExpressionBuilder<Tables, T>) => Expression<SqlBool>;

/** A larger copy is refused: whoever asks for it holds it in memory, twice. */
const MAX_BYTES = 256 * 1024 * 1024;
const ROWS_AT_ONCE = 200;

/** Copies what a run on a site or cluster reads, for a store of its own: of runs, their claims and their history nothing but the run that it continues. */
export class CopyStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** @throws `conflict` when it is too large */
  async of({ site, cluster, revision, from }: CopiedSubject): Promise<StoreCopy> {
    const copy: Partial<Record<TableName, readonly object[]>> = {};
    let bytes = 0;
    const take = async <T extends TableName>(table: T, where: Where<T>): Promise<readonly Row[]> => {
      const rows = await this.#session.read(async (db) => {
        const query = db
          .selectFrom(table as never)
          .selectAll()
          .where(where as never);
        return (await query.execute()) as readonly Row[];
      });
      bytes += rows.reduce((sum, row) => sum + sizeOf(row), 0);
      if (bytes > MAX_BYTES)
        throw conflict(
          `A copy for a rehearsal would have more than ${MAX_BYTES / 1024 / 1024} MiB.`,
          'Rehearse graphs of a smaller cluster.',
        );
      copy[table] = rows;
      return rows;
    };
    if (site !== undefined) {
      const [row] = await take('site', (eb) => eb('name', '=', site));
      const known = [row?.latestRevision, row?.lastGoodRevision, revision].filter((one) => typeof one === 'number');
      const numbers = [0, ...known];
      await take('revision', (eb) => eb.and([eb('site', '=', site), eb('number', 'in', numbers)]));
      await take('revisionDeployment', (eb) => eb.and([eb('site', '=', site), eb('revision', 'in', numbers)]));
      await take('deployedMachine', (eb) => eb('site', '=', site));
      await take('givenTags', (eb) => eb('site', '=', site));
      await take('nodeFact', (eb) => eb('site', '=', site));
      await take('nodeMaintenance', (eb) => eb('site', '=', site));
    }
    await this.#inventory(take, site, cluster);
    if (from !== undefined) {
      const rows = await this.#session.read((db) => rowsOfRun(db, from));
      const own = rows.filter(({ clusterId }) => clusterId === cluster);
      // As it ended: its record stays behind.
      copy.deploymentTransaction = own;
      await take('taskHistory', (eb) => eb('transactionId', 'in', [0, ...own.map(({ id }) => id)]));
    }
    return copy;
  }

  async #inventory(
    take: <T extends TableName>(table: T, where: Where<T>) => Promise<readonly Row[]>,
    site: string | undefined,
    cluster: number | undefined,
  ): Promise<void> {
    if (cluster === undefined) {
      if (site !== undefined) await take('node', (eb) => eb.and([eb('site', '=', site), eb('clusterId', 'is', null)]));
      return;
    }
    const [row] = await take('cluster', (eb) => eb('id', '=', cluster));
    const releases = [row?.releaseId, row?.pendingReleaseId].filter((id) => typeof id === 'number');
    await take('release', (eb) => eb('id', 'in', releases));
    const enabled = await take('clusterPlugin', (eb) => eb('clusterId', '=', cluster));
    const plugins = [0, ...enabled.map(({ pluginId }) => pluginId as number)];
    const made = await take('plugin', (eb) => eb('id', 'in', plugins));
    const packages = await this.#session.read((db) =>
      db.selectFrom('release').select('packageId').where('id', 'in', releases).execute(),
    );
    const ids = [0, ...[...packages, ...made].flatMap(({ packageId }) => (packageId as number | null) ?? [])];
    await take('package', (eb) => eb('id', 'in', ids));
    const ofAny = (eb: ExpressionBuilder<Tables, 'graph' | 'tag'>) =>
      eb.or([eb('releaseId', 'in', releases), eb('pluginId', 'in', plugins), eb('clusterId', '=', cluster)]);
    const graphs = await take('graph', ofAny as Where<'graph'>);
    await take('graphTask', (eb) => eb('graphId', 'in', [0, ...graphs.map(({ id }) => id as number)]));
    await take('graphSequence', (eb) => eb('releaseId', 'in', releases));
    await take('tag', ofAny as Where<'tag'>);
    await take('settingsRevision', (eb) => eb('clusterId', '=', cluster));
    const nodes = await take('node', (eb) =>
      eb.or([
        eb('clusterId', '=', cluster),
        ...(site === undefined ? [] : [eb.and([eb('site', '=', site), eb('clusterId', 'is', null)])]),
      ]),
    );
    if (site === undefined) {
      const sites = [...new Set(nodes.flatMap((node) => (node.site as string | null) ?? []))];
      await take('nodeMaintenance', (eb) => eb('site', 'in', ['', ...sites]));
    }
    await take('clusterPrimary', (eb) => eb('clusterId', '=', cluster));
    await take('tagNodeAssignment', (eb) => eb('clusterId', '=', cluster));
    const states = await take('taskState', (eb) => eb('clusterId', '=', cluster));
    const contents = [...new Set(states.map(({ content }) => content as string))];
    await take('content', (eb) => eb('hash', 'in', ['', ...contents]));
  }

  /** Puts the rows of a copy into a store that has none. */
  fill(copy: StoreCopy): Promise<void> {
    return this.#session.write(async (transaction) => {
      for (const table of IN_ORDER) {
        const rows = (copy[table] ?? []) as readonly Row[];
        for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
          await transaction
            .insertInto(table as never)
            .values(rows.slice(at, at + ROWS_AT_ONCE) as never)
            .execute();
      }
    });
  }
}

type Row = Readonly<Record<string, unknown>>;

/** The tables of a copy: each comes after those that its rows refer to. */
const IN_ORDER = [
  ...['package', 'release', 'plugin', 'content', 'site', 'cluster', 'node', 'graph', 'revision'],
  ...['revisionDeployment', 'deployedMachine', 'givenTags', 'nodeFact', 'nodeMaintenance', 'clusterPlugin'],
  ...['settingsRevision', 'graphTask', 'graphSequence', 'tag', 'tagNodeAssignment', 'clusterPrimary', 'taskState'],
  ...['deploymentTransaction', 'taskHistory'],
] as readonly TableName[];

const sizeOf = (row: Row): number =>
  Object.values(row).reduce<number>(
    (sum, value) =>
      sum + (typeof value === 'string' ? value.length : value instanceof Uint8Array ? value.byteLength : 8),
    0,
  );
