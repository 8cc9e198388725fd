import { describe, expect, it } from 'vitest';
import { RecordEvaluator } from '../src/index.ts';
import { mismatch, readRecords } from './records.ts';

// Every record made by the reference implementation gives the recorded value or class of error.
describe.each(['official.jsonl', 'extra.jsonl', 'nailgun.jsonl', 'differential.jsonl'])('%s', (file) => {
  const evaluator = new RecordEvaluator({ clock: () => 1_456_753_559_000_000n, random: () => 0.5 });
  const records = readRecords(file);

  it('has records', () => {
    expect(records.length).toBeGreaterThan(150);
  });

  it('gives the results of the reference implementation', () => {
    const wrong = records.flatMap((record) => {
      const problem = mismatch(record, evaluator.evaluate(record));
      return problem === null ? [] : [`${record.id} ${record.expr}: ${problem}`];
    });
    expect(wrong).toEqual([]);
  });
});

describe('comparing records', () => {
  const record = { id: 'x', expr: '1', result: [1, 2] };
  it('distinguishes an integer from a float', () => {
    expect(mismatch({ ...record, result: 1 }, { id: 'x', result: { $type: 'float', value: '1.0' } })).not.toBeNull();
  });
  it('minds the order of lists unless it means nothing', () => {
    expect(mismatch(record, { id: 'x', result: [2, 1] })).not.toBeNull();
    expect(mismatch({ ...record, unordered: true }, { id: 'x', result: [2, 1] })).toBeNull();
  });
});
