import { expect, it } from 'vitest';
import { titleOfGraphRun } from '../../../src/core/graph-run/title.ts';

const names = new Map([
  [1, 'node-1'],
  [2, 'node-2'],
]);
const of = (more: object): string =>
  titleOfGraphRun({ cluster: 1, ...more }, 'lab', { nameOf: (node) => names.get(node) ?? String(node) });

it('tells runs of the same graphs on a cluster apart', () => {
  const titles = [
    of({}),
    of({ mode: 'dry_run' }),
    of({ mode: 'noop_run' }),
    of({ force: true }),
    of({ from: 7 }),
    of({ graphs: [{ type: 'default', nodes: [1] }] }),
    of({ graphs: [{ type: 'default', nodes: [1, 2], tasks: ['netconfig'] }] }),
    of({ graphs: [{ type: 'default', nodes: [1, 2, 3, 4] }] }),
    of({ subgraphs: [{ start: ['a'] }] }),
    of({ sequence: 3 }),
  ];
  expect(titles).toEqual([
    'default on cluster lab',
    'default on cluster lab: dry run',
    'default on cluster lab: no-op',
    'default on cluster lab: forced',
    'graphs on cluster lab: the rest of run 7',
    'default on cluster lab: only node node-1',
    'default on cluster lab: only nodes node-1 and node-2, only task netconfig',
    'default on cluster lab: only 4 nodes',
    'default on cluster lab: 1 part',
    'sequence 3 on cluster lab',
  ]);
});

it('is one line of at most 200 characters', () => {
  const title = of({ graphs: [{ type: 'a'.repeat(300) }] });
  expect(title).toHaveLength(200);
  expect(title.endsWith('…')).toBe(true);
});
