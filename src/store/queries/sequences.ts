import type { Kysely } from 'kysely';
import { conflict } from '../failure.ts';
import { InputCheck } from '../input.ts';
import type { JsonFields } from '../page.ts';
import type { Session } from '../session.ts';
import type { Change, New, Stored, Tables } from '../tables.ts';
import { matching } from './conditions.ts';
import { changedColumns, newRow, recordOf } from './conversion.ts';
import { deleteRow, findRow, holdRow, insertRow, isId, lockRow, readRow, updateRow } from './identified-row.ts';

/** Graph types to run one after another. */
export type SequenceRecord = Stored<'graphSequence'>;

export type NewSequence = New<'graphSequence'>;

/**
 * An unknown id is `not-found` for every call but `list` and `find`.
 *
 * Creating and renaming locks the release's row, so that names stay unique.
 */
export class SequenceStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** @throws `conflict` when the release has a sequence of this name; `not-found` for the release. */
  async create(sequence: NewSequence): Promise<SequenceRecord> {
    const check = new InputCheck();
    const row = newRow('graphSequence', check, sequence, {});
    assertGraphs(check, sequence.graphs);
    check.done();
    return this.#session.write(async (transaction) => {
      await lockRow(transaction, 'release', row.releaseId);
      await assertFree(transaction, row.releaseId, row.name);
      return recordOf('graphSequence', await insertRow(transaction, 'graphSequence', row));
    });
  }

  get(id: number): Promise<SequenceRecord> {
    return this.#session.read(async (db) => recordOf('graphSequence', await readRow(db, 'graphSequence', id)));
  }

  find(releaseId: number, name: string): Promise<SequenceRecord | null> {
    return this.#session.read(async (db) => {
      const row = await findRow(db, 'graphSequence', { releaseId, name });
      return row === undefined ? null : recordOf('graphSequence', row);
    });
  }

  /** By id, ascending; of one release, or of the release of a cluster. */
  async list({
    releaseId,
    clusterId,
  }: {
    readonly releaseId?: number;
    readonly clusterId?: number;
  } = {}): Promise<readonly SequenceRecord[]> {
    if (clusterId !== undefined && !isId(clusterId)) return [];
    return this.#session.read(async (db) => {
      let query = matching(db.selectFrom('graphSequence').selectAll(), { releaseId });
      if (clusterId !== undefined) {
        query = query.where('releaseId', '=', (eb) =>
          eb.selectFrom('cluster').select('cluster.releaseId').where('cluster.id', '=', clusterId),
        );
      }
      return (await query.orderBy('id').execute()).map((row) => recordOf('graphSequence', row));
    });
  }

  /** @throws `conflict` when the name is taken. */
  async update(id: number, change: Omit<Change<'graphSequence'>, 'releaseId'>): Promise<SequenceRecord> {
    const { name, graphs } = change;
    const check = new InputCheck();
    const columns = changedColumns('graphSequence', check, {
      ...(name !== undefined && { name }),
      ...(graphs && { graphs }),
    });
    if (graphs !== undefined) assertGraphs(check, graphs);
    check.done();
    return this.#session.write(async (transaction) => {
      const present = await holdRow(transaction, 'graphSequence', id);
      const { name: wanted = present.name } = columns;
      if (wanted !== present.name) {
        await lockRow(transaction, 'release', present.releaseId);
        await assertFree(transaction, present.releaseId, wanted);
      }
      return recordOf('graphSequence', await updateRow(transaction, 'graphSequence', id, { ...columns, name: wanted }));
    });
  }

  delete(id: number): Promise<void> {
    return this.#session.write(async (transaction) => {
      await lockRow(transaction, 'graphSequence', id);
      await deleteRow(transaction, 'graphSequence', id);
    });
  }
}

function assertGraphs(check: InputCheck, graphs: readonly JsonFields[]): void {
  if (graphs.length === 0) check.refuse('graphs', 'A sequence needs at least one graph.', 'Name a graph type.');
}

async function assertFree(db: Kysely<Tables>, releaseId: number, name: string): Promise<void> {
  if ((await findRow(db, 'graphSequence', { releaseId, name })) === undefined) return;
  const message = `Sequence with name "${name}" already exist for release ${releaseId}.`;
  throw conflict(message, 'Change the existing one, or choose another name.');
}
