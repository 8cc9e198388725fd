import { type Join, type Links, linkTasks } from '../../core/scheduler/links.ts';
import type { Plan } from '../plan.ts';

/** The order of a plan's instances: single pairs, and "all of these before all of those". */
export function linksOf(plan: Plan): Links {
  const users = new Map<number, [number[], number[]]>();
  for (const [side, set, at] of relationsOf(plan)) {
    if (!plan.targets[set]!.shared) continue;
    let of = users.get(set);
    if (of === undefined) {
      of = [[], []];
      users.set(set, of);
    }
    of[side].push(at);
  }
  const joins = [...users].flatMap(([set, [waiting, awaited]]): Join[] => {
    const { instances } = plan.targets[set]!;
    return [
      { before: instances, after: waiting },
      { before: awaited, after: instances },
    ];
  });
  return linkTasks(
    plan.instances.map(({ id }) => id),
    edgesOf(plan),
    joins,
  );
}

/** By instance: the sets that it waits for (0) and that wait for it (1). */
function* relationsOf({ instances }: Plan): Generator<readonly [side: 0 | 1, set: number, at: number]> {
  for (const [at, { requires, requiredFor }] of instances.entries()) {
    for (const set of requires) yield [0, set, at];
    for (const set of requiredFor) yield [1, set, at];
  }
}

/** The single pairs, one at a time: a large plan has millions. */
function* edgesOf(plan: Plan): Generator<readonly [number, number]> {
  for (const [side, set, at] of relationsOf(plan)) {
    const { instances, shared } = plan.targets[set]!;
    if (!shared) for (const other of instances) yield side === 0 ? [other, at] : [at, other];
  }
}
