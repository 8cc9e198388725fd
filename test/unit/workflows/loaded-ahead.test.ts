import type { ActivateInput } from '@temporalio/workflow';
import { describe, expect, it } from 'vitest';
import { isExpected } from '../../../worker/parts/runtime.ts';
import { LOADED_AHEAD } from '../../../workflows/protocol.ts';
import { refuseQueriesAhead } from '../../../workflows/run/interceptors.ts';

type Activation = ActivateInput['activation'];

/** The input of a workflow, in order; true for items that reach it, else why not. */
function given(activations: readonly Activation[]): (true | string)[] {
  const { activate } = refuseQueriesAhead();
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

describe('a query', () => {
  it('is answered if everything executed is in the history', () => {
    expect(given([replayed(1), replayed(2), query(2), query(2)])).toEqual(Array(4).fill(true));
  });

  it('is answered after a workflow task that followed another one', () => {
    expect(given([live(1), query(1), live(2), query(2)])).toEqual(Array(4).fill(true));
    expect(given([replayed(1), live(2), live(3), query(3), live(4)])).toEqual(Array(5).fill(true));
  });

  it('is refused if more was executed for it, at the time of the previous workflow task', () => {
    expect(given([replayed(1), replayed(2), live(2), query(2)])).toEqual([true, true, true, LOADED_AHEAD]);
  });

  it.each([
    ['its workflow task', live(3)],
    ['a query that came with its workflow task', query(3, '5f0c')],
    ['a query on its own', query(2)],
  ])('that is refused leaves no state that could be reported: %s fails as well', (_name, next) => {
    expect(given([live(2), live(2), query(2), next])).toEqual([true, true, LOADED_AHEAD, LOADED_AHEAD]);
  });

  it('is refused if more was executed for it, at the time of a workflow task that may be lost', () => {
    expect(given([replayed(1), live(2), query(2)])).toEqual([true, true, LOADED_AHEAD]);
    expect(given([replayed(1), query(1), live(2), query(2)])).toEqual([true, true, true, LOADED_AHEAD]);
  });

  it('is refused if a cached run has just caught up', () => {
    expect(given([live(1), replayed(2), live(3), query(3)])).toEqual([true, true, true, LOADED_AHEAD]);
  });

  it('is answered if it arrived with a workflow task', () => {
    expect(given([live(1), live(1), query(1, '5f0c'), live(2)])).toEqual(Array(4).fill(true));
  });

  it('is refused without affecting workflow tasks, whatever the clocks of servers', () => {
    expect(given([live(1), live(1), live(1), live(2)])).toEqual(Array(4).fill(true));
  });

  it('that is refused is not logged as an error, in whichever thread the workflow runs', () => {
    expect(isExpected(new Error(LOADED_AHEAD))).toBe(true);
    expect(isExpected(new Error('no such workflow'))).toBe(false);
  });
});
