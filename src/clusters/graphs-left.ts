import type { GraphRequest } from '../core/graph-run/index.js';
import type { RunTransactions } from '../store/index.js';

export type GraphsLeft =
  | { readonly ok: true; readonly graphs: readonly GraphRequest[] }
  /** `why` says of the run what it is, e.g. `has not ended`; `hint` what to do instead. */
  | { readonly ok: false; readonly why: string; readonly hint: string };

/** Graphs of an earlier run that are left to do: the first that did not end well, and all after it. */
export function graphsLeft({ run, graphs }: RunTransactions): GraphsLeft {
  const refuse = (why: string, hint = 'Start a new run, without `from`.'): GraphsLeft => ({ ok: false, why, hint });
  if (run.status === 'pending' || run.status === 'running') return refuse('has not ended', 'Wait for it, or stop it.');
  if (run.mode !== 'apply') return refuse(`was a ${run.mode}: it changed nothing`);
  if (graphs.length === 0) return refuse('is no run of graphs', 'Name the transaction that execute answered with.');
  const first = graphs.findIndex(({ status }) => status !== 'ready');
  if (first < 0) return refuse('ended well: nothing is left to do');
  return {
    ok: true,
    graphs: graphs.slice(first).map(({ graphType, input }) => {
      const asked = typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {};
      return { ...(asked as Partial<GraphRequest>), type: graphType ?? 'default' };
    }),
  };
}
