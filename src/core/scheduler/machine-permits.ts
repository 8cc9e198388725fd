import type { ReturnedPermits } from '../permits/answer.ts';
import { addCandidate } from './ready.ts';
import type { Scheduler } from './state.ts';
import { isStopping } from './state.ts';
import { code, isFailed, isFinal } from './status.ts';

/** Whether a task may touch the machine of its node now; if not, the node is remembered. */
export function hasPermit({ machines, noWork }: Scheduler, node: number, task: number): boolean {
  if (machines === undefined || noWork[task] === 1 || machines.held.has(node)) return true;
  machines.wanted.add(node);
  return false;
}

/** The driver has permits for these nodes. */
export function permit(s: Scheduler, nodes: readonly number[]): void {
  for (const node of nodes) {
    s.machines?.held.add(node);
    s.machines?.wanted.delete(node);
    addCandidate(s, node);
  }
}

/** Tells the driver which permits are needed, and which no more. */
export function tellPermits(s: Scheduler): void {
  const { machines } = s;
  if (machines === undefined) return;
  const isOver = s.finished || isStopping(s);
  // Nodes that an operator retries keep what they have.
  const isIdle = s.paused || (s.rollouts?.isBarred === true && s.rollouts.retried.size === 0);
  const back = [...machines.held].filter(
    (node) => s.holder[node] === -1 && (isOver || isIdle || !hasReadyTask(s, node)),
  );
  for (const node of back) {
    machines.held.delete(node);
    if (hasReadyTask(s, node)) machines.wanted.add(node);
  }
  for (const node of machines.wanted) if (!hasReadyTask(s, node)) machines.wanted.delete(node);
  const wants = isOver || isIdle ? [] : [...machines.wanted].sort((a, b) => a - b);
  const told = wants.join();
  if (back.length === 0 && told === machines.told) return;
  machines.told = told;
  s.commands.push({ type: 'permits', wants: heaviestFirst(s, wants), back: returned(s, back) });
}

/** Where not all can be touched, those first from which the most work follows. */
function heaviestFirst(s: Scheduler, nodes: readonly number[]): readonly number[] {
  const rankOf = (node: number): number =>
    Math.min(...s.slots.queues[node]!.flatMap(({ ready }) => (ready.size === 0 ? [] : s.graph.rank[ready.peek()!]!)));
  const ranks = new Map(nodes.map((node) => [node, rankOf(node)]));
  return nodes.toSorted((a, b) => ranks.get(a)! - ranks.get(b)!);
}

function returned(s: Scheduler, nodes: readonly number[]): ReturnedPermits {
  const stateOf = (node: number): keyof ReturnedPermits => {
    if (s.failedOn[node]! > 0) return 'failed';
    const isDone = s.tasksOfNode[node]!.every((task) => isFinal(s.status[task]!) && !isFailed(s.status[task]!));
    return isDone ? 'done' : 'unused';
  };
  const inState = (state: keyof ReturnedPermits) => nodes.filter((node) => stateOf(node) === state);
  return { done: inState('done'), failed: inState('failed'), unused: inState('unused') };
}

/** Whether a free node would start a task now, if it might. */
function hasReadyTask(s: Scheduler, node: number): boolean {
  if (s.offline[node] === 1 || s.failedOn[node]! > 0) return false;
  return s.slots.queues[node]!.some(({ ready }) => {
    let top = ready.peek();
    while (top !== undefined && s.status[top] !== code.ready) {
      s.slots.inQueue[ready.pop()!] = 0;
      top = ready.peek();
    }
    return top !== undefined;
  });
}
