import { given } from '../core/data/given.ts';
import { isMapping } from '../core/data/plain-value.ts';
import type { GraphRequest } from '../core/graph-run/input.ts';
import { runAgain } from '../core/next-steps.ts';
import { isTransactionOpen } from '../core/words.ts';
import type { RunTransactions, Store } from '../store/index.ts';

type GraphsLeft =
  | { readonly ok: true; readonly graphs: readonly GraphRequest[] }
  /** `why` describes the run, e.g. `has not ended`; `hint` is the alternative. */
  | { readonly ok: false; readonly why: string; readonly hint: string };

/** Tasks missing in an earlier run's transactions. */
export interface SinceThen {
  /** Ids of the cluster's current nodes. */
  readonly nodes: readonly number[];
  /** Transactions of its graphs with lost tasks, successful or not. */
  readonly withLosses: ReadonlySet<number>;
}

/**
 * The remaining graphs of an earlier run: the first one without success, and all after it. If the run succeeded but
 * lost tasks on optional nodes: the first one with losses, and all after it. Skips requested nodes that have left the
 * cluster since.
 */
export function graphsLeft({ run, graphs }: RunTransactions, since: SinceThen): GraphsLeft {
  const refuse = (why: string, hint: string): GraphsLeft => ({ ok: false, why, hint });
  if (isTransactionOpen(run.status)) return refuse('has not ended', 'Wait for it, or stop it.');
  if (run.mode !== 'apply')
    return refuse(`ran as ${run.mode}: it changed nothing`, `Apply it: ${runAgain(run.id)} --apply`);
  if (graphs.length === 0) return refuse('is not a graph run', 'Use the transaction in the answer of execute.');
  const broken = graphs.findIndex(({ status }) => status !== 'success' && status !== 'nothing_to_do');
  const first = broken >= 0 ? broken : graphs.findIndex(({ id }) => since.withLosses.has(id));
  if (first < 0) return refuse('succeeded: nothing is left to do', `Start it again: ${runAgain(run.id)}`);
  const left: GraphRequest[] = [];
  for (const { graphType, input } of graphs.slice(first)) {
    const asked = isMapping(input) ? input : {};
    const { nodes, ...rest } = asked as Partial<GraphRequest>;
    const type = graphType ?? 'default';
    const there = nodes?.filter((id) => since.nodes.includes(id));
    if (nodes !== undefined && there!.length === 0) {
      return refuse(
        `was for graph ${type} on nodes ${nodes.join(', ')}, which have all left the cluster`,
        `Start a new run: sitewright graph execute --cluster ${run.clusterId}`,
      );
    }
    left.push({ ...rest, ...given({ nodes: there }), type });
  }
  return { ok: true, graphs: left };
}

/** `graphsLeft` with data from the store. */
export async function readGraphsLeft(
  store: Pick<Store, 'nodes' | 'taskHistory'>,
  earlier: RunTransactions,
): Promise<GraphsLeft> {
  const { clusterId } = earlier.run;
  const nodes = clusterId === null ? [] : await store.nodes.list({ clusterId });
  const withLosses = new Set<number>();
  for (const { id } of earlier.graphs) {
    const counts = await store.taskHistory.count(id, { statuses: ['failed', 'blocked'] });
    if (Object.values(counts).some((count) => count > 0)) withLosses.add(id);
  }
  return graphsLeft(earlier, { nodes: nodes.map(({ id }) => id), withLosses });
}
