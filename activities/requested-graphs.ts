import { readGraphsLeft } from '../src/clusters/graphs-left.ts';
import type { GraphRequest, GraphRunInput, PlanningFailure } from '../src/core/graph-run/index.ts';
import { type ClusterRecord, type Store, StoreError } from '../src/store/index.ts';

type RequestedGraphs =
  | { readonly ok: true; readonly graphs: readonly GraphRequest[] }
  | { readonly ok: false; readonly failure: PlanningFailure };

/**
 * The graphs of a run in order: the requested ones, those of a sequence, those of an earlier run that did not
 * succeed, or else `default`.
 */
export async function requestedGraphs(
  store: Store,
  input: GraphRunInput,
  cluster: ClusterRecord,
): Promise<RequestedGraphs> {
  if (input.graphs !== undefined) return { ok: true, graphs: input.graphs };
  if (input.sequence !== undefined) return await ofSequence(store, input.sequence, cluster);
  if (input.from !== undefined) return await ofEarlierRun(store, input.from, cluster);
  return { ok: true, graphs: [{ type: 'default' }] };
}

async function ofSequence(store: Store, id: number, cluster: ClusterRecord): Promise<RequestedGraphs> {
  const sequence = await found(store.sequences.get(id));
  if (sequence === undefined || sequence.releaseId !== cluster.releaseId) {
    const message =
      sequence === undefined
        ? `there is no sequence ${id}`
        : `sequence ${id} belongs to release ${sequence.releaseId}, cluster ${cluster.id} to release ${cluster.releaseId}`;
    return { ok: false, failure: { kind: 'graph-not-found', type: `sequence ${id}`, message } };
  }
  return { ok: true, graphs: sequence.graphs as unknown as readonly GraphRequest[] };
}

async function ofEarlierRun(store: Store, from: number, cluster: ClusterRecord): Promise<RequestedGraphs> {
  const refuse = (message: string): RequestedGraphs => ({ ok: false, failure: { kind: 'not-continuable', message } });
  const earlier = await found(store.transactions.getRun(from));
  if (earlier === undefined || earlier.run.clusterId !== cluster.id)
    return refuse(`transaction ${from} is not a run of cluster ${cluster.id}`);
  const left = await readGraphsLeft(store, earlier);
  return left.ok ? left : refuse(`run ${earlier.run.id} ${left.why}`);
}

/** Undefined if the record does not exist. */
async function found<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof StoreError && error.failure.kind === 'not-found') return undefined;
    throw error;
  }
}
