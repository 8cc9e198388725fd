import { describe, expect, it } from 'vitest';
import { finishCall, finishNode, nextCall, startBaremetal } from '../../../src/core/deployment/baremetal.ts';
import { checkHolds } from '../../../src/core/deployment/check-holds.ts';
import { parseGraphRunInput } from '../../../src/core/graph-run/input.ts';
import { awaitingOf, decide, reach, startHolds, whyNotDecide } from '../../../src/core/run/approval.ts';
import { apply } from '../../../src/core/scheduler/apply.ts';
import { keyOf } from '../../../src/core/scheduler/graph.ts';
import { compileNamed } from '../../../src/core/scheduler/named-plan.ts';
import { awaitingApproval } from '../../../src/core/scheduler/operator.ts';
import { restoreScheduler, takeSnapshot } from '../../../src/core/scheduler/snapshot.ts';
import { createScheduler } from '../../../src/core/scheduler/state.ts';
import { parseSiteRunInput } from '../../../src/core/site-run/input.ts';

const NOW = '2026-11-01T10:00:00.000Z';

const run = (change: object = {}) => ({
  input: { started_by: 'nina' },
  holds: startHolds(['control', 'compute']),
  stopping: false,
  ...change,
});

describe('decisions', () => {
  it('apply to groups and tasks that the run has reached, until it no longer waits there', () => {
    const reached = reach(run().holds, ['control'], NOW);
    expect(awaitingOf(run({ holds: reached }))).toEqual([{ before: 'control', since: NOW }]);
    expect(reach(reached, ['control'], 'later')).toEqual(reached);
    expect(reach(reached, [], 'later')).toEqual(run().holds);
    expect(awaitingOf(run({ holds: reached, stopping: true }))).toEqual([]);
    expect(awaitingOf(run({ holds: reached, outcome: 'failed' }))).toEqual([]);
  });

  it('record who, when and why, once', () => {
    const decided = decide(run().holds, ['control'], 'approved', { by: 'otto', reason: 'checked' }, NOW);
    expect(decided[0]).toEqual({
      before: 'control',
      decision: 'approved',
      decided_at: NOW,
      by: 'otto',
      reason: 'checked',
    });
    expect(decide(decided, ['control'], 'rejected', { by: 'eve' }, 'later')).toEqual(decided);
    expect(reach(decided, ['control'], 'later')).toEqual(decided);
    expect(whyNotDecide(run({ holds: decided }), 'approved', { before: 'control' })).toBe(
      "'control' was approved already by otto",
    );
  });

  it('are refused where nothing is pending, with the pending ones', () => {
    expect(whyNotDecide(run({ holds: [] }), 'approved', {})).toContain('without hold_before');
    expect(whyNotDecide(run(), 'approved', { before: 'controll' })).toContain("Did you mean 'control'?");
    expect(whyNotDecide(run(), 'approved', {})).toBe('nothing can be approved now; to come: control, compute');
    expect(whyNotDecide(run(), 'rejected', { before: 'control' })).toContain("'control' does not wait for approval");
    expect(whyNotDecide(run({ stopping: true }), 'approved', {})).toBe('the run is stopping');
    // In advance, a name can be approved.
    expect(whyNotDecide(run(), 'approved', { before: 'control' })).toBeNull();
  });

  it('need another person than the starter, where that is required', () => {
    const asks = run({ approved_by_another: true });
    expect(whyNotDecide(asks, 'approved', { before: 'control' })).toContain('name the approver');
    expect(whyNotDecide(asks, 'approved', { before: 'control', by: 'nina' })).toContain('another person');
    const otto = { before: 'control', by: 'otto' };
    expect(whyNotDecide(asks, 'approved', otto)).toContain('only if an API has verified it');
    expect(whyNotDecide(asks, 'approved', { ...otto, entry: 'e1' })).toBeNull();
    const used = { ...asks, operator: [{ action: 'approve', entry: 'e1' }] };
    expect(whyNotDecide(used, 'approved', { ...otto, entry: 'e1' })).toContain('only if an API has verified it');
    const waiting = { ...asks, holds: reach(asks.holds, ['control'], NOW) };
    expect(whyNotDecide(waiting, 'rejected', { by: 'nina' })).toBeNull();
  });
});

