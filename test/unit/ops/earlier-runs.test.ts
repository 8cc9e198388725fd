import { expect, it } from 'vitest';
import { EarlierRuns, endOfFirst } from '../../../src/ops/earlier-runs.ts';

const record = {
  id: 'now',
  kind: 'execute_graph',
  site: null,
  labels: { cluster: '1' },
  parameters: { cluster: 1 },
  startedAt: '2026-05-01T10:00:00.000Z',
};
const earlier = {
  ...record,
  id: 'before',
  total: 4,
  startedAt: '2026-04-01T10:00:00.000Z',
  endedAt: '2026-04-01T10:10:00.000Z',
};
const store = { runs: { list: async () => ({ items: [earlier] }), get: async () => earlier } };

// The phase has a name that its graph's type makes up: only the states of graphs decide.
it.each([
  ['running', 'default: running', true],
  ['running', 'is: held', true],
  ['held', 'default: held', false],
] as const)('a run whose graph is %s in the phase "%s" gets an expected end: %s', async (state, phase, has) => {
  const status = {
    cluster: 1,
    phase,
    paused: null,
    stopping: false,
    awaiting_approval: null,
    total: 4,
    graphs: [{ state }],
  };
  const found = await new EarlierRuns(store as never).withExpectedEnd(record as never, status as never);
  expect(Object.hasOwn(found, 'expected')).toBe(has);
});

it('a first run ends sooner than its model says when its nodes are done sooner, and at no known time after the last', () => {
  const startedAt = '2026-05-01T10:00:00.000Z';
  const now = Date.parse('2026-05-01T10:05:00.000Z');
  const end = (done: number) => endOfFirst({ startedAt, done, total: 4 }, 1200, now)?.ends_at;
  expect([0, 1, 3, 4].map(end)).toEqual([
    '2026-05-01T10:20:00.000Z',
    '2026-05-01T10:20:00.000Z',
    '2026-05-01T10:10:00.000Z',
    undefined,
  ]);
});
