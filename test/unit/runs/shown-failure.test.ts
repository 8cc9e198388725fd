import { expect, it } from 'vitest';
import { showRecord } from '../../../src/runs/life.ts';
import { openStore } from '../../../src/store/index.ts';

it.each([
  [[{ task: 'ceph', node: '1', reason: 'exit 1' }], 'ceph on rack-1: exit 1'],
  [[{ task: 'ceph', node: '7', reason: 'exit 1' }], 'ceph on 7: exit 1'],
  [[{ task: 'sync', node: 'master', reason: 'exit 1' }], 'sync on master: exit 1'],
  [[], null],
])(
  'lists show the first failure of a run of graphs with the name of its node, where it has one: %j',
  async (failed, failure) => {
    const store = await openStore('sqlite::memory:');
    await store.migrate();
    await store.nodes.create({ name: 'rack-1' });
    const run = {
      id: 'r1',
      sequence: 1,
      workflowId: 'execute_graph:1:r1',
      kind: 'execute_graph',
      startedAt: '2026-11-01T00:00:00Z',
    };
    const status = {
      cluster: 1,
      phase: 'graphs',
      paused: null,
      graphs: [],
      counts: {},
      failing_nodes: failed.length,
      failed,
    };
    await showRecord(store, run, status as never, {} as never);
    expect(await store.runs.get('r1')).toMatchObject({ failure });
    await store.close();
  },
);