describe('hold_before', () => {
  it('is a list of unique names, in all inputs of runs that change something', () => {
    const of = (hold_before: unknown) => parseSiteRunInput('deploy_site', [{ site: 'dc1', hold_before }]);
    expect(of(['a', '*']).ok).toBe(true);
    expect(of([])).toMatchObject({ problems: ["field 'hold_before' must have at least 1"] });
    expect(of(['a', 'a'])).toMatchObject({ problems: ["field 'hold_before' names a twice"] });
    expect(of('a')).toMatchObject({ problems: ["field 'hold_before' must be a list"] });
    expect(parseGraphRunInput([{ cluster: 1, hold_before: ['a'] }]).ok).toBe(true);
    expect(parseSiteRunInput('test_site', [{ site: 'dc1', hold_before: ['a'] }]).ok).toBe(false);
  });

  const group = (name: string, nodes: number[], depends_on: string[] = []) => ({
    name,
    nodes,
    depends_on,
    critical: false,
  });
  const groups = [group('a', [0]), group('b', [1], ['a']), group('c', [1, 2]), group('d', [2], ['b'])];

  it('names groups: all unknown ones are reported, and nodes that other groups deploy', () => {
    expect(checkHolds(['*', 'a', 'B', 'bb'], groups, ['n0', 'n1', 'n2']).problems).toEqual([
      expect.stringContaining("hold_before: there is no group 'B' (known: a, b, c, d). Did you mean 'b'"),
      expect.stringContaining("hold_before: there is no group 'bb'"),
    ]);
    expect(checkHolds(['b'], groups, ['n0', 'n1', 'n2']).warnings).toEqual([
      'group b waits for approval, but 1 node of it (n1) also belong to groups that do not',
    ]);
    // d waits with b.
    expect(checkHolds(['b', 'c'], groups, ['n0', 'n1', 'n2']).warnings).toEqual([]);
  });

  it('holds a group and its dependents; the rest continues', () => {
    let state = startBaremetal(groups, ['n0', 'n1', 'n2']);
    const made: string[] = [];
    const go = (held: string[]) => {
      for (;;) {
        const next = nextCall(state, 0, held);
        state = next.state;
        if (next.call === null) return next.waiting;
        made.push(`${next.call.call} ${next.call.name}`);
        for (const node of next.call.nodes) state = finishNode(state, node, next.call.call, { ok: true }, 0);
        state = finishCall(state, { kind: 'complete' }, 0);
      }
    };
    expect(go(['b'])).toEqual(['b']);
    expect(made).toEqual(['prepare a', 'deploy a', 'prepare c', 'deploy c']);
    expect(state.groups.map((one) => one.state)).toEqual(['success', 'waiting', 'success', 'waiting']);
    expect(go([])).toEqual([]);
    expect(state.groups.map((one) => one.state)).toEqual(['success', 'success', 'success', 'success']);
  });
});

describe('a scheduler', () => {
  const plan = {
    nodes: [
      { id: '1', kind: 'node' as const },
      { id: '2', kind: 'node' as const },
    ],
    tasks: ['1', '2'].flatMap((node) => [
      { id: 'net', node, type: 'shell' },
      { id: 'gate', node, type: 'noop' },
      { id: 'db', node, type: 'shell' },
      { id: 'log', node, type: 'shell' },
    ]),
    edges: ['1', '2'].flatMap((n) => [
      [`net@${n}`, `gate@${n}`] as const,
      [`gate@${n}`, `db@${n}`] as const,
      [`net@${n}`, `log@${n}`] as const,
    ]),
  };
  const compiled = compileNamed(plan);
  if (!compiled.ok) throw new Error('refused');
  const { graph } = compiled;
  const options = { holdBefore: ['gate', 'db'] };
  const numberOf = (key: string): number => graph.nameOf.findIndex((_, task) => keyOf(graph, task) === key);

  it('holds tasks of a name on all nodes, also those without work, and lets others continue', () => {
    let s = createScheduler(graph, options);
    const started: string[] = [];
    const send = (...events: Parameters<typeof apply>[1][]): void => {
      const answer = apply(s, ...events);
      for (const command of answer) if (command.type === 'start') started.push(keyOf(graph, command.task));
    };
    const end = (key: string) => send({ type: 'ended', task: numberOf(key), attempt: 1, outcome: 'success' });
    send({ type: 'begin' });
    expect(awaitingApproval(s)).toEqual([]);
    end('net@1');
    expect(awaitingApproval(s)).toEqual(['gate']);
    end('net@2');
    end('log@1');
    end('log@2');
    expect(started).toEqual(['net@1', 'net@2', 'log@1', 'log@2']);
    // Approved in advance: it does not wait when its turn comes.
    send({ type: 'approve', name: 'db' });
    expect(awaitingApproval(s)).toEqual(['gate']);
    s = restoreScheduler(graph, JSON.parse(JSON.stringify(takeSnapshot(s))), options);
    expect(awaitingApproval(s)).toEqual(['gate']);
    send({ type: 'approve', name: 'gate' });
    expect(started.slice(4)).toEqual(['db@1', 'db@2']);
    expect(awaitingApproval(s)).toEqual([]);
    end('db@1');
    expect(s.finished).toBe(false);
    end('db@2');
    expect(s.finished).toBe(true);
  });

  it('waits for nothing after a stop, nor for a blocked task', () => {
    const s = createScheduler(graph, options);
    apply(s, { type: 'approve', name: 'gate' }, { type: 'begin' });
    apply(s, { type: 'ended', task: numberOf('net@1'), attempt: 1, outcome: 'failed' });
    apply(s, { type: 'ended', task: numberOf('net@2'), attempt: 1, outcome: 'failed' });
    expect(awaitingApproval(s)).toEqual([]);
    const other = createScheduler(graph, options);
    apply(other, { type: 'begin' }, { type: 'ended', task: numberOf('net@1'), attempt: 1, outcome: 'success' });
    expect(awaitingApproval(other)).toEqual(['gate']);
    apply(other, { type: 'stop' });
    expect(awaitingApproval(other)).toEqual([]);
  });
});
