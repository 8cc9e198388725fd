import { expect, it } from 'vitest';
import { graphsLeft, type SinceThen } from '../../../src/clusters/graphs-left.ts';
import type { RunTransactions, TransactionRecord } from '../../../src/store/index.ts';

/** Ids are the places of types in the alphabet. */
const graph = (type: string, status: TransactionRecord['status'], input: unknown = { type }) =>
  ({ id: type.charCodeAt(0) - 96, graphType: type, status, input }) as TransactionRecord;

const since: SinceThen = { nodes: [7, 8, 9], withLosses: new Set() };

const runOf = (graphs: readonly TransactionRecord[], run: Partial<TransactionRecord> = {}): RunTransactions =>
  ({ run: { id: 7, status: 'failed', mode: 'apply', ...run }, graphs }) as RunTransactions;

it('the first failed graph and all after it remain, as they were requested', () => {
  const earlier = runOf([
    graph('provision', 'success'),
    graph('deploy', 'failed', { type: 'deploy', nodes: [8], tasks: ['a'] }),
    graph('verify', 'stopped', null),
  ]);
  expect(graphsLeft(earlier, since)).toEqual({
    ok: true,
    graphs: [{ type: 'deploy', nodes: [8], tasks: ['a'] }, { type: 'verify' }],
  });
});

it.each([
  ['has not ended', runOf([graph('a', 'running')], { status: 'running' })],
  ['has not ended', runOf([graph('a', 'waiting')], { status: 'waiting' })],
  ['ran as dry_run: it changed nothing', runOf([graph('a', 'failed')], { mode: 'dry_run' })],
  ['is not a graph run', runOf([])],
  ['succeeded: nothing is left to do', runOf([graph('a', 'success')], { status: 'success' })],
])('a run that %s cannot be continued', (why, earlier) => {
  expect(graphsLeft(earlier, since)).toMatchObject({ ok: false, why });
});

it('a run that succeeded although it lost tasks continues at the first lost task', () => {
  const earlier = runOf([graph('a', 'success'), graph('b', 'success'), graph('c', 'success')], { status: 'success' });
  expect(graphsLeft(earlier, { ...since, withLosses: new Set([2]) })).toEqual({
    ok: true,
    graphs: [{ type: 'b' }, { type: 'c' }],
  });
});

it('a failed graph is continued first: tolerated losses of an earlier graph stay', () => {
  const earlier = runOf([graph('a', 'success'), graph('b', 'failed')]);
  expect(graphsLeft(earlier, { ...since, withLosses: new Set([1, 2]) })).toEqual({
    ok: true,
    graphs: [{ type: 'b' }],
  });
});

it('nodes that left the cluster are omitted, unless none remains', () => {
  const earlier = runOf([graph('a', 'failed', { type: 'a', nodes: [3, 8] }), graph('b', 'waiting')]);
  expect(graphsLeft(earlier, since)).toEqual({ ok: true, graphs: [{ type: 'a', nodes: [8] }, { type: 'b' }] });
  expect(graphsLeft(earlier, { ...since, nodes: [7] })).toMatchObject({
    ok: false,
    why: 'was for graph a on nodes 3, 8, which have all left the cluster',
  });
});
