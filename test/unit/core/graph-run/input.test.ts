import { expect, it } from 'vitest';
import { parseGraphRunInput } from '../../../../src/core/graph-run/input.ts';

it('all known fields are accepted unchanged', () => {
  const input = {
    cluster: 1,
    graphs: [{ type: 'default', nodes: [1, 2], tasks: ['net'] }],
    mode: 'noop_run',
    force: true,
    debug: false,
    subgraphs: [{ start: ['a'], end: ['b/1-3'] }, {}],
    max_nodes: 0,
    hold_on_failure: true,
    started_by: 'nina',
    reason: 'why not',
    rollouts: {
      compute: {
        ...{ first: '10%', soak: '5m', stop_at: { percent: 5 }, order: ['rack', 'name'], checks: ['up'] },
        // biome-ignore lint/suspicious/noThenProperty: the word of the document
        then: { add: 2 },
      },
      ceph: null,
    },
  };
  expect(parseGraphRunInput([input])).toEqual({ ok: true, input });
});

it.each([
  [[{ cluster: '1' }], ["field 'cluster' must be a whole number above 0"]],
  [
    [
      {
        cluster: 1,
        rollouts: { a: { first: 0, stop_at: { failed: 1, percent: 2 } }, b: { soak: '5m', order: ['name', 'rack'] } },
      },
    ],
    [
      "field 'rollouts.a.first' must be a number of nodes above 0, or a percentage",
      "field 'rollouts.a.stop_at' must be {failed: N} or {percent: N}",
      "field 'rollouts.b.order' must have name at its end: no two nodes have the same",
    ],
  ],
  [[{ cluster: 1, graphs: [] }], ["field 'graphs' must have at least 1"]],
  [
    [{ cluster: 1, graphs: [{ type: 'a' }, { type: 'a' }] }],
    ["field 'graphs' names a twice, but a run executes a type once"],
  ],
  [
    [{ clusters: 1, graphs: [{ type: '', nodes: [0], x: 1 }] }],
    [
      "missing field 'cluster'",
      expect.stringContaining("unknown field 'clusters'"),
      "field 'graphs[0].type' must be one line of 1 to 1000 characters",
      "field 'graphs[0].nodes[0]' must be a whole number above 0",
      "unknown field 'graphs[0].x' (known: type, nodes, tasks, missed)",
    ],
  ],
  [
    [{ cluster: 1, subgraphs: [{ start: 'a' }, 3] }],
    ["field 'subgraphs[0].start' must be a list", "field 'subgraphs[1]' must be an object, not a number"],
  ],
  [[{ cluster: 1, from: 2, sequence: 3 }], ["fields 'sequence' and 'from' exclude each other: give one of them"]],
  [[{ cluster: 1, __proto__: null, constructor: 1 }], [expect.stringContaining("unknown field 'constructor'")]],
  [[], [expect.stringContaining('one JSON object')]],
  [[{ cluster: 1 }, {}], [expect.stringContaining('one JSON object')]],
  [[null], [expect.stringContaining('one JSON object')]],
])('%j is refused with every problem', (args, problems) => {
  expect(parseGraphRunInput(args)).toEqual({ ok: false, problems });
});
