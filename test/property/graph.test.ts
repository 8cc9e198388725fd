import { createTaskEngine, nodeState, prepareData, TaskScope, YaqlError } from '@sitewright/yaql';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FieldEvaluator } from '../../src/graph/fields/evaluator.ts';
import { conditionValue } from '../../src/graph/fields/plain-data.ts';
import {
  findCycles,
  linksOf,
  type Plan,
  planGraph,
  readPlanInput,
  related,
  schedulerGraph,
} from '../../src/graph/index.ts';
import { MissingFactsError } from '../../src/graph/problem.ts';
import { serializedGraph } from '../rig/serialized-graph.ts';

const KEYS = ['a', 'b', 'c', 'uid'];
const value = fc.oneof(
  fc.constantFrom(0, 1, null, '', 'x', true),
  fc.array(fc.constantFrom('1', '2', 'x'), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('p', 'q'), fc.constantFrom(0, 1, 'x'), { maxKeys: 2 }),
);
const part = fc.dictionary(fc.constantFrom(...KEYS), value, { maxKeys: 4 });
const state = fc.record({ common: part, nodes: fc.record({ '1': part, '2': part, '3': part }) });

const operand = fc.constantFrom(
  '$.a',
  '$.get(a)',
  '$.get(b, 1)',
  '$.get(c, {}).get(p)',
  '$',
  '$node.get(a)',
  '1',
  '$.get(a, []).where($ = x)',
);
const atom = fc.oneof(
  operand.map((one) => `changed(${one})`),
  fc.array(operand, { maxLength: 3 }).map((all) => `changedAny(${all.join(', ')})`),
  fc.array(operand, { maxLength: 3 }).map((all) => `changedAll(${all.join(', ')})`),
  operand.map((one) => `($.get(uid) in added(${one}))`),
  operand.map((one) => `(x in deleted(${one}))`),
  fc.constant("$.get(a, []).any($ = '1')"),
  fc.constant('old($.get(b)) = new($.get(b))'),
);
const expression = fc.letrec<{ all: string }>((tie) => ({
  all: fc.oneof(
    { depthSize: 'small' },
    atom,
    fc.tuple(tie('all'), fc.constantFrom('and', 'or'), tie('all')).map(([a, op, b]) => `(${a} ${op} ${b})`),
    tie('all').map((one) => `not (${one})`),
  ),
})).all;

/** The value, or the class of the error: its place is tested elsewhere. */
function outcome(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    // Planning names the whole path of a missing key, the language only the key.
    if (error instanceof MissingFactsError || (error instanceof YaqlError && error.is('KeyError')))
      return 'missing key';
    return `failed: ${(error as Error).message.replace(/^\w+(\.\w+)?: /, '').replace(/ at line .*$/s, '')}`;
  }
}

describe('evaluation', () => {
  it('values shared by nodes equal those evaluated for each', () => {
    fc.assert(
      fc.property(
        state,
        fc.option(state, { nil: undefined }),
        fc.array(expression, { minLength: 1, maxLength: 4 }),
        (now, before, expressions) => {
          const old = before === undefined ? {} : { old: { states: { s: before }, tasks: { t: 's' } } };
          const evaluator = new FieldEvaluator({ state: now, ...old });
          const engine = createTaskEngine();
          for (const text of expressions) {
            for (const node of ['1', '2', '3'] as const) {
              const had = before?.nodes[node];
              const side =
                had === undefined || Object.keys(had).length === 0
                  ? null
                  : nodeState(prepareData(before!.common), prepareData(had));
              const direct = new TaskScope(
                engine,
                nodeState(prepareData(now.common), prepareData(now.nodes[node])),
                side,
              );
              expect([text, node, outcome(() => evaluator.scope('t', node).evaluateCondition(text, []))]).toEqual([
                text,
                node,
                outcome(() => conditionValue(direct.evaluate(text))),
              ]);
            }
          }
        },
      ),
      { numRuns: 400 },
    );
  });
});

