import { describe, expect, it } from 'vitest';
import { createTaskEngine, isUndefinedMarker, nodeState, prepareData, TaskScope } from '../src/index.ts';

const engine = createTaskEngine();
const common = prepareData({ storage: { ceph: true, size: '2' }, uid: 'common', list: [1] });
const node = prepareData({ uid: '5', storage: { size: '3' }, list: [2] });
const now = nodeState(common, node);

describe('a task on a node', () => {
  it('sees the union of common and node data, with the node on top', () => {
    const scope = new TaskScope(engine, now, null);
    expect(scope.evaluateToHost('[$.uid, $.storage, $.list, $node.uid, $common.uid]')).toEqual([
      '5',
      { ceph: true, size: '3' },
      [2],
      '5',
      'common',
    ]);
  });

  it('has an empty dict for old data when there was no run', () => {
    const scope = new TaskScope(engine, now, null);
    expect(scope.evaluateToHost('[changed($.uid), changed($.get(nope)), added($.uid), deleted($.uid)]')).toEqual([
      true,
      false,
      '5',
      null,
    ]);
    expect(isUndefinedMarker(scope.evaluate('old($.uid)'))).toBe(true);
    expect(scope.evaluateToHost('old($)')).toEqual({});
  });

  it('compares with the state of the last run', () => {
    const old = nodeState(
      prepareData({ storage: { ceph: true, size: '2' }, uid: 'common', list: [1] }),
      prepareData({ uid: '5', list: [2, 7] }),
    );
    const scope = new TaskScope(engine, now, old);
    expect(
      scope.evaluateToHost('[changed($.storage), changed($.storage.ceph), deleted($.list), old($.storage.size)]'),
    ).toEqual([true, false, [7], '2']);
    // The parts are those of the new state also on the old side.
    expect(scope.evaluateToHost('changed($node.uid)')).toBe(false);
  });

  it('does not mix up scopes that share an engine', () => {
    const scopes = ['1', '2', '3'].map((uid) => new TaskScope(engine, nodeState(common, prepareData({ uid })), null));
    expect(scopes.map((scope) => scope.evaluateToHost('$.uid + $node.uid'))).toEqual(['11', '22', '33']);
  });

  it('gives each expression budgets of its own', () => {
    const small = createTaskEngine({ maxSteps: 2000 });
    const scope = new TaskScope(small, now, null);
    for (let i = 0; i < 20; i++) expect(scope.evaluateToHost('range(500).sum()')).toBe(124750);
  });

  it('lets an expression work in proportion to its data, and not to the square of it', () => {
    const small = createTaskEngine({ maxSteps: 2000, limitIterators: 1000 });
    const nodes = Array.from({ length: 3000 }, (_, n) => ({
      name: `node-${n}`,
      roles: ['compute'],
      ip: `10.0.0.${n}`,
    }));
    const large = nodeState(prepareData({ nodes }), prepareData({ uid: '1' }));
    const scope = new TaskScope(small, large, large);
    expect(scope.evaluateToHost('changed($.nodes) or $.nodes.where($.name = "node-1").len() != 1')).toBe(false);
    expect(() => scope.evaluate('range(100000)')).toThrow('exceeds');
    const pairs = '$.nodes.where(let(a => $) -> $common.nodes.any($.name + "x" = $a.name)).len()';
    expect(() => scope.evaluate(pairs)).toThrow('too many steps');
  });
});
