import { describe, expect, it } from 'vitest';
import { chunksOf } from '../../../src/clusters/planning/cut-plan.ts';

describe('chunks of a stored plan', () => {
  it.each([
    ['plain', 'abc'.repeat(1_000)],
    ['full of quotes', '"'.repeat(3_000)],
    ['beyond the first plane', '😀'.repeat(1_000)],
    ['empty', ''],
  ])('fit into a payload and join to the same text: %s', (_, text) => {
    const chunks = chunksOf(text, 500);
    expect(chunks.join('')).toBe(text);
    expect(chunks.filter((chunk) => Buffer.byteLength(JSON.stringify(chunk)) > 500)).toEqual([]);
    expect(chunks.filter((chunk) => /[\uD800-\uDBFF]$/.test(chunk))).toEqual([]);
  });
});