const TAGS = ['x', 'y', 'z'];
const names = ['t0', 't1', 't2', 't3', 't4'];
const relation = fc.record({
  name: fc.constantFrom(...names, '/t[0-2]/', '/.*/', 'nosuch'),
  role: fc.constantFrom('*', 'self', ['x'], ['x', 'y'], ['/[yz]/'], 'z'),
  policy: fc.constantFrom('all', 'any'),
});
const graph = fc.record({
  tasks: fc.tuple(
    ...names.map((id) =>
      fc.record({
        id: fc.constant(id),
        type: fc.constantFrom('shell', 'stage', 'puppet'),
        roles: fc.constantFrom('*', ['x'], ['y', 'z']),
        requires: fc.array(fc.constantFrom(...names, '/t[34]/'), { maxLength: 2 }),
        required_for: fc.array(fc.constantFrom(...names), { maxLength: 1 }),
        cross_depends: fc.array(relation, { maxLength: 2 }),
        cross_depended_by: fc.array(relation, { maxLength: 2 }),
      }),
    ),
  ),
  nodes: fc.array(fc.subarray(TAGS), { minLength: 1, maxLength: 9 }),
});

function planFor({ tasks, nodes }: { tasks: readonly unknown[]; nodes: readonly (readonly string[])[] }): Plan {
  const uids = nodes.map((_, at) => String(at + 1));
  const parts = Object.fromEntries([...uids, 'master', 'null'].map((uid) => [uid, {}]));
  const resolver = nodes.map((all_tags, at) => ({ uid: uids[at], all_tags }));
  const read = readPlanInput({ tasks, cluster: { resolver, deployment_info: { common: {}, nodes: parts } } });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const planned = planGraph(read.input);
  if (!planned.ok) throw new Error(JSON.stringify(planned.problems));
  return planned.plan;
}

/** All pairs "before after" that the relations of a plan mean. */
function pairsOf(plan: Plan): Set<string> {
  const pairs = new Set<string>();
  plan.instances.forEach((_, at) => {
    for (const one of related(plan, at, 'requires')) pairs.add(`${one} ${at}`);
    for (const one of related(plan, at, 'requiredFor')) pairs.add(`${at} ${one}`);
  });
  return pairs;
}

/** Whether some task comes before itself, found by closing the relation. */
function hasCircle(plan: Plan): boolean {
  const reach = plan.instances.map(() => new Set<number>());
  for (const pair of pairsOf(plan)) {
    const [before, after] = pair.split(' ').map(Number) as [number, number];
    reach[before]!.add(after);
  }
  for (let k = 0; k < reach.length; k++)
    for (const from of reach) if (from.has(k)) for (const to of reach[k]!) from.add(to);
  return reach.some((to, at) => to.has(at));
}

describe('order', () => {
  it('edges and joins express each pair of the relations once', () => {
    fc.assert(
      fc.property(graph, (input) => {
        const plan = planFor(input);
        if (hasCircle(plan)) return;
        const { successors } = linksOf(plan);
        const tasks = plan.instances.length;
        const linked = successors
          .slice(0, tasks)
          .flatMap((next, task) =>
            next.flatMap((to) => (to < tasks ? to : successors[to]!)).map((to) => `${task} ${to}`),
          );
        expect(new Set(linked).size).toBe(linked.length);
        expect(new Set(linked)).toEqual(pairsOf(plan));
      }),
      { numRuns: 500 },
    );
  });

  it('cycles are found exactly where they exist, and the scheduler agrees', () => {
    fc.assert(
      fc.property(graph, (input) => {
        const plan = planFor(input);
        const circle = hasCircle(plan);
        const found = findCycles(plan);
        expect(found.length > 0).toBe(circle);
        const pairs = pairsOf(plan);
        for (const { members } of found) {
          members.forEach((at, i) => {
            expect(pairs).toContain(`${at} ${members[(i + 1) % members.length]}`);
          });
        }
        if (plan.instances.length === 0) return;
        const compiled = schedulerGraph(plan);
        expect(compiled.ok ? 'runs' : compiled.refusal.reason).toBe(circle ? 'cycle' : 'runs');
      }),
      { numRuns: 500 },
    );
  });

  it('no task depends on itself, and every relation leads to a task of the result', () => {
    fc.assert(
      fc.property(graph, (input) => {
        const { tasks_graph } = serializedGraph(planFor(input));
        for (const [node, tasks] of Object.entries(tasks_graph)) {
          for (const { id, requires = [], required_for = [] } of tasks) {
            for (const end of [...requires, ...required_for]) {
              expect(`${end.name}@${end.node_id}`).not.toBe(`${id}@${node}`);
              expect(tasks_graph[String(end.node_id)]!.map((task) => task.id)).toContain(end.name);
            }
          }
        }
      }),
    );
  });
});
