import { type Join, type Links, linkTasks } from '../../core/scheduler/index.ts';
import type { Plan } from '../plan.ts';

/** The order of a plan's instances: single pairs, and "all of these before all of those". */
export function linksOf(plan: Plan): Links {
  const edges: (readonly [number, number])[] = [];
  const users = new Map<number, [number[], number[]]>();
  plan.instances.forEach(({ requires, requiredFor }, at) => {
    for (const [side, sets] of [requires, requiredFor].entries()) {
      for (const set of sets) {
        const { instances, shared } = plan.targets[set]!;
        if (!shared) for (const other of instances) edges.push(side === 0 ? [other, at] : [at, other]);
        else {
          let of = users.get(set);
          if (of === undefined) {
            of = [[], []];
            users.set(set, of);
          }
          of[side]!.push(at);
        }
      }
    }
  });
  const joins = [...users].flatMap(([set, [waiting, awaited]]): Join[] => {
    const { instances } = plan.targets[set]!;
    return [
      { before: instances, after: waiting },
      { before: awaited, after: instances },
    ];
  });
  return linkTasks(
    plan.instances.map(({ id }) => id),
    edges,
    joins,
  );
}
