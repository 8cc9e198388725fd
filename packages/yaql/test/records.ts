import { readFileSync } from 'node:fs';
import type { Encoded } from '../src/interchange.ts';
import type { EvaluationRecord, RecordOutcome } from '../src/record.ts';

/** A record with the result of the reference implementation. */
export interface ConformanceRecord extends EvaluationRecord {
  readonly result?: Encoded;
  readonly error?: { readonly class: string; readonly message: string };
  readonly unordered?: boolean;
}

export function readRecords(file: string): ConformanceRecord[] {
  const text = readFileSync(new URL(`./data/${file}`, import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ConformanceRecord);
}

/** Text that is the same for equal values: object keys sorted, and lists too when their order means nothing. */
export function canonical(value: unknown, unordered: boolean): string {
  if (Array.isArray(value)) {
    const items = value.map((item) => canonical(item, unordered));
    return `[${(unordered ? items.sort() : items).join(',')}]`;
  }
  if (value !== null && typeof value === 'object') {
    const object = value as Record<string, unknown>;
    if (object.$type === 'map') {
      const entries = (object.entries as [unknown, unknown][]).map(
        ([k, v]) => `${canonical(k, unordered)}:${canonical(v, unordered)}`,
      );
      return `map{${entries.sort().join(',')}}`;
    }
    return `{${Object.keys(object)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonical(object[key], unordered || object.$type === 'set')}`)
      .join(',')}}`;
  }
  return JSON.stringify(value);
}

/** The error in an outcome, null if it is as recorded. */
export function mismatch(record: ConformanceRecord, outcome: RecordOutcome): string | null {
  const shown = JSON.stringify(outcome).slice(0, 300);
  if (record.error !== undefined) {
    if (!('error' in outcome)) return `expected ${record.error.class}, got ${shown}`;
    if (outcome.error.class !== record.error.class) return `expected ${record.error.class}, got ${shown}`;
    if (record.error.class === 'AssertionError' && outcome.error.message !== record.error.message)
      return `wrong message ${shown}`;
    return null;
  }
  if (!('result' in outcome)) return `expected ${JSON.stringify(record.result).slice(0, 200)}, got ${shown}`;
  const unordered = record.unordered ?? false;
  if (canonical(record.result, unordered) === canonical(outcome.result, unordered)) return null;
  return `expected ${JSON.stringify(record.result).slice(0, 200)}, got ${shown}`;
}
