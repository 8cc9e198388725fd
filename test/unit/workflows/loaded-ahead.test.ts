import type { ActivateInput } from '@temporalio/workflow';
import { describe, expect, it } from 'vitest';
import { isExpected } from '../../../worker/runtime.js';
import { startAgainWhenAhead } from '../../../workflows/loaded-ahead.js';
import { LOADED_AHEAD } from '../../../workflows/protocol.js';

type Activation = ActivateInput['activation'];

/** What a workflow is given, in order; true for what reaches it, else why not. */
function given(activations: readonly Activation[]): (true | string)[] {
  const { activate } = startAgainWhenAhead();
  return activations.map((activation) => {
    try {
      activate!({ activation, batchIndex: 0 }, () => undefined);
      return true;
    } catch (error) {
      return (error as Error).message;
    }
  });
}

const at = (seconds: number, nanos = 0) => ({ timestamp: { seconds: seconds as never, nanos } });
const replayed = (seconds: number): Activation => ({ ...at(seconds), isReplaying: true, jobs: [{ fireTimer: {} }] });
const live = (seconds: number, nanos = 0): Activation => ({
  ...at(seconds, nanos),
  isReplaying: false,
  jobs: [{ fireTimer: {} }],
});
const query = (seconds: number, queryId = 'legacy_query'): Activation => ({
  ...at(seconds),
  isReplaying: true,
  jobs: [{ queryWorkflow: { queryId } }],
});

describe('a run that a worker has loaded for a query', () => {
  it('goes on when all that was executed is in its history', () => {
    expect(given([replayed(1), replayed(2), query(2), live(3), query(3), live(4)])).toEqual(Array(6).fill(true));
  });

  it('starts again at its next workflow task when more was executed, at the time of the workflow task before', () => {
    const ahead = [replayed(1), replayed(2), live(2), query(2), query(2), live(3)];
    expect(given(ahead)).toEqual([true, true, true, true, true, LOADED_AHEAD]);
  });

  it('starts again, too, when the next thing is a query that finds more in the history', () => {
    expect(given([replayed(1), live(1), query(1), live(1), query(1)])).toEqual([true, true, true, LOADED_AHEAD, true]);
  });

  it('goes on when its workflow task had started, which has a time of its own', () => {
    expect(given([replayed(1), live(1, 1), query(1), live(2)])).toEqual(Array(4).fill(true));
  });

  it('goes on after a query that came with a workflow task', () => {
    expect(given([live(1), live(1), query(1, '5f0c'), live(2)])).toEqual(Array(4).fill(true));
  });

  it('goes on when no query had it loaded, whatever the clocks of servers say', () => {
    expect(given([live(1), live(1), live(1), live(2)])).toEqual(Array(4).fill(true));
  });

  it('is not logged as an error, in whichever thread the workflow runs', () => {
    expect(isExpected(new Error(LOADED_AHEAD))).toBe(true);
    expect(isExpected(new Error('no such workflow'))).toBe(false);
  });
});
