import type { NodeChange as NodeTransition } from '../../src/clusters/node-transitions.ts';
import type { StoredReference } from '../../src/clusters/planning/index.ts';
import { nameOf } from '../../src/clusters/sources.ts';
import { given } from '../../src/core/data/given.ts';
import { endsOf } from '../../src/core/graph-run/part-report.ts';
import { doneOf } from '../../src/core/graph-run/task-counts.ts';
import type { TaskEnd } from '../../src/core/graph-run/task-end.ts';
import { causeText, type RootCause, type TaskOnNode } from '../../src/core/task-on-node.ts';
import { DONE_STATUSES, isTransactionOpen } from '../../src/core/words.ts';
import type { NodeChange, NodeRecord, Store, TaskHistoryRow, TransactionRecord } from '../../src/store/index.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import { translated } from '../failures.ts';
import type { CloseGraph, GraphActivities } from '../graph-contract.ts';
import { graphOfRun, proveTransaction } from '../run/transactions.ts';

/** Closes one graph of a run: writes states for the next run's `changed()`, node rows, the transaction. Safe to repeat. */
export function graphCloseActivities(deps: ActivityDependencies): Pick<GraphActivities, 'close_graph'> {
  const { store } = deps;
  return {
    close_graph: (request) =>
      translated(async () => {
        const { run, child } = await graphOfRun(store, request);
        const isMissing = doneOf(await store.taskHistory.count(child.id)) < request.done;
        const answer = isMissing ? 'records-missing' : undefined;
        // The transaction ends last. If it has ended, all else is done, and a later run may have changed the nodes.
        if (!isTransactionOpen(child.status)) return answer;
        await proveTransaction(deps, run);
        if (child.mode === 'apply' && child.planHash !== null && child.clusterId !== null) {
          const rows = await store.taskHistory.list(child.id);
          const begun = rows.filter((row) => hasBegun(row) || (isMissing && mayHaveBegun(row)));
          await storeTaskStates(store, child, child.clusterId, begun);
          await updateNodes(store, child, child.clusterId, request);
        }
        await store.transactions.update(request.graph, {
          status: request.outcome,
          ...given({ message: request.reason }),
        });
        return answer;
      }),
  };
}

/** Stores the planned state of all successful tasks, even if the graph failed. What did not run keeps the state that it had. */
async function storeTaskStates(
  store: Store,
  child: TransactionRecord,
  clusterId: number,
  begun: readonly TaskHistoryRow[],
): Promise<void> {
  const state = await store.transactions.getSnapshot(child.id, 'deployment_info');
  if (state === undefined || child.timeStart === null) return;
  const text = await store.transactions.getSnapshot(child.id, 'task_digests');
  // Written by `plan_graph` only.
  const digests = new Map(Object.entries(JSON.parse(text ?? '{}') as Readonly<Record<string, string>>));
  const namesOf = (rows: readonly TaskHistoryRow[]) => rows.map(({ task, node }): TaskOnNode => ({ task, node }));
  const done = namesOf(begun.filter(({ status }) => status === 'success'));
  const tasks = done.map((one) => ({ ...one, digest: digests.get(one.task) }));
  const others = namesOf(begun.filter(({ status }) => status !== 'success'));
  await store.taskStates.record({ clusterId, state, at: child.timeStart, tasks, begun: others });
}

/** Of a run whose records are lost. A task without work stays skipped whatever happens. */
const mayHaveBegun = ({ status }: TaskHistoryRow): boolean =>
  status !== 'skipped' && !DONE_STATUSES.some((one) => one === status);

/** Whether the task may have changed its node. It has not when the only attempt never reached it, or was refused there. */
function hasBegun({ status, attempts, summary }: TaskHistoryRow): boolean {
  if (status === 'success') return true;
  const { outcome, failure_kind } = (summary ?? {}) as Partial<TaskEnd>;
  const isUntouched = failure_kind === 'offline' || outcome === 'refused' || outcome === 'not_reached';
  return attempts > 1 || (attempts === 1 && !isUntouched);
}

async function updateNodes(
  store: Store,
  child: TransactionRecord,
  clusterId: number,
  { nodes, outcome }: CloseGraph,
): Promise<void> {
  const { node_transitions, untouched } = (await store.plans.getReference(
    child.planHash!,
  )) as unknown as StoredReference;
  const leaving = new Set(outcome === 'success' || outcome === 'nothing_to_do' ? untouched.map(String) : []);
  const rows = new Map((await store.nodes.list({ clusterId })).map((row) => [String(row.id), row]));
  const ends = endsOf(nodes);
  const failed = [...ends.values()].includes('failed')
    ? await failures(store, child.id, rows)
    : new Map<string, string>();
  const gone: number[] = [];
  const changes: { id: number; change: NodeChange }[] = [];
  for (const [uid, ended] of ends) {
    const row = rows.get(uid);
    // `master`, the sync node, and nodes that were removed from the cluster meanwhile.
    if (row === undefined || leaving.has(uid)) continue;
    const transition = node_transitions[ended];
    if (transition.status === 'deleted') gone.push(row.id);
    else changes.push({ id: row.id, change: nodeChange(row, transition, failed.get(uid)) });
  }
  if (changes.length > 0) await store.nodes.updateMany(changes);
  if (gone.length > 0) await store.nodes.unassign(clusterId, gone, { erased: true });
  const asTheyAre = untouched.filter((id) => leaving.has(String(id)) && rows.has(String(id)));
  if (asTheyAre.length > 0) await store.nodes.unassign(clusterId, asTheyAre);
}

/** By node, the first failure on it. */
async function failures(
  store: Store,
  graph: number,
  nodes: ReadonlyMap<string, NodeRecord>,
): Promise<Map<string, string>> {
  const called = (uid: string): string => {
    const row = nodes.get(uid);
    return row === undefined ? uid : nameOf(row);
  };
  const rows = await store.taskHistory.list(graph, { statuses: ['failed', 'blocked'] });
  const found = new Map<string, string>();
  for (const { node, task, message, status, rootCause } of rows) {
    if (status === 'failed')
      found.set(node, `Task ${task} failed on node ${called(node)}${message === null ? '' : `: ${message}`}`);
    else if (!found.has(node))
      found.set(
        node,
        `Task ${task} was not run on node ${called(node)} because ${rootCause === null ? 'another failed' : whyOf({ ...rootCause, node: called(rootCause.node) })}`,
      );
  }
  return found;
}

/** A failed task, or the agent of a node, as the end of the sentence above. */
const whyOf = (cause: RootCause): string =>
  cause.task === null ? `node ${cause.node} was unreachable` : `${causeText(cause)} failed`;

/** Its tasks have succeeded. */
const UNWELL = 'Its checks were not well after its tasks';

/** A node that becomes ready gets its pending roles and loses its earlier failure. */
function nodeChange(row: NodeRecord, transition: NodeTransition, failure: string | undefined): NodeChange {
  const { status, pending_addition, pending_deletion, error_type, error_msg } = transition;
  const changes: NodeChange = {
    progress: 100,
    ...given({
      status,
      pendingAddition: pending_addition,
      pendingDeletion: pending_deletion,
      errorType: error_type,
      errorMsg: error_msg,
    }),
  };
  if (status === 'ready') {
    return {
      roles: [...new Set([...row.roles, ...row.pendingRoles])],
      pendingRoles: [],
      pendingAddition: false,
      errorType: null,
      errorMsg: null,
      ...changes,
    };
  }
  if (status === 'error') return { errorType: 'deploy', errorMsg: failure ?? UNWELL, ...changes };
  return status === undefined ? changes : { errorType: null, errorMsg: null, ...changes };
}
