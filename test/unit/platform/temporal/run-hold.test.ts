import type { Client } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { holdLookup } from '../../../../src/platform/temporal/run-hold.js';

const FREE = { paused: null, stopping: false };

/** A server whose worker answers at once. */
function server() {
  const questions: string[] = [];
  const getHandle = (workflowId: string) => ({
    async query() {
      questions.push(workflowId);
      return FREE;
    },
  });
  const connection = { withDeadline: (_deadline: number, work: () => unknown) => work() };
  const client = { workflow: { getHandle }, connection } as unknown as Client;
  return { lookup: holdLookup(client), questions };
}

describe('whether a run starts anything new', () => {
  it('is known nearly at once to each of many tasks that follow each other', async () => {
    const { lookup, questions } = server();
    const began = performance.now();
    for (let task = 0; task < 30; task += 1) expect(await lookup('run', null)).toEqual(FREE);
    expect(questions).toHaveLength(30);
    // At five questions a second it would be six seconds.
    expect(performance.now() - began).toBeLessThan(3_000);
  });

  it('is asked once for all that want to know meanwhile, and apart for each run', async () => {
    const { lookup, questions } = server();
    await Promise.all(Array.from({ length: 1_000 }, () => lookup('one', null)));
    expect(questions).toEqual(['one', 'one']);
    await lookup('other', null);
    expect(questions.at(-1)).toBe('other');
  });
});
