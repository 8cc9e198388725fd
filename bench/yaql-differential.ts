/**
 * Compares our engine with recorded results of the reference implementation, by the rules of the conformance test.
 * `node bench/yaql-differential.ts RECORDS.jsonl…` prints each difference and their number; exit code 1 if there
 * are any. `bench/yaql-differential.py` makes the records.
 */
import './bounded.ts';
import { readFileSync } from 'node:fs';
import { RecordEvaluator } from '@sitewright/yaql';
import { type ConformanceRecord, mismatch } from '../packages/yaql/test/records.ts';

const evaluator = new RecordEvaluator({ clock: () => 1_456_753_559_000_000n, random: () => 0.5 });
const counts = { records: 0, values: 0, leaks: 0, differences: 0 };
for (const file of process.argv.slice(2)) {
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '') continue;
    const record = JSON.parse(line) as ConformanceRecord;
    counts.records += 1;
    if ('result' in record) counts.values += 1;
    const started = performance.now();
    const outcome = evaluator.evaluate(record);
    const took = performance.now() - started;
    if (took > 2000) console.log(`SLOW ${took.toFixed(0)} ms: ${record.expr}`);
    // A skipped position of a variadic call leaks a marker of the reference, and the order of a set is undefined.
    if (/[[(,]\s*,/.test(record.expr) || JSON.stringify(record.result)?.includes('{"$type":"object"}')) {
      counts.leaks += 1;
      continue;
    }
    const problem = mismatch(
      { ...record, unordered: /set|characters/i.test(record.expr) || record.unordered === true },
      outcome,
    );
    if (problem === null) continue;
    counts.differences += 1;
    console.log(JSON.stringify({ id: record.id, expr: record.expr, problem, reference: record.error?.message ?? '' }));
  }
}
console.log(JSON.stringify(counts));
process.exitCode = counts.differences === 0 ? 0 : 1;
