import fc from 'fast-check';
import type { Simulation } from '../../../src/core/scheduler/simulate.ts';

export interface PlanShape {
  readonly failures?: boolean;
  readonly tolerant?: boolean;
  readonly stop?: boolean;
  /** `tolerated`: only a node that the run can miss, as the reference refuses any other. */
  readonly offline?: boolean | 'tolerated';
  readonly retries?: boolean;
  /** Every node's tasks in one chain, so that the losses of a failure do not depend on timing. */
  readonly chained?: boolean;
}

const side = fc.array(fc.nat(99), { minLength: 1, maxLength: 6, size: 'max' });

/** Random acyclic plans: tasks are numbered, edges and joins go from lower to higher numbers. */
export function randomPlans(shape: PlanShape = {}): fc.Arbitrary<Simulation> {
  return fc
    .record({
      kinds: fc.array(fc.constantFrom('node', 'node', 'node', 'sync'), { minLength: 1, maxLength: 6, size: 'max' }),
      tasks: fc.array(
        fc.record({
          name: fc.nat(7),
          node: fc.nat(5),
          type: fc.constantFrom('task', 'task', 'task', 'task', 'noop', 'skipped'),
          forgiven: fc.nat(9),
          retries: fc.nat(3),
          fails: fc.nat(9),
        }),
        { maxLength: 22, size: 'max' },
      ),
      edges: fc.array(fc.tuple(fc.nat(21), fc.nat(21)), { maxLength: 20, size: 'max' }),
      joins: fc.array(fc.tuple(side, side, fc.nat(99)), { maxLength: 3, size: 'max' }),
      maxNodes: fc.nat(4),
      limited: fc.array(fc.tuple(fc.nat(7), fc.integer({ min: 1, max: 2 })), { maxLength: 3 }),
      groups: fc.array(fc.tuple(fc.array(fc.nat(5), { maxLength: 5 }), fc.nat(3)), { maxLength: 3 }),
      offline: fc.nat(20),
      stopAfter: fc.nat(25),
    })
    .map((draw) => {
      const nodes = draw.kinds.map((kind, n) => ({ id: `${n + 1}`, kind: kind as 'node' | 'sync' }));
      const taken = new Set<string>();
      const tasks = draw.tasks.flatMap((task) => {
        const node = nodes[task.node % nodes.length]!.id;
        const key = `t${task.name}@${node}`;
        if (taken.has(key)) return [];
        taken.add(key);
        return [
          {
            id: `t${task.name}`,
            node,
            type: task.type,
            ...(task.forgiven === 0 ? { fail_on_error: false } : {}),
            ...(shape.retries && task.retries > 0
              ? { retry: { count: task.retries, interval: task.retries * 10 } }
              : {}),
            fails: task.fails === 0,
          },
        ];
      });
      const keys = tasks.map((task) => `${task.id}@${task.node}`);
      const edges = draw.edges.flatMap(([a, b]) => {
        if (a >= keys.length || b >= keys.length || a === b) return [];
        return [[keys[Math.min(a, b)]!, keys[Math.max(a, b)]!] as [string, string]];
      });
      if (shape.chained) {
        for (const { id } of nodes) {
          const own = keys.filter((key) => key.endsWith(`@${id}`));
          for (let i = 1; i < own.length; i++) edges.push([own[i - 1]!, own[i]!]);
        }
      }
      const joins = draw.joins.flatMap(([before, after, draw]) => {
        if (keys.length < 2) return [];
        const cut = 1 + (draw % (keys.length - 1));
        return [
          {
            before: before.map((t) => keys[t % cut]!),
            after: after.map((t) => keys[cut + (t % (keys.length - cut))]!),
          },
        ];
      });
      const named = draw.groups.map(([ids, tolerance], g) => ({
        name: `g${g}`,
        node_ids: [...new Set(ids)].map((n) => `${n + 1}`),
        fault_tolerance: tolerance,
      }));
      const all = { name: 'all', node_ids: nodes.map((n) => n.id), fault_tolerance: nodes.length };
      const groups = shape.tolerant
        ? [all]
        : draw.stopAfter % 2 === 0
          ? [...named.filter((g) => g.fault_tolerance > 0), all]
          : named;
      const critical = (id: string) =>
        groups.every((g) => !g.node_ids.includes(id)) ||
        groups.some((g) => g.node_ids.includes(id) && g.fault_tolerance === 0);
      const victim = nodes[draw.offline]?.id;
      return {
        id: 'random',
        nodes,
        tasks: tasks.map(({ fails: _, ...task }) => task),
        edges,
        joins,
        limits: {
          max_nodes: draw.maxNodes,
          per_task: Object.fromEntries(draw.limited.map(([name, n]) => [`t${name}`, n])),
        },
        fault_tolerance_groups: groups,
        outcomes: shape.failures
          ? Object.fromEntries(tasks.flatMap((task, t) => (task.fails ? [[keys[t]!, 'fail' as const]] : [])))
          : {},
        offline:
          shape.offline && victim !== undefined && (shape.offline !== 'tolerated' || !critical(victim)) ? [victim] : [],
        ...(shape.stop ? { stop_after: draw.stopAfter } : {}),
      };
    });
}
