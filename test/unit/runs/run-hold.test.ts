import type { Client } from '@temporalio/client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { holdLookup } from '../../../src/runs/run-lookups.ts';

const FREE = { paused: null, stopping: false };

/** A server whose worker answers immediately. @param ended runs that end while they are asked */
function server(ended: readonly string[] = []) {
  const questions: string[] = [];
  const getHandle = (workflowId: string) => ({
    async query() {
      questions.push(workflowId);
      return FREE;
    },
  });
  const connection = { withDeadline: (_deadline: number, work: () => unknown) => work() };
  const client = { workflow: { getHandle }, connection } as unknown as Client;
  const describe = async (workflowId: string, runId?: string) => {
    const isOver = runId !== undefined && ended.includes(workflowId);
    return { runId: `run of ${workflowId}`, status: { name: isOver ? 'TERMINATED' : 'RUNNING' } };
  };
  return { lookup: holdLookup(client, describe), questions };
}

describe('whether a run starts anything new', () => {
  afterEach(() => vi.restoreAllMocks());

  it('is known with little delay to each of many successive tasks', async () => {
    const { lookup, questions } = server();
    // An answer takes no time on this clock, whatever else the machine does.
    vi.spyOn(performance, 'now').mockReturnValue(0);
    const began = Date.now();
    for (let task = 0; task < 30; task += 1) expect(await lookup('run', null)).toEqual(FREE);
    expect(questions).toHaveLength(30);
    // At five questions a second it would be six seconds.
    expect(Date.now() - began).toBeLessThan(5_000);
  });

  it('is queried once for all concurrent callers, and separately for each run', async () => {
    const { lookup, questions } = server();
    await Promise.all(Array.from({ length: 1_000 }, () => lookup('one', null)));
    expect(questions).toEqual(['one', 'one']);
    await lookup('other', null);
    expect(questions.at(-1)).toBe('other');
  });

  it('is not known of a run that is terminated meanwhile: it answers without a stop that no worker had processed', async () => {
    const { lookup } = server(['terminated']);
    await expect(lookup('terminated', null)).rejects.toThrow('ended');
    await expect(lookup('terminated', 'r1')).rejects.toThrow('ended');
    expect(await lookup('open', null)).toEqual(FREE);
  });
});
