import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalJson } from '../../../src/documents/canonical-json.ts';
import { digestOf, type Plan, planGraph, readPlanInput } from '../../../src/graph/index.ts';
import { serializedTasks } from '../../../src/graph/result.ts';

const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
const data = '../../data/fuel';

// People compare digests of different versions: the digested content must not change by accident.
it.each(['aio', 'six'])('the digest of the recorded cluster %s is unchanged', (name) => {
  const input = readPlanInput({ tasks: read(`${data}/tasks.raw.json`), cluster: read(`${data}/cluster.${name}.json`) });
  const planned = input.ok ? planGraph(input.input) : input;
  if (!planned.ok) throw new Error(JSON.stringify(planned.problems));
  expect(digestOf(planned.plan)).toEqual(read(`./${name}.digest.json`));
});

it('the hash of a node is that of its tasks as canonical JSON, whatever their relations', () => {
  const NODES = ['1', '10', '2', 'ü', 'master', 'null'];
  const index = fc.nat({ max: 11 });
  const plans = fc
    .record({
      instances: fc.array(
        fc.record({
          node: fc.nat({ max: NODES.length - 1 }),
          id: fc.constantFrom('a', 'b', 'netconfig', 'ä"'),
          type: fc.constantFrom('shell', 'skipped'),
          failOnError: fc.constantFrom(true, false, undefined, null),
          requires: fc.array(index, { maxLength: 4 }),
          requiredFor: fc.array(index, { maxLength: 4 }),
        }),
        { minLength: 1, maxLength: 12 },
      ),
      targets: fc.array(fc.uniqueArray(index, { maxLength: 12 }), { minLength: 12, maxLength: 12 }),
    })
    .map(({ instances, targets }): Plan => {
      const parameters = { cmd: 'x', timeout: 3n };
      const known = (at: number) => at < instances.length;
      return {
        nodes: NODES,
        tasks: [],
        instances: instances.map((one) => ({ ...one, task: 0, parameters, ranBefore: false })),
        byNode: NODES.map((_, node) => instances.flatMap((one, at) => (one.node === node ? [at] : []))),
        targets: targets.map((of) => ({ instances: of.filter(known).sort((a, b) => a - b), shared: false })),
        faultTolerance: [],
        anyChoices: [],
        subgraphs: [],
        problems: [],
      };
    });
  fc.assert(
    fc.property(plans, (plan) => {
      for (const [node, key] of plan.nodes.entries()) {
        const tasks = serializedTasks(plan, node).map((task) =>
          task.parameters === undefined ? task : { ...task, parameters: { cmd: 'x', timeout: '3' } },
        );
        if (tasks.length === 0 && key !== 'null') continue;
        const relations = tasks.reduce(
          (sum, { requires = [], required_for = [] }) => sum + requires.length + required_for.length,
          0,
        );
        expect(digestOf(plan).by_node[key]).toMatchObject({
          relations,
          sha256: createHash('sha256').update(canonicalJson(tasks)).digest('hex'),
        });
      }
    }),
  );
});
