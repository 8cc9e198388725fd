import { describe, expect, it } from 'vitest';
import {
  finishCall,
  finishNode,
  halts,
  type NodeResult,
  nextCall,
  startBaremetal,
  startNode,
} from '../../../src/core/deployment/baremetal.ts';
import type { GroupPlan } from '../../../src/core/deployment/group-plan.ts';
import type { BaremetalState } from '../../../src/core/deployment/progress.ts';
import { reportBaremetal } from '../../../src/core/deployment/report.ts';
import { retryNode, whyNotRetry } from '../../../src/core/deployment/retry.ts';

const ok: NodeResult = { ok: true };
const bad: NodeResult = {
  ok: false,
  failure: { kind: 'failed-deployment', message: 'curtin failed', hint: 'look at the console' },
};

const plan = (
  name: string,
  nodes: number[],
  depends_on: string[] = [],
  critical = false,
  success_criteria = {},
): GroupPlan => ({
  name,
  critical,
  depends_on,
  nodes,
  success_criteria,
});

/** Runs calls to the end; `fail` lists the `call:node` that fail. */
function run(state: BaremetalState, fail: readonly string[] = [], calls: string[] = []): BaremetalState {
  let current = state;
  for (;;) {
    const next = nextCall(current, 0);
    current = next.state;
    if (!next.call) return current;
    const { call, name, nodes } = next.call;
    calls.push(`${call}:${name}:${nodes.join()}`);
    for (const node of nodes) {
      current = startNode(current, node, 0);
      current = finishNode(current, node, call, fail.includes(`${call}:${node}`) ? bad : ok, 0);
    }
    current = finishCall(current, { kind: 'complete' }, 0);
  }
}

describe('times of a node', () => {
  const at = (state: BaremetalState) => {
    const { started_at, prepared_at, deploying_at, ended_at } = reportBaremetal(state).nodes[0]!;
    return [started_at, prepared_at, deploying_at, ended_at].map((time) => time && Date.parse(time));
  };
  const call = (state: BaremetalState, result: NodeResult, from: number): BaremetalState => {
    const { state: open, call: next } = nextCall(state, from);
    const ended = finishNode(startNode(open, 0, from), 0, next!.call, result, from + 5);
    return finishCall(ended, { kind: 'complete' }, from + 5);
  };

  it('tell its preparation from its deployment, and those of a retry from the first ones', () => {
    const prepared = call(startBaremetal([plan('a', [0])], ['n0']), ok, 10);
    expect(at(prepared)).toEqual([10, 15, undefined, undefined]);
    const failed = call(prepared, bad, 20);
    expect(at(failed)).toEqual([10, 15, 20, 25]);
    const again = call(retryNode(failed, 'n0'), ok, 30);
    expect(at(again)).toEqual([30, 35, undefined, undefined]);
    expect(at(call(again, ok, 40))).toEqual([30, 35, 40, 45]);
  });
});

