import { expect, it } from 'vitest';
import type { GraphProgress } from '../../../../src/core/graph-run/progress.ts';
import { statusOfGraphRun } from '../../../../src/core/graph-run/status.ts';
import type { GraphRunOutcome, GraphState } from '../../../../src/core/words.ts';

/** The phase of a run whose graphs a, b … are in these states; `*`: it is being closed. */
function phaseOf(states: readonly (GraphState | `${GraphState}*`)[], outcome?: GraphRunOutcome): string {
  const graphs = states.map(
    (state, at): GraphProgress => ({
      type: 'abc'[at]!,
      transaction: at,
      state: state.replace('*', '') as GraphState,
      ...(state.endsWith('*') ? { closing: true } : {}),
      offline: [],
      statuses: () => [],
      failing: () => 0,
      trees: () => [],
    }),
  );
  const { phase } = statusOfGraphRun({
    input: { cluster: 1 },
    workflow_id: 'execute_graph:1:2',
    run_id: 'run',
    started_at: 0,
    transaction: 2,
    cluster: null,
    graphs,
    operator: [],
    holds: [],
    warnings: [],
    paused: null,
    stopping: false,
    ...(outcome === undefined ? {} : { outcome }),
  });
  return phase;
}

it.each([
  ['starting', []],
  ['a: waiting', ['waiting', 'waiting']],
  ['a: planning', ['planning', 'waiting']],
  ['a: asking nodes', ['asking_nodes', 'waiting']],
  ['a: running', ['running']],
  ['a: closing', ['success*', 'waiting']],
  // Paused between two graphs.
  ['b: waiting', ['success', 'waiting']],
  ['b: held', ['success', 'held', 'waiting']],
  ['b: closing', ['success', 'failed*', 'waiting']],
  ['a: closing', ['refused*', 'waiting']],
  ['closing', ['success', 'success']],
] as const)('phase %s of a run whose graphs are %j', (phase, states) => {
  expect(phaseOf(states)).toBe(phase);
});

it('a run with an outcome is finished', () => {
  expect(phaseOf(['success'], 'success')).toBe('finished');
});
