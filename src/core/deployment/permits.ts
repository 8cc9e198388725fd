import type { ReturnedPermits } from '../permits/answer.ts';
import type { Call } from '../words.ts';
import type { BaremetalState, NodeProgress } from './progress.ts';

/** What comes next for nodes whose machines need permits: a call of some of them, or permits for others. */
export type NextWithPermits =
  | { readonly call: Call; readonly nodes: readonly number[] }
  | { readonly wants: readonly number[] };

/** Prepared nodes are deployed before others are touched: their machines are out of service. */
export function nextWithPermits(
  { nodes, permits = [], needAgain = [] }: BaremetalState,
  of: readonly number[],
): NextWithPermits {
  const inState = (state: NodeProgress['state']): number[] =>
    of.filter((node) => nodes[node]!.state === state && nodes[node]!.retrying === undefined);
  const held = new Set(permits);
  const without = new Set(needAgain.filter((node) => !held.has(node)));
  const prepared = inState('prepared');
  const ready = prepared.filter((node) => !without.has(node));
  if (ready.length > 0) return { call: 'deploy', nodes: ready };
  const waiting = inState('waiting');
  const permitted = waiting.filter((node) => held.has(node));
  return permitted.length > 0 ? { call: 'prepare', nodes: permitted } : { wants: [...prepared, ...waiting] };
}

/** These are prepared, and are not deployed before they have permits again. */
export const needAgain = (state: BaremetalState, nodes: readonly number[]): BaremetalState => ({
  ...state,
  needAgain: [...new Set([...(state.needAgain ?? []), ...nodes])],
});

/** The run may touch the machines of these nodes. */
export const withPermits = (state: BaremetalState, nodes: readonly number[]): BaremetalState => ({
  ...state,
  permits: [...new Set([...(state.permits ?? []), ...nodes])],
});

/** @param keep nodes that are about to be touched */
export function returnPermits(
  state: BaremetalState,
  keep: readonly number[] = [],
): { state: BaremetalState; returned: ReturnedPermits } {
  const { nodes, permits = [], current } = state;
  const kept = new Set([...keep, ...(current?.nodes ?? [])]);
  const isOver = (node: number): boolean => {
    const { running, retrying, aborting } = nodes[node]!;
    return !kept.has(node) && running === undefined && retrying === undefined && aborting !== true;
  };
  const over = permits.filter(isOver);
  const left = new Set(over);
  const inState = (...states: readonly NodeProgress['state'][]) =>
    over.filter((node) => states.includes(nodes[node]!.state));
  return {
    state: left.size === 0 ? state : { ...state, permits: permits.filter((node) => !left.has(node)) },
    // A machine that was prepared, and is not deployed, does not serve.
    returned: {
      done: inState('success'),
      failed: inState('failed', 'prepared'),
      unused: inState('waiting', 'not_reached'),
    },
  };
}
