import type { Kysely, Transaction } from 'kysely';
import { conflict } from '../failure.ts';
import { InputCheck } from '../input.ts';
import type { JsonFields, JsonObject } from '../page.ts';
import type { Session } from '../session.ts';
import type { Change, Row, Stored, Tables } from '../tables.ts';
import { matching } from './conditions.ts';
import { changedColumns, recordOf } from './conversion.ts';
import { newGraph } from './default-graph.ts';
import { readTasks, replaceTasks, taskRowsOf } from './graph-tasks.ts';
import { deleteRow, findRow, insertRow, isId, lockRow, readRow, updateRow } from './identified-row.ts';
import { assertOwner, type GraphOwner, holdOwner, ownerColumn, ownerOf, reaching } from './owner-columns.ts';

interface GraphRecord extends Omit<Stored<'graph'>, 'releaseId' | 'pluginId' | 'clusterId'> {
  readonly owner: GraphOwner;
}

export interface StoredGraph extends GraphRecord {
  /** In upload order. */
  readonly tasks: readonly (JsonObject & { readonly id: string })[];
}

/** An absent field is null; in a change it keeps its value. Given tasks replace all tasks. */
export type GraphContent = Change<'graph'> & {
  /** Normalised tasks; duplicate ids are `invalid`, and the message names each. */
  readonly tasks?: readonly (JsonFields & { readonly id: string })[];
};

/** Graphs of any of these owners that have one of the types. Without owners: of all owners. */
export interface GraphFilter {
  readonly ids?: readonly number[];
  readonly clusters?: readonly number[];
  readonly plugins?: readonly number[];
  readonly releases?: readonly number[];
  readonly types?: readonly string[];
}

/** A consistent snapshot of a cluster's layers for one graph type, lowest first. */
interface GraphLayers {
  readonly release: StoredGraph | null;
  /** Of enabled plugins that have a graph of the type, by plugin id. */
  readonly plugins: readonly {
    readonly plugin: { readonly id: number; readonly name: string; readonly version: string };
    readonly graph: StoredGraph;
  }[];
  readonly cluster: StoredGraph | null;
}

const GRAPH_TYPE = /^[A-Za-z0-9_-]+$/;

/**
 * Typed sets of tasks. An owner has at most one graph of a type. A graph has one owner and is deleted with it.
 * Types match `[A-Za-z0-9_-]+`.
 *
 * Every write locks the graph's row, or its owner's row if there is no graph yet.
 */
export class GraphStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** @throws `conflict` when the owner has one; `not-found` for the owner */
  async create(owner: GraphOwner, type: string, content: GraphContent): Promise<StoredGraph> {
    const { graphType, given } = checkedGraph(type, content);
    return this.#session.write(async (transaction) => {
      await holdOwner(transaction, owner);
      if ((await findGraph(transaction, owner, graphType)) !== undefined) {
        const message = `Deployment graph with type "${graphType}" already exist.`;
        throw conflict(message, 'Change that graph instead, or choose another type.');
      }
      return insertGraph(transaction, owner, graphType, given);
    });
  }

  get(id: number): Promise<StoredGraph> {
    return this.#session.read(async (db) => withTasks(db, await readRow(db, 'graph', id)));
  }

  /** Null when the owner has none of this type. @throws `not-found` for the owner. */
  async find(owner: GraphOwner, type: string): Promise<StoredGraph | null> {
    return this.#session.read(async (db) => {
      await assertOwner(db, owner);
      const row = await findGraph(db, owner, type);
      return row === undefined ? null : withTasks(db, row);
    });
  }

  /** By id, ascending. */
  async list(filter: GraphFilter = {}): Promise<readonly StoredGraph[]> {
    return this.#session.read(async (db) => {
      const rows = await listGraphs(db, filter);
      const tasks = await readTasks(
        db,
        rows.map((row) => row.id),
      );
      return rows.map((row) => ({ ...graphOf(row), tasks: tasks.get(row.id) ?? [] }));
    });
  }

  /** The same with task names instead of tasks. */
  async listBrief(
    filter: GraphFilter = {},
  ): Promise<readonly (GraphRecord & { readonly taskNames: readonly string[] })[]> {
    return this.#session.read(async (db) => {
      const rows = await listGraphs(db, filter);
      const names = new Map<number, string[]>(rows.map((row) => [row.id, []]));
      if (rows.length > 0) {
        const tasks = await db
          .selectFrom('graphTask')
          .select(['graphId', 'taskName'])
          .where('graphId', 'in', [...names.keys()])
          .orderBy('graphId')
          .orderBy('position')
          .execute();
        for (const { graphId, taskName } of tasks) names.get(graphId)?.push(taskName);
      }
      return rows.map((row) => ({ ...graphOf(row), taskNames: names.get(row.id) ?? [] }));
    });
  }

  async update(id: number, content: GraphContent): Promise<StoredGraph> {
    const given = checked(content);
    return this.#session.write(async (transaction) => {
      await lockRow(transaction, 'graph', id);
      return changeGraph(transaction, id, given);
    });
  }

  /** Creates the owner's graph or changes it. */
  async put(
    owner: GraphOwner,
    type: string,
    content: GraphContent,
  ): Promise<{ readonly graph: StoredGraph; readonly created: boolean }> {
    const { graphType, given } = checkedGraph(type, content);
    return this.#session.write(async (transaction) => {
      await holdOwner(transaction, owner);
      const present = await findGraph(transaction, owner, graphType);
      if (present === undefined) {
        return { graph: await insertGraph(transaction, owner, graphType, given), created: true };
      }
      return { graph: await changeGraph(transaction, present.id, given), created: false };
    });
  }

  delete(id: number): Promise<void> {
    return this.#session.write(async (transaction) => {
      await lockRow(transaction, 'graph', id);
      await deleteRow(transaction, 'graph', id);
    });
  }

  /** @throws `not-found` for the cluster. */
  layers(clusterId: number, type: string): Promise<GraphLayers> {
    return this.#session.read(async (db) => {
      const { releaseId } = await readRow(db, 'cluster', clusterId);
      const rows = await ofLayers(db, clusterId, releaseId, type);
      const tasks = await readTasks(
        db,
        rows.map((row) => row.id),
      );
      const show = (row: Row<'graph'>): StoredGraph => ({ ...graphOf(row), tasks: tasks.get(row.id) ?? [] });
      const [release, cluster] = [
        rows.find((row) => row.releaseId !== null),
        rows.find((row) => row.clusterId !== null),
      ];
      const ofPlugins = rows.filter((row) => row.pluginId !== null);
      const plugins =
        ofPlugins.length === 0
          ? []
          : await db
              .selectFrom('plugin')
              .select(['id', 'name', 'version'])
              .where(
                'id',
                'in',
                ofPlugins.map((row) => row.pluginId as number),
              )
              .orderBy('id')
              .execute();
      return {
        release: release === undefined ? null : show(release),
        plugins: plugins.map((plugin) => ({
          plugin,
          graph: show(ofPlugins.find((row) => row.pluginId === plugin.id) as Row<'graph'>),
        })),
        cluster: cluster === undefined ? null : show(cluster),
      };
    });
  }

  /** Graph types of all layers of the cluster, sorted. @throws `not-found` for the cluster. */
  typesOf(clusterId: number): Promise<readonly string[]> {
    return this.#session.read(async (db) => {
      const { releaseId } = await readRow(db, 'cluster', clusterId);
      const rows = await ofLayers(db, clusterId, releaseId);
      return [...new Set(rows.map((row) => String(row.type)))].sort();
    });
  }
}

