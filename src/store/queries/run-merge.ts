import { type Row, tables } from '../tables.ts';
import { initialRow } from './conversion.ts';

/**
 * Merges a write of a run, or of a node of a run, into its row. In columns declared `newest()`, a write with a higher
 * sequence than all before decides; in the others, the first value stays. Pure, so that repeated and late writes are
 * easy to reason about. Returns the stored row itself if nothing changes.
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
