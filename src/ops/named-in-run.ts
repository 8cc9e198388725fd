import { idOfName, isId, namesOfNode } from '../core/names.ts';
import { graphRunOf } from '../core/run/subject.ts';
import type { TaskOnNode } from '../core/task-on-node.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { GRAPH_RUN_KIND } from '../core/words.ts';
import type { RunSummary, Store } from '../store/index.ts';
import { problem } from './problem.ts';

/** Not a node of a cluster: where tasks without one run. */
const MASTER = 'master';

/**
 * A task of a run of graphs by the names that people use: its node by id, name or host name.
 * @throws `not-found` with a suggestion
 */
export async function taskInRun(
  store: Store,
  { cluster, transaction }: ReturnType<typeof graphRunOf>,
  { task, node }: TaskOnNode,
): Promise<TaskOnNode> {
  if (cluster === null) return { task, node };
  const found = transaction === null ? null : await store.transactions.getRun(transaction);
  const tasks = await Promise.all((found?.graphs ?? []).map(({ id }) => store.taskHistory.taskNames(id)));
  const known = new Set(tasks.flat());
  if (known.size > 0 && !known.has(task))
    throw problem('not-found', `run ${transaction} has no task '${task}'`, {
      hint: didYouMean(task, known) ?? `'sitewright history show ${transaction}' lists its tasks.`,
    });
  return { task, node: await nodeInCluster(store, cluster, node) };
}

/** The id of a node of a run of graphs, which people also call by its name or host name. @throws `not-found` with a suggestion */
async function nodeInCluster(store: Store, cluster: number, node: string): Promise<string> {
  if (isId(node) || node === MASTER) return node;
  const nodes = await store.nodes.list({ clusterId: cluster });
  const answer = idOfName(
    'node',
    node,
    nodes.map(({ id, name, hostname }) => ({ id, name: name ?? '', also: namesOfNode(hostname) })),
  );
  if (answer.ok) return String(answer.id);
  throw problem(answer.why === 'unknown' ? 'not-found' : 'invalid', answer.message, { hint: answer.hint });
}

/** The name of a node in a run on a site, which people may also call by its id or host name; in a run of graphs its id. */
export async function nodeInRun(store: Store, run: RunSummary, node: string): Promise<string> {
  const { cluster } = graphRunOf(run);
  if (run.kind === GRAPH_RUN_KIND && cluster !== null) return nodeInCluster(store, cluster, node);
  const names = new Set((await store.runs.listNodes(run.id)).map(({ report }) => report.name));
  if (names.has(node)) return node;
  const all = await store.nodes.list(isId(node) ? { ids: [Number(node)] } : {});
  const called = all.filter(
    ({ id, site, hostname }) => site === run.site && (String(id) === node || namesOfNode(hostname).includes(node)),
  );
  const [only] = called;
  return called.length === 1 && only?.name ? only.name : node;
}
