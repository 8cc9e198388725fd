import { type Row, tables } from '../tables.js';
import { initialRow } from './conversion.js';

/**
 * What a row becomes when a write of a run or of a node of one arrives: where the newest write decides, one with a
 * sequence higher than any before; in other columns the first that has a value, whatever its sequence. Pure, so that
 * the same write applied twice, or late, can be reasoned about. Answers the stored row itself when nothing changes.
 */
export function mergedRow<T extends 'run' | 'runNode'>(
  table: T,
  stored: Row<T> | undefined,
  write: Partial<Row<T>> & { readonly sequence?: number },
): Row<T> {
  if (stored === undefined) return { ...initialRow(table), ...write } as Row<T>;
  const columns: Readonly<Record<string, { readonly settings: { readonly newestDecides: boolean } }>> = tables[table];
  const before: Readonly<Record<string, unknown>> = stored;
  const isNewer = (write.sequence ?? 0) > stored.sequence;
  const changed: Record<string, unknown> = {};
  let isSame = true;
  for (const [name, value] of Object.entries(write)) {
    if (value === before[name] || !(columns[name]?.settings.newestDecides ? isNewer : before[name] === null)) continue;
    changed[name] = value;
    isSame = false;
  }
  return isSame ? stored : { ...stored, ...changed };
}
