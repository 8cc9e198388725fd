import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  checkGraph,
  digestOf,
  drawGraph,
  explainPlan,
  findCycles,
  planDot,
  planGraph,
  planText,
  readPlanInput,
  readTasks,
  schedulerGraph,
  serializedText,
} from '../../src/graph/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON that is about to be broken
type Json = any;

const page = readFileSync(new URL('../../docs/reference/graphs.md', import.meta.url), 'utf8');
const example: Json = JSON.parse(/```json file=shop.json\n([\s\S]*?)```/.exec(page)![1]!);
example.tasks.push({ id: 'all', type: 'group', roles: '*', tasks: ['backup'], fault_tolerance: '10%' });
example.cluster.deployment_info.common.propagate_task_deploy = true;
Object.assign(example, {
  old_state: { states: { s: structuredClone(example.cluster.deployment_info) }, tasks: { shop: 's' } },
  selected_tasks: ['shop'],
  subgraphs: [{ start: ['shop'] }],
  any_choices: [{ roles: ['*'], chosen: ['1'] }],
  legacy_plugin_tasks: [{ type: 'shell', role: ['web'], stage: 'deploy/1' }],
});

const expressions = [
  '$',
  '2**70',
  '$.(',
  'null',
  '[1, 2].select($)',
  '{1 => 2}',
  'old($.x)',
  'regex(a)',
  'changed($)',
  '1/0',
];
const odd = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e308,
    '',
    '/',
    '/(/',
    '*',
    'self',
    'master',
    'null',
    '__proto__',
  ),
  fc.constantFrom<Json>(
    '{CLUSTER_ID',
    '{CLUSTER_ID:{MASTER_IP}}',
    '{x!r:>{y}}',
    'settings:a ==',
    'settings:shop.version.x',
  ),
  fc.constantFrom<Json>(
    [],
    {},
    [null],
    [[]],
    ['/.*/'],
    { name: null },
    { name: '/.*/', role: 'self', policy: 'any' },
    'stage',
    'group',
  ),
  fc.constantFrom(...expressions).map((yaql_exp): Json => ({ yaql_exp })),
  fc.constant(JSON.parse('{"__proto__": {"a": 1}, "yaql_exp": 1}') as Json),
);

/** Every place in a value, as the keys that lead there. */
function places(value: Json, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.keys(value).flatMap((key) => places(value[key], [...path, key]))];
}

const everywhere = places(example).slice(1);
const broken = fc
  .array(fc.tuple(fc.constantFrom(...everywhere), fc.option(odd, { nil: undefined })), { minLength: 1, maxLength: 3 })
  .map((changes) => {
    const value = structuredClone(example);
    for (const [path, wrong] of changes) {
      const parent = path.slice(0, -1).reduce((at: Json, key) => at?.[key], value);
      if (typeof parent !== 'object' || parent === null) continue;
      // Removed by an earlier change.
      if (Array.isArray(parent) && Number(path.at(-1)) >= parent.length) continue;
      if (wrong === undefined && Array.isArray(parent)) parent.splice(Number(path.at(-1)), 1);
      else if (wrong === undefined) delete parent[path.at(-1)!];
      else parent[path.at(-1)!] = structuredClone(wrong);
    }
    return value;
  });

it('whatever a file contains, it is planned or refused with places, and never crashes', () => {
  fc.assert(
    fc.property(broken, (value) => {
      const { tasks } = readTasks(value);
      checkGraph(tasks);
      const definitions = tasks.map(({ task }) => task);
      drawGraph(definitions);
      drawGraph(definitions, { format: 'mermaid' });
      const read = readPlanInput(value);
      const planned = read.ok ? planGraph(read.input) : read;
      if (!read.ok || !planned.ok || !('plan' in planned)) {
        const errors = (planned.ok ? [] : planned.problems).filter(({ severity }) => severity === 'error');
        expect(errors.length).toBeGreaterThan(0);
        for (const { code, message, path } of errors) expect([code, message, path].every(Boolean)).toBe(true);
        return;
      }
      expect(() => JSON.parse([...serializedText(planned.plan)].join(''))).not.toThrow();
      findCycles(planned.plan);
      planText(explainPlan(planned.plan, read.input));
      planDot(planned.plan);
      digestOf(planned.plan);
      if (planned.plan.instances.length > 0) schedulerGraph(planned.plan);
    }),
    { numRuns: 1500 },
  );
});
