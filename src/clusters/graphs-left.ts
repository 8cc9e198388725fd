import type { GraphRequest } from '../core/graph-run/index.js';
import { isMapping } from '../core/plain-value.js';
import type { RunTransactions, Store } from '../store/index.js';

export type GraphsLeft =
  | { readonly ok: true; readonly graphs: readonly GraphRequest[] }
  /** `why` says of the run what it is, e.g. `has not ended`; `hint` what to do instead. */
  | { readonly ok: false; readonly why: string; readonly hint: string };

/** What an earlier run's transactions do not say. */
export interface SinceThen {
  /** Ids of the nodes that the cluster has now. */
  readonly nodes: readonly number[];
  /** Transactions of its graphs that lost tasks, also of those that ended well all the same. */
  readonly withLosses: ReadonlySet<number>;
}

/**
 * Graphs of an earlier run that are left to do: the first that did not end well, and all after it. Of a run that ended
 * well although it lost tasks on nodes that it could do without: the first with losses, and all after it. Nodes that
 * were asked for by id and left the cluster since are left out.
 */
export function graphsLeft({ run, graphs }: RunTransactions, since: SinceThen): GraphsLeft {
  const refuse = (why: string, hint = 'Start a new run, without `from`.'): GraphsLeft => ({ ok: false, why, hint });
  if (run.status === 'pending' || run.status === 'running') return refuse('has not ended', 'Wait for it, or stop it.');
  if (run.mode !== 'apply') return refuse(`was a ${run.mode}: it changed nothing`);
  if (graphs.length === 0) return refuse('is no run of graphs', 'Name the transaction that execute answered with.');
  const broken = graphs.findIndex(({ status }) => status !== 'ready');
  const first = broken >= 0 ? broken : graphs.findIndex(({ id }) => since.withLosses.has(id));
  if (first < 0) return refuse('ended well: nothing is left to do');
  const left: GraphRequest[] = [];
  for (const { graphType, input } of graphs.slice(first)) {
    const asked = isMapping(input) ? input : {};
    const { nodes, ...rest } = asked as Partial<GraphRequest>;
    const type = graphType ?? 'default';
    const there = nodes?.filter((id) => since.nodes.includes(id));
    if (nodes !== undefined && there!.length === 0) {
      return refuse(`was to execute graph ${type} on nodes ${nodes.join(', ')}, which all left the cluster since`);
    }
    left.push({ ...rest, ...(there === undefined ? {} : { nodes: there }), type });
  }
  return { ok: true, graphs: left };
}

/** `graphsLeft`, with what the store knows besides. */
export async function readGraphsLeft(
  store: Pick<Store, 'nodes' | 'taskHistory'>,
  earlier: RunTransactions,
): Promise<GraphsLeft> {
  const { clusterId } = earlier.run;
  const nodes = clusterId === null ? [] : await store.nodes.list({ clusterId });
  const withLosses = new Set<number>();
  for (const { id } of earlier.graphs) {
    const counts = await store.taskHistory.count(id, { statuses: ['failed', 'dep_failed'] });
    if (Object.values(counts).some((count) => count > 0)) withLosses.add(id);
  }
  return graphsLeft(earlier, { nodes: nodes.map(({ id }) => id), withLosses });
}
