import { describe, expect, it } from 'vitest';
import { graphChanges, graphStatusText } from '../../../src/cli/views/graph-status.ts';
import { paintFor } from '../../../src/cli/views/paint.ts';
import type { GraphRunStatus } from '../../../src/core/contracts/graph-run.ts';
import { NO_TASKS } from '../../../src/core/graph-run/task-counts.ts';

function statusOf(
  state: GraphRunStatus['graphs'][number]['state'],
  more: Partial<GraphRunStatus> = {},
): GraphRunStatus {
  const counts = { ...NO_TASKS, waiting: 2, failed: 1, blocked: 3, not_reached: 4, success: 5, skipped: 6 };
  const graph = { type: 'default', transaction: 8, state, done: 6, total: 15, counts, nodes: 2, failing_nodes: 1 };
  return {
    ...{ cluster: 1, transaction: 7, phase: `default: ${state.replace('_', ' ')}`, paused: null, stopping: false },
    ...{ done: 6, total: 15, counts, failing_nodes: 1, running: [], silent: [], warnings: [] },
    failed: [{ task: 'web', node: '2', attempts: 1, reason: 'exit 3' }],
    graphs: [{ ...graph, parts: 1, offline: [] }],
    ...more,
  };
}

describe('progress of a run of graphs', () => {
  it('names the commands that a held run waits for, ready to be copied', () => {
    const text = graphStatusText(statusOf('held'));
    expect(text).toContain('  sitewright run retry-task 7 web@2\n  sitewright run skip-task 7 web@2\n');
    expect(text).toContain('  sitewright run stop 7\n');
    expect(graphStatusText(statusOf('running'))).not.toContain('retry-task');
  });

  it('says that a held run keeps its plan, and which commands make a new one', () => {
    const [graph] = statusOf('held').graphs;
    const started_at = '2026-11-23T10:00:00.000Z';
    const text = graphStatusText(statusOf('held', { graphs: [{ ...graph!, started_at }] }));
    expect(text).toContain(
      `it keeps the plan of its start (${started_at}), with documents, package versions and settings as they were then; so do retries; for a new one:
  sitewright run stop 7
  sitewright graph execute --cluster 1 --from 7
`,
    );
    const changes = graphChanges(statusOf('held'), statusOf('running'), paintFor(false)).join('\n');
    expect(changes).toContain('it keeps the plan of its start, with documents');
    const awaiting_approval = [{ before: '*', since: started_at }];
    expect(graphStatusText(statusOf('running', { awaiting_approval }))).toContain(
      'whenever it is approved; for a new one:\n  sitewright run reject 7\n  sitewright run again 7\n',
    );
    expect(graphStatusText(statusOf('running'))).not.toContain('it keeps');
  });

  it('shows since when it has not changed', () => {
    const as_of = '2026-11-23T10:00:00.000Z';
    const text = (seconds: number) =>
      graphStatusText(statusOf('running', { as_of }), false, Date.parse(as_of) + 1_000 * seconds);
    expect(text(30)).toContain('unchanged since 10:00:00Z (30 s ago)\n');
    expect(text(3)).not.toContain('unchanged');
    expect(graphStatusText(statusOf('running'))).not.toContain('unchanged');
  });

  it('has one word for each state', () => {
    expect(graphStatusText(statusOf('not_reached'))).toMatch(
      /^tasks: 2 waiting, 5 success, 1 failed, 3 blocked, 4 not reached, 6 skipped$/m,
    );
    expect(graphStatusText(statusOf('failed'))).toMatch(/^graph default: failed, 6 of 15 tasks$/m);
  });

  it('is printed with one line for each phase', () => {
    const paint = paintFor(false);
    const planning = statusOf('planning');
    expect(graphChanges(planning, undefined, paint).filter((line) => line.includes('planning'))).toHaveLength(1);
    const running = statusOf('running');
    expect(graphChanges(running, planning, paint)).toEqual(['graph default running']);
    expect(graphChanges(running, running, paint)).toEqual([]);
    expect(graphChanges(statusOf('running', { phase: 'default: closing' }), running, paint)).toEqual([
      'default: closing',
    ]);
  });
});
