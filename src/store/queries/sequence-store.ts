import type { Kysely } from 'kysely';
import { conflict } from '../failure.js';
import { InputCheck, storable } from '../input.js';
import type { JsonFields, JsonObject } from '../ports/page.js';
import type { SequenceRecord, SequenceStore } from '../ports/sequence-store.js';
import type { Session } from '../session.js';
import type { GraphSequenceRow } from '../tables/graph-rows.js';
import type { Tables } from '../tables.js';
import { deleteRow, holdRow, isId, readRow } from './identified-row.js';

/** SequenceStore on either database. Names are given out while the release's row is held. */
export class SqlSequenceStore implements SequenceStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async create(sequence: {
    readonly name: string;
    readonly releaseId: number;
    readonly graphs: readonly JsonFields[];
  }): Promise<SequenceRecord> {
    const check = new InputCheck();
    const { releaseId } = sequence;
    const name = check.key('name', sequence.name);
    const graphs = checkedGraphs(check, sequence.graphs);
    check.done();
    return this.#session.write(async (transaction) => {
      await holdRow(transaction, 'release', releaseId);
      await assertFree(transaction, releaseId, name);
      const row = await transaction
        .insertInto('graphSequence')
        .values({ name, releaseId, graphs })
        .returningAll()
        .executeTakeFirstOrThrow();
      return sequenceOf(row);
    });
  }

  get(id: number): Promise<SequenceRecord> {
    return this.#session.read(async (db) => sequenceOf(await readRow(db, 'graphSequence', id)));
  }

  async find(releaseId: number, name: string): Promise<SequenceRecord | null> {
    if (!isId(releaseId)) return null;
    return this.#session.read(async (db) => {
      const row = await findSequence(db, releaseId, storable(name));
      return row === undefined ? null : sequenceOf(row);
    });
  }

  async list(filter: { readonly releaseId?: number; readonly clusterId?: number } = {}) {
    const { releaseId, clusterId } = filter;
    if ([releaseId, clusterId].some((id) => id !== undefined && !isId(id))) return [];
    return this.#session.read(async (db) => {
      let query = db.selectFrom('graphSequence').selectAll();
      if (releaseId !== undefined) query = query.where('releaseId', '=', releaseId);
      if (clusterId !== undefined) {
        query = query.where('releaseId', '=', (eb) =>
          eb.selectFrom('cluster').select('cluster.releaseId').where('cluster.id', '=', clusterId),
        );
      }
      return (await query.orderBy('id').execute()).map(sequenceOf);
    });
  }

  async update(id: number, change: { readonly name?: string; readonly graphs?: readonly JsonFields[] }) {
    const check = new InputCheck();
    const name = change.name === undefined ? undefined : check.key('name', change.name);
    const graphs = change.graphs === undefined ? undefined : checkedGraphs(check, change.graphs);
    check.done();
    return this.#session.write(async (transaction) => {
      const present = await holdRow(transaction, 'graphSequence', id);
      if (name !== undefined && name !== present.name) {
        await holdRow(transaction, 'release', present.releaseId);
        await assertFree(transaction, present.releaseId, name);
      }
      const row = await transaction
        .updateTable('graphSequence')
        .set({ name: name ?? present.name, graphs: graphs ?? present.graphs })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow();
      return sequenceOf(row);
    });
  }

  delete(id: number): Promise<void> {
    return this.#session.write(async (transaction) => {
      await holdRow(transaction, 'graphSequence', id);
      await deleteRow(transaction, 'graphSequence', id);
    });
  }
}

function checkedGraphs(check: InputCheck, graphs: readonly JsonFields[]): string {
  if (graphs.length === 0) check.refuse('graphs', 'A sequence needs at least one graph.', 'Name a type of graph.');
  return check.json('graphs', graphs);
}

const findSequence = (db: Kysely<Tables>, releaseId: number, name: string): Promise<GraphSequenceRow | undefined> =>
  db
    .selectFrom('graphSequence')
    .selectAll()
    .where('releaseId', '=', releaseId)
    .where('name', '=', name)
    .executeTakeFirst();

async function assertFree(db: Kysely<Tables>, releaseId: number, name: string): Promise<void> {
  if ((await findSequence(db, releaseId, name)) === undefined) return;
  const message = `Sequence with name "${name}" already exist for release ${releaseId}.`;
  throw conflict(message, 'Change that one, or choose another name.');
}

const sequenceOf = (row: GraphSequenceRow): SequenceRecord => ({
  ...row,
  graphs: JSON.parse(row.graphs) as JsonObject[],
});