describe('operator retries', () => {
  //   a --> b --> c      node 0 in a, 1 in b, 2 in c; a needs all its nodes
  const groups = [plan('a', [0], [], true, { maximum_failed_nodes: 0 }), plan('b', [1], ['a']), plan('c', [2], ['b'])];
  const failed = run(startBaremetal(groups, ['n0', 'n1', 'n2']), ['deploy:0']);

  it('start from a failure that spreads with its root cause', () => {
    const report = reportBaremetal(failed);
    expect(report.groups.map((group) => group.state)).toEqual(['failed', 'failed', 'failed']);
    expect(report.groups[2]!.failure).toEqual({ kind: 'dependency', dependencies: ['b'], root: ['a'] });
    expect(report.groups[2]!.reason).toBe('failed because it depends on b (because of a)');
    expect(report.groups[0]!.reason).toBe('after deploy: wanted at most 0 failed nodes, got 1');
    expect(report.nodes[0]).toMatchObject({
      failed_in: 'deploy',
      failure_kind: 'failed-deployment',
      reason: 'curtin failed',
      hint: 'look at the console',
    });
    expect(halts(failed)).toBe(true);
  });

  it('reopen the group of a repaired node and all that waited for it', () => {
    const calls: string[] = [];
    const repaired = run(retryNode(failed, 'n0'), [], calls);
    expect(calls).toEqual(['prepare:a:0', 'deploy:a:0', 'prepare:b:1', 'deploy:b:1', 'prepare:c:2', 'deploy:c:2']);
    expect(reportBaremetal(repaired).nodes_by_state.success).toEqual(['n0', 'n1', 'n2']);
    expect(halts(repaired)).toBe(false);
    expect(repaired.nodes[0]!.attempts).toBe(2);
  });

  it('fail the same groups again after a second failure', () => {
    const again = run(retryNode(failed, 'n0'), ['prepare:0']);
    expect(again.groups.map((group) => group.state)).toEqual(['failed', 'failed', 'failed']);
  });

  it('keep groups failed that depend on another failed group', () => {
    const two = [
      plan('a', [0], [], false, { minimum_successful_nodes: 1 }),
      plan('x', [1], [], false, { minimum_successful_nodes: 1 }),
      plan('b', [2], ['a', 'x']),
    ];
    const both = run(startBaremetal(two, ['n0', 'n1', 'n2']), ['deploy:0', 'deploy:1']);
    const one = run(retryNode(both, 'n0'));
    expect(one.groups[2]!.failure).toEqual({ kind: 'dependency', dependencies: ['x'], root: ['x'] });
  });

  it('are refused with a reason where they make no sense', () => {
    expect(whyNotRetry(failed, 'other')).toBe('no node other in this run');
    expect(whyNotRetry(failed, 'n00')).toBe("no node n00 in this run. Did you mean 'n0'?");
    expect(whyNotRetry(failed, 'n1')).toBe('node n1 has not failed: it is waiting');
    expect(whyNotRetry(failed, 'n0')).toBeNull();
    expect(retryNode(failed, 'n1')).toBe(failed);
  });
});

describe('calls cut short', () => {
  const open = () => {
    const next = nextCall(startBaremetal([plan('g', [0, 1, 2])], ['n0', 'n1', 'n2']), 1_000);
    let state = startNode(next.state, 0, 1_000);
    state = startNode(state, 1, 1_000);
    return finishNode(state, 0, 'prepare', ok, 2_000);
  };

  it('by a timeout fail the group whatever its criteria, and every node without a result', () => {
    const state = finishCall(open(), { kind: 'timeout', after_seconds: 1800 }, 1_801_000);
    expect(state.nodes.map((node) => node.state)).toEqual(['prepared', 'failed', 'failed']);
    const report = reportBaremetal(state);
    expect(report.groups[0]!.reason).toBe('prepare timed out after 1800 s, no result from n1, n2');
    expect(report.nodes[1]!.reason).toBe('no result within the prepare time limit of 1800 s');
    expect(report.groups[0]!.calls[0]).toMatchObject({ timed_out: true, ended_at: '1970-01-01T00:30:01.000Z' });
  });

  it('keep a late result as late, which changes nothing', () => {
    const timedOut = finishCall(open(), { kind: 'timeout' }, 2_000);
    const late = finishNode(timedOut, 1, 'prepare', ok, 9_000);
    expect(late.nodes[1]).toMatchObject({ state: 'failed', late: { call: 'prepare', ok: true, at: 9_000 } });
    expect(late.groups).toEqual(timedOut.groups);
  });

  it('by a stop leave unstarted nodes as they are', () => {
    const finished = finishNode(open(), 1, 'prepare', bad, 2_000);
    const state = finishCall(finished, { kind: 'stopped' }, 3_000);
    expect(state.nodes.map((node) => node.state)).toEqual(['prepared', 'failed', 'waiting']);
    expect(reportBaremetal(state).groups[0]!.reason).toBe('the run was stopped during prepare');
  });

  it('by a cancellation fail running nodes', () => {
    const state = finishCall(open(), { kind: 'cancelled' }, 3_000);
    expect(state.nodes.map((node) => node.state)).toEqual(['prepared', 'failed', 'waiting']);
    expect(state.nodes[1]!.failure).toMatchObject({ kind: 'cancelled' });
  });

  it('cannot be closed as complete while results are missing', () => {
    expect(() => finishCall(open(), { kind: 'complete' }, 0)).toThrow('2 nodes have no result');
  });
});

it('nodes without work count as successful and are never sent', () => {
  const calls: string[] = [];
  const groups = [plan('g', [0, 1], [], true, { percent_successful_nodes: 100 })];
  const state = run(startBaremetal(groups, ['n0', 'n1'], [0]), [], calls);
  expect(calls).toEqual(['prepare:g:1', 'deploy:g:1']);
  expect(state.groups[0]!.state).toBe('success');
});
