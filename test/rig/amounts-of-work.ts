import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';

/** Amounts may grow by a tenth before a test fails: a regression in speed that no clock of a busy machine could show. */
const ALLOWED = 1.1;

const file = new URL('../golden/work/amounts.json', import.meta.url);

/**
 * Compares counts of work (evaluations, bytes of history, statements, modules) with the recorded ones. With
 * `UPDATE_GOLDEN=1` it records them: after work was saved, or when more of it is worth its price.
 */
export function expectNoMoreWork(of: string, counts: Readonly<Record<string, number>>): void {
  const recorded: Record<string, Record<string, number>> = JSON.parse(readFileSync(file, 'utf8'));
  if (process.env.UPDATE_GOLDEN === '1') {
    const all = Object.entries({ ...recorded, [of]: counts }).sort(([a], [b]) => (a < b ? -1 : 1));
    writeFileSync(file, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
    return;
  }
  expect(Object.keys(counts)).toEqual(Object.keys(recorded[of] ?? {}));
  for (const [name, count] of Object.entries(counts))
    expect(count, `${of}: ${name}; was ${recorded[of]![name]}`).toBeLessThanOrEqual(recorded[of]![name]! * ALLOWED);
}
