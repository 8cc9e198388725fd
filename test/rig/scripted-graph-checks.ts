import { expect } from 'vitest';
import type { NamedPlan } from '../../src/core/scheduler/named-plan.ts';
import type { TaskEvent } from './scripted-graph.ts';

/**
 * Compares the observations on the nodes with the plan, knowing nothing of the scheduler: all requirements of a task had ended
 * before it began, a node never ran two tasks at a time, and no attempt ran twice.
 */
export function expectLegal(plan: NamedPlan, events: readonly TaskEvent[]): void {
  const keyOf = ({ task, node }: TaskEvent): string => `${task}@${node}`;
  const began = new Map<string, number>();
  const ended = new Map<string, number>();
  const busy = new Map<string, string>();
  const attempts = new Set<string>();
  events.forEach((event, at) => {
    const key = keyOf(event);
    if (event.what === 'start') {
      expect(busy.get(event.node), `${key} began on a busy node`).toBeUndefined();
      busy.set(event.node, key);
      const attempt = `${key}#${event.generation}`;
      expect(attempts.has(attempt), `${attempt} ran twice`).toBe(false);
      attempts.add(attempt);
      if (!began.has(key)) began.set(key, at);
    } else {
      busy.delete(event.node);
      ended.set(key, at);
    }
  });
  const before = [
    ...plan.edges,
    ...(plan.joins ?? []).flatMap((join) => join.before.flatMap((from) => join.after.map((to) => [from, to] as const))),
  ];
  for (const [from, to] of before) {
    if (from === to || !began.has(from) || !began.has(to)) continue;
    expect(ended.get(from), `${from} ends before ${to} begins`).toBeLessThan(began.get(to)!);
  }
}
