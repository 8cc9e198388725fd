import type { Scheduler } from './state.ts';

/** Adds a ready task to the queue of its node and class. */
export function enqueue(s: Scheduler, task: number): void {
  const { slots } = s;
  if (slots.inQueue[task] === 1) return;
  slots.inQueue[task] = 1;
  slots.queueOf[task]!.push(task);
}

/** Lets the next dispatch visit the node, when it is free. */
export function addCandidate(s: Scheduler, node: number): void {
  const { slots } = s;
  if (slots.isCandidate[node] === 1 || s.holder[node] !== -1) return;
  slots.isCandidate[node] = 1;
  slots.candidates.push(node);
}
