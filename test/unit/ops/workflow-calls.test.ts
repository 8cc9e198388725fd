import { QueryNotRegisteredError, type WorkflowClient, WorkflowNotFoundError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { getRun } from '../../../src/ops/workflow-calls.ts';

/** A run whose queries end like this, one after the other; the last end stays. */
function queried(...ends: readonly (string | Error)[]) {
  let asked = 0;
  const query = async () => {
    const end = ends[Math.min(asked++, ends.length - 1)]!;
    if (end instanceof Error) throw end;
    return end;
  };
  const client = { getHandle: () => ({ query }) } as unknown as WorkflowClient;
  return { run: getRun<'execute_graph'>(client, 'w'), asked: () => asked };
}

const dropped = new QueryNotRegisteredError('the worker has loaded the run', 3);

describe('a query', () => {
  it('is repeated if the worker dropped the run with it', async () => {
    const { run, asked } = queried(dropped, dropped, 'status');
    expect(await run.query('status')).toBe('status');
    expect(asked()).toBe(3);
  });

  it('fails in the end if the run does not know it', async () => {
    const { run, asked } = queried(dropped);
    await expect(run.query('status')).rejects.toBe(dropped);
    expect(asked()).toBe(4);
  });

  it('is not repeated for any other reason', async () => {
    const gone = new WorkflowNotFoundError('gone', 'w', 'r');
    const { run, asked } = queried(gone, 'status');
    await expect(run.query('status')).rejects.toBe(gone);
    expect(asked()).toBe(1);
  });
});
