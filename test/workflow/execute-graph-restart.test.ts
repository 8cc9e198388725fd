import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunTask, TaskEnd } from '../../activities/graph-contract.ts';
import type { NamedPlan } from '../../src/core/scheduler/named-plan.ts';
import { failed, ok, type ScriptedGraph, scriptedGraph } from '../rig/scripted-graph.ts';
import { startGraphRun } from '../rig/scripted-graph-run.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

let rig: TemporalRig;
beforeAll(async () => {
  rig = await temporalRig();
});
afterAll(() => rig.close());

const plan: NamedPlan = {
  nodes: [{ id: 'n1', kind: 'node' }],
  tasks: [
    { id: 'restart', node: 'n1', type: 'reboot' },
    { id: 'after', node: 'n1', type: 'shell' },
  ],
  edges: [['restart@n1', 'after@n1']],
};

const stayed: TaskEnd = {
  outcome: 'failed',
  message: 'the boot id stayed the same after 3 reboot command(s)',
  failure_kind: 'not-rebooted',
  summary: { bootIdBefore: 'boot-n1' },
};

/** The run's restart, with these ends of the node's own restart and of the power cycle. */
async function restarted(end: TaskEnd, power?: (graph: ScriptedGraph) => TaskEnd, mode?: 'noop_run') {
  const graph = scriptedGraph({
    plans: { default: { ...plan, ...(mode === undefined ? {} : { mode }) } },
    // No time to wait for another boot id: the first check decides.
    timeoutSeconds: 0,
  });
  graph.ends.set('restart@n1', [end]);
  const cycled: RunTask[] = [];
  graph.powerCycle = (request) => {
    cycled.push(request);
    return power === undefined ? failed('there is no MAAS here') : power(graph);
  };
  const run = await startGraphRun(rig, graph, [{ cluster: 1, ...(mode === undefined ? {} : { mode }) }]);
  const { result } = await run.ended();
  return { graph, cycled, result, row: graph.rows().get('restart@n1')! };
}

describe('a node that does not restart', () => {
  it('is power-cycled, and counts as restarted when it returns with another boot id', async () => {
    const { graph, cycled, result, row } = await restarted(stayed, ({ boots }) => {
      boots.set('n1', 'another');
      return ok;
    });
    expect(result).toMatchObject({ outcome: 'success' });
    expect(cycled).toEqual([graph.requests[0]]);
    expect(row).toMatchObject({ status: 'success', attempt: 1, end: { outcome: 'success', changed: true } });
    expect(row.end!.message).toContain('restarted by a power cycle, because the boot id stayed the same');
    expect(graph.began).toEqual(['restart@n1', 'after@n1']);
  });

  it('fails the task if its boot id is still the same', async () => {
    const { row, graph } = await restarted(stayed, () => ok);
    expect(row).toMatchObject({ status: 'failed', end: { outcome: 'failed' } });
    expect(row.end!.message).toContain('3 reboot command(s); its boot id is the same after a power cycle');
    expect(graph.began).toEqual(['restart@n1']);
  });

  it('fails the task with both reasons if its power cannot be cycled', async () => {
    const { row } = await restarted(stayed);
    expect(row.end!.message).toBe(
      'the boot id stayed the same after 3 reboot command(s); its power was not cycled: there is no MAAS here',
    );
  });
});

it.each([
  ['was cancelled', { outcome: 'cancelled', message: 'by an operator' }, undefined],
  ['was refused by its node', { outcome: 'refused', message: 'no' }, undefined],
  ['failed in another way', failed('systemctl is missing'), undefined],
  ['was only tried', stayed, 'noop_run'],
] as const)('a restart that %s is not forced', async (_what, end, mode) => {
  const { cycled } = await restarted(end, () => ok, mode);
  expect(cycled).toEqual([]);
});
