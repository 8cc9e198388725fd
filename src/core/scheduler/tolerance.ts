import { given } from '../data/given.ts';
import type { RunResult } from '../words.ts';

interface ToleratedGraph {
  readonly critical: readonly number[];
  readonly groups: readonly { readonly nodes: readonly number[]; readonly tolerance: number }[];
}

/**
 * What a node has lost, as messages between parts contain it. 0: nothing. 1: tasks that failed, or that failed ones block. 2: only
 * what absent nodes had taken with them before anything failed: it is one, or its tasks wait for those of one. A failure does not take a
 * task again.
 */
export const NO_LOSS = 0;
export const FAILING = 1;
export const ABSENT = 2;

/** Counts failing nodes against the fault tolerance groups of a run. */
export interface ToleranceCount {
  /** @param loss one of the three above */
  set(node: number, loss: number): void;
  /** `[node, loss]` of the nodes that have lost something. */
  losses(): [number, number][];
  /** Why the run fails. */
  readonly verdict: Exclude<FailureCause, 'rollout'> | 'none';
  /**
   * Why nothing new may start. As `verdict`, but for absent nodes in no group: nobody said how many of those may be missing, so
   * that the run fails, after the others have done what they can.
   */
  readonly stop: Exclude<FailureCause, 'rollout'> | 'none';
}

/**
 * Why a graph failed: a critical node failed, more nodes of a group than it tolerates, or as many nodes of a rollout as stop it; or an operator
 * has ended a rollout.
 */
export type FailureCause = 'critical' | 'tolerance' | 'rollout';

/** How a graph ended. `why`: only of a failed one. */
export interface GraphEnd {
  readonly result: RunResult;
  readonly why?: FailureCause;
}

/** The end in a command that ends the run; nothing in the one of a part, whose coordinator knows it. */
export const endIn = ({ result, why }: Partial<GraphEnd>): GraphEnd | undefined =>
  result && { result, ...given({ why }) };

export const endOfGraph = ({ verdict }: ToleranceCount, otherwise: RunResult): GraphEnd =>
  verdict === 'none' ? { result: otherwise } : { result: 'failed', why: verdict };

export function countTolerance(graph: ToleratedGraph): ToleranceCount {
  const groupsOf: number[][] = graph.critical.map(() => []);
  graph.groups.forEach((group, g) => {
    for (const node of group.nodes) groupsOf[node]!.push(g);
  });
  const losses = new Uint8Array(graph.critical.length);
  const failed = graph.groups.map(() => 0);
  let critical = 0;
  let spared = 0;
  let exceeded = 0;
  const isSpared = (node: number): boolean =>
    losses[node] === ABSENT && graph.critical[node] === 1 && groupsOf[node]!.length === 0;
  return {
    set(node, loss) {
      const change = Number(loss !== NO_LOSS) - Number(losses[node] !== NO_LOSS);
      spared -= Number(isSpared(node));
      losses[node] = loss;
      spared += Number(isSpared(node));
      if (change === 0) return;
      if (graph.critical[node] === 1) critical += change;
      for (const g of groupsOf[node]!) {
        const { tolerance } = graph.groups[g]!;
        if (failed[g]! > tolerance) exceeded--;
        failed[g]! += change;
        if (failed[g]! > tolerance) exceeded++;
      }
    },
    losses: () => [...losses.entries()].filter(([, loss]) => loss !== NO_LOSS),
    get verdict() {
      return critical > 0 ? 'critical' : exceeded > 0 ? 'tolerance' : 'none';
    },
    get stop() {
      return critical > spared ? 'critical' : exceeded > 0 ? 'tolerance' : 'none';
    },
  };
}

/**
 * How many of `total` nodes may fail. Absent or unreadable: more than all of them (the run never stops). `"20%"`: rounded
 * down. A number: that many. A negative number: that many must succeed.
 */
export function tolerated(value: unknown, total: number): number {
  const never = total + 1;
  if (typeof value === 'string') {
    const percent = /^\s*(\d+)\s*%\s*$/.exec(value);
    if (percent !== null) return Math.floor((Number(percent[1]) * total) / 100);
    const number = /^\s*([+-]?\d+)\s*$/.exec(value);
    return number === null ? never : tolerated(Number(number[1]), total);
  }
  if (typeof value !== 'number' || !Number.isFinite(value)) return never;
  return value >= 0 ? Math.trunc(value) : Math.max(0, total + Math.trunc(value));
}
