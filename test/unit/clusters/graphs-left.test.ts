import { expect, test } from 'vitest';
import { graphsLeft } from '../../../src/clusters/index.js';
import type { RunTransactions, TransactionRecord } from '../../../src/store/index.js';

const graph = (type: string, status: TransactionRecord['status'], input: unknown = { type }) =>
  ({ graphType: type, status, input }) as TransactionRecord;

const runOf = (graphs: readonly TransactionRecord[], run: Partial<TransactionRecord> = {}): RunTransactions =>
  ({ run: { id: 7, status: 'error', mode: 'apply', ...run }, graphs }) as RunTransactions;

test('the first graph that did not end well is left, and all after it, as they were asked for', () => {
  const earlier = runOf([
    graph('provision', 'ready'),
    graph('deploy', 'error', { type: 'deploy', nodes: [8], tasks: ['a'] }),
    graph('verify', 'stopped', null),
  ]);
  expect(graphsLeft(earlier)).toEqual({
    ok: true,
    graphs: [{ type: 'deploy', nodes: [8], tasks: ['a'] }, { type: 'verify' }],
  });
});

test.each([
  ['has not ended', runOf([graph('a', 'running')], { status: 'running' })],
  ['has not ended', runOf([graph('a', 'pending')], { status: 'pending' })],
  ['was a dry_run: it changed nothing', runOf([graph('a', 'error')], { mode: 'dry_run' })],
  ['is no run of graphs', runOf([])],
  ['ended well: nothing is left to do', runOf([graph('a', 'ready')], { status: 'ready' })],
])('a run that %s is not gone on from', (why, earlier) => {
  expect(graphsLeft(earlier)).toMatchObject({ ok: false, why });
});
