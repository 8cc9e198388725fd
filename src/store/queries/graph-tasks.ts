import type { Kysely, Transaction } from 'kysely';
import { snakeCase } from '../../core/text/casing.ts';
import type { InputCheck } from '../input.ts';
import type { Json, JsonFields, JsonObject } from '../page.ts';
import type { Row, Tables } from '../tables.ts';
import { inBatches } from './batches.ts';
import { columnsWithout } from './conversion.ts';

/**
 * A task in its normalised form: made by `normaliseTask` of src/graph, read by `presentTask`. Fields that the
 * specification names have columns; all others are stored unchanged.
 */
type StoredTask = JsonObject & { readonly id: string };

/** Fields of a task with their own columns; every other field is in `custom`. */
const COLUMNS = columnsWithout('graphTask', 'graphId', 'position', 'taskName', 'custom').map(
  (column) => [snakeCase(column), column] as const,
);

type NewTaskRow = Omit<Row<'graphTask'>, 'graphId'>;

/** Checks tasks and builds their rows, in order. */
export function taskRowsOf(check: InputCheck, tasks: readonly (JsonFields & { readonly id: string })[]): NewTaskRow[] {
  const seen = new Set<string>();
  const twice = new Set<string>();
  const rows = tasks.map((task, position): NewTaskRow => {
    const path = `tasks[${position}]`;
    const taskName = check.key(`${path}.id`, task.id);
    if (seen.has(taskName)) twice.add(taskName);
    seen.add(taskName);
    const { id: _, ...custom } = task;
    const columns: Record<string, string | null> = {};
    for (const [field, column] of COLUMNS) {
      const value = task[field];
      columns[column] = value === undefined ? null : check.json(`${path}.${field}`, value);
      delete (custom as Record<string, unknown>)[field];
    }
    const own = Object.keys(custom).length === 0 ? null : check.json(path, custom);
    return { position, taskName, ...columns, custom: own } as NewTaskRow;
  });
  if (twice.size > 0) {
    const names = [...twice].sort().join(', ');
    check.refuse('tasks', `Tasks duplication found: ${names}`, 'Give each task of a graph its own id.');
  }
  return rows;
}

export async function replaceTasks(
  transaction: Transaction<Tables>,
  graphId: number,
  rows: readonly NewTaskRow[],
): Promise<void> {
  await transaction.deleteFrom('graphTask').where('graphId', '=', graphId).execute();
  for (const batch of inBatches(rows)) {
    await transaction
      .insertInto('graphTask')
      .values(batch.map((row) => ({ graphId, ...row })))
      .execute();
  }
}

/** Tasks by graph id, in upload order; the result omits graphs without tasks. */
export async function readTasks(db: Kysely<Tables>, graphs: readonly number[]): Promise<Map<number, StoredTask[]>> {
  const found = new Map<number, StoredTask[]>();
  for (const batch of inBatches(graphs)) {
    const rows = await db
      .selectFrom('graphTask')
      .selectAll()
      .where('graphId', 'in', batch)
      .orderBy('graphId')
      .orderBy('position')
      .execute();
    for (const row of rows) {
      const tasks = found.get(row.graphId);
      if (tasks === undefined) found.set(row.graphId, [taskOf(row)]);
      else tasks.push(taskOf(row));
    }
  }
  return found;
}

function taskOf(row: Row<'graphTask'>): StoredTask {
  const task: Record<string, Json> & { id: string } = { id: row.taskName };
  for (const [field, column] of COLUMNS) {
    const text = row[column];
    if (text !== null) task[field] = JSON.parse(String(text)) as Json;
  }
  // Spread, not assigned: a user's key may be `__proto__`.
  return row.custom === null ? task : { ...task, ...(JSON.parse(row.custom) as Record<string, Json>) };
}
