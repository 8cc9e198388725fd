/** Rows per statement: with 13 columns they stay well under SQLite's 32,766 parameters. */
const BATCH = 1000;

/** Splits a list of any length into parts that fit into one statement each. */
export function* inBatches<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += BATCH) yield items.slice(start, start + BATCH);
}