/** Columns set by a content; an undefined field sets nothing. */
interface CheckedContent {
  readonly columns: Partial<Row<'graph'>>;
  readonly tasks: readonly ReturnType<typeof taskRowsOf>[number][] | undefined;
}

function checked(content: GraphContent): CheckedContent {
  const check = new InputCheck();
  const given = checkedContent(check, content);
  check.done();
  return given;
}

/** @throws StoreError of kind `invalid` */
function checkedGraph(type: string, content: GraphContent) {
  const check = new InputCheck();
  const graphType = checkedType(check, type);
  const given = checkedContent(check, content);
  check.done();
  return { graphType, given };
}

const checkedContent = (check: InputCheck, { tasks, ...about }: GraphContent): CheckedContent => ({
  columns: changedColumns('graph', check, about),
  tasks: tasks && taskRowsOf(check, tasks),
});

function checkedType(check: InputCheck, type: string): string {
  if (!GRAPH_TYPE.test(type) || type.length > 250) {
    const hint = 'Use at most 250 letters, digits, hyphens and underscores.';
    check.refuse('type', `type ${JSON.stringify(type)} is not a valid graph type.`, hint);
  }
  return type;
}

async function insertGraph(
  transaction: Transaction<Tables>,
  owner: GraphOwner,
  type: string,
  { columns, tasks }: CheckedContent,
): Promise<StoredGraph> {
  const row = await insertRow(transaction, 'graph', {
    ...newGraph(owner, type),
    ...columns,
  });
  await replaceTasks(transaction, row.id, tasks ?? []);
  return withTasks(transaction, row);
}

/** Lock the graph's row or its owner's first. */
async function changeGraph(
  transaction: Transaction<Tables>,
  id: number,
  { columns, tasks }: CheckedContent,
): Promise<StoredGraph> {
  const updatedAt = new Date().toISOString();
  const row = await updateRow(transaction, 'graph', id, { ...columns, updatedAt });
  if (tasks !== undefined) await replaceTasks(transaction, id, tasks);
  return withTasks(transaction, row);
}

const findGraph = (db: Kysely<Tables>, owner: GraphOwner, type: string): Promise<Row<'graph'> | undefined> =>
  findRow(db, 'graph', { [ownerColumn[owner.kind]]: owner.id, type });

async function listGraphs(db: Kysely<Tables>, filter: GraphFilter): Promise<Row<'graph'>[]> {
  const owners = (
    [
      ['clusterId', filter.clusters],
      ['pluginId', filter.plugins],
      ['releaseId', filter.releases],
    ] as const
  ).filter((entry) => entry[1] !== undefined);
  const given = owners
    .map(([column, wanted]) => [column, (wanted ?? []).filter(isId)] as const)
    .filter(([, wanted]) => wanted.length > 0);
  if (owners.length > 0 && given.length === 0) return [];
  let query = matching(db.selectFrom('graph').selectAll(), { id: filter.ids, type: filter.types });
  if (given.length > 0) query = query.where((eb) => eb.or(given.map(([column, wanted]) => eb(column, 'in', wanted))));
  return query.orderBy('id').execute();
}

/** Graphs of a cluster's layers, of one type or all. */
const ofLayers = (db: Kysely<Tables>, clusterId: number, releaseId: number, type?: string): Promise<Row<'graph'>[]> =>
  matching(db.selectFrom('graph').selectAll(), { type })
    .where(reaching(db, clusterId, releaseId))
    .orderBy('id')
    .execute();

async function withTasks(db: Kysely<Tables>, row: Row<'graph'>): Promise<StoredGraph> {
  return { ...graphOf(row), tasks: (await readTasks(db, [row.id])).get(row.id) ?? [] };
}

const graphOf = ({ releaseId, pluginId, clusterId, ...row }: Row<'graph'>): GraphRecord => ({
  ...recordOf('graph', row),
  owner: ownerOf({ releaseId, pluginId, clusterId }),
});
