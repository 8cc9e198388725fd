import { planReferenceOf, type StoredReference } from '../../clusters/planning/index.ts';
import type { TreeNode } from '../../core/contracts/site-run.ts';
import { given } from '../../core/data/given.ts';
import type { PlanReference } from '../../core/graph-run/plan-reference.ts';
import {
  allOf,
  doneOf,
  endedCounts,
  endedStatus,
  type SomeCounts,
  sumCounts,
  type TaskCounts,
  workOf,
} from '../../core/graph-run/task-counts.ts';
import { lostIn, NOTABLE, TASKS_SHOWN, treeOfTasks } from '../../core/graph-run/tree.ts';
import { graphRunOf } from '../../core/run/subject.ts';
import { isTransactionOpen, type TaskStatus, type TransactionStatus } from '../../core/words.ts';
import {
  type Fields,
  type GraphMap,
  type GraphTask,
  type ListedGraph,
  listGraph,
  type MapOptions,
  mapGraph,
  normaliseTask,
} from '../../graph/index.ts';
import type { Page, TaskHistoryRow, TransactionRecord } from '../../store/index.ts';
import { problem } from '../problem.ts';
import { Service } from '../service.ts';
import { drawingOf } from './graph-drawing.ts';

/** Task counts of one graph of a run: small even with 30,000 tasks. */
interface GraphCounts {
  /** The graph's transaction. */
  readonly transaction: number;
  readonly type: string;
  readonly state: TransactionStatus;
  readonly message: string | null;
  readonly planned: boolean;
  /** Of all tasks on all nodes; `nodes` and `tasks` add up to the same. */
  readonly counts: TaskCounts;
  readonly done: number;
  readonly total: number;
  readonly nodes: Readonly<Record<string, SomeCounts>>;
  readonly tasks: Readonly<Record<string, SomeCounts>>;
}

/** All that is given must hold; `name` matches part of the task's id. */
interface RunTaskFilter {
  readonly graph?: string;
  readonly nodes?: readonly string[];
  readonly statuses?: readonly TaskStatus[];
  readonly name?: string;
  readonly limit?: number;
  readonly before?: string;
}

/** The most interesting statuses first. */
const ORDER: readonly (readonly TaskStatus[])[] = [
  ['failed'],
  ['retrying', 'running'],
  ['blocked'],
  ['ignored'],
  ['waiting'],
  ['not_reached'],
  ['success'],
  ['skipped'],
];

/** Tasks of a graph run, given by its id, for people watching it. */
export class RunTaskOperations extends Service {
  readonly #countsByNode = async (graph: TransactionRecord) =>
    this.#shownCounts(graph, await this.store.taskHistory.countByNode(graph.id));

  /** By the transaction of each graph, its nodes with their tasks. */
  async trees(run: string): Promise<ReadonlyMap<number, readonly TreeNode[]>> {
    const graphs = await this.#graphsOf(run);
    const names = await this.#namesOfNodes(graphs);
    return new Map(
      await Promise.all(graphs.map(async (graph) => [graph.id, await this.#treeOf(graph, names)] as const)),
    );
  }
  /** Hash and size of the stored plan of each graph that has been planned. */
  async plans(run: string): Promise<readonly (PlanReference & { readonly type: string })[]> {
    const planned = (await this.#graphsOf(run)).filter(({ planHash }) => planHash !== null);
    return Promise.all(
      planned.map(async ({ graphType, planHash }) => {
        const stored = (await this.store.plans.getReference(planHash!)) as unknown as StoredReference;
        return { type: graphType ?? '', ...planReferenceOf(stored) };
      }),
    );
  }
  async counts(run: string): Promise<readonly GraphCounts[]> {
    const graphs = await this.#graphsOf(run);
    return Promise.all(
      graphs.map(async (graph) => {
        const { id, graphType, status, message, planHash } = graph;
        const [nodes, tasks] = await Promise.all([this.#countsByNode(graph), this.store.taskHistory.countByTask(id)]);
        const counts = sumCounts(Object.values(nodes));
        return {
          transaction: id,
          type: graphType ?? '',
          state: status,
          message,
          planned: planHash !== null,
          counts,
          done: doneOf(counts),
          total: workOf(counts),
          nodes,
          tasks: this.#shownCounts(graph, tasks),
        };
      }),
    );
  }
  /** Names of the run's nodes by their ids. */
  async nodeNames(run: string): Promise<Readonly<Record<string, string>>> {
    return this.#namesOfNodes(await this.#graphsOf(run));
  }

  /**
   * Failed tasks first, then running, waiting and finished ones, each group in planned order. @throws `not-found`,
   * `invalid`
   */
  async list(
    run: string,
    { graph, name, limit = 50, before, nodes, statuses }: RunTaskFilter,
  ): Promise<Page<TaskHistoryRow & { readonly graph: string }>> {
    const graphs = await this.#graphsOf(run, graph);
    const sections = ORDER.flatMap((group) => {
      const wanted = group.filter((status) => statuses?.includes(status) ?? true);
      return graphs.flatMap((graph) => {
        const stored = isTransactionOpen(graph.status) ? wanted : storedIn(wanted);
        return stored.length === 0 ? [] : [{ graph, statuses: stored }];
      });
    });
    const named = await this.#named(graphs, name);
    const items: (TaskHistoryRow & { graph: string })[] = [];
    let [at, inner] = placeOf(before);
    for (; at < sections.length; at++, inner = undefined) {
      const section = sections[at]!;
      const page = await this.store.taskHistory.page(section.graph.id, {
        statuses: section.statuses,
        limit: limit - items.length,
        ...given({ nodes, tasks: named?.get(section.graph.id), before: inner }),
      });
      items.push(
        ...page.items.map((row) => ({
          ...row,
          status: isTransactionOpen(section.graph.status) ? row.status : endedStatus(row.status),
          graph: section.graph.graphType ?? '',
        })),
      );
      if (page.next !== null) return { items, next: `${at}.${page.next}` };
      if (items.length === limit) return { items, next: at + 1 < sections.length ? `${at + 1}.` : null };
    }
    return { items, next: null };
  }
  /** A graph's tasks at planning time in Graphviz format, for an SVG. */
  async drawing(run: string, type: string | undefined): Promise<string> {
    return this.reader.drawing(drawingOf(await this.#plannedTasks(run, type), { classes: true }));
  }
  /** The same as data. */
  async graph(run: string, type: string | undefined): Promise<ListedGraph> {
    return listGraph(await this.#plannedTasks(run, type));
  }
  /** The same in groups, to be laid out. */
  async map(run: string, type: string | undefined, options: MapOptions): Promise<GraphMap> {
    return mapGraph(listGraph(await this.#plannedTasks(run, type)), options);
  }

  /** The graphs of a graph run, in order. */
  async #graphsOf(id: string, type?: string): Promise<readonly TransactionRecord[]> {
    const run = await this.store.runs.get(id);
    const { transaction } = graphRunOf(run);
    const found =
      transaction !== null
        ? await this.store.transactions.getRun(transaction)
        : await this.store.transactions.findRun(run.workflowId, run.temporalRunId ?? undefined);
    if (found === null)
      throw problem('not-found', `run ${id} is not a graph run`, { hint: 'Its nodes are under /nodes.' });
    if (type === undefined) return found.graphs;
    const graphs = found.graphs.filter((graph) => graph.graphType === type);
    if (graphs.length > 0) return graphs;
    const types = found.graphs.map((graph) => graph.graphType).join(', ');
    throw problem('not-found', `run ${id} has no graph of type '${type}'`, { hint: `It has ${types}.` });
  }

  /** By graph, the ids of its tasks that contain the text; undefined if there is none. */
  async #named(
    graphs: readonly TransactionRecord[],
    part = '',
  ): Promise<ReadonlyMap<number, readonly string[]> | undefined> {
    if (part === '') return undefined;
    const wanted = part.toLowerCase();
    const namesOf = async ({ id }: TransactionRecord) =>
      (await this.store.taskHistory.taskNames(id)).filter((task) => task.toLowerCase().includes(wanted));
    return new Map(await Promise.all(graphs.map(async (graph) => [graph.id, await namesOf(graph)] as const)));
  }

  async #plannedTasks(run: string, type: string | undefined): Promise<GraphTask[]> {
    const [graph] = await this.#graphsOf(run, type);
    const text = graph === undefined ? undefined : await this.store.transactions.getSnapshot(graph.id, 'tasks');
    if (text === undefined)
      throw problem('not-found', 'the graph has not been planned yet', {
        hint: 'Try again once its run has started.',
      });
    const tasks = JSON.parse(text) as readonly Fields[];
    return tasks.map((task) => normaliseTask(task) as GraphTask);
  }

  /** Counts of a graph by node or task, as they are shown: of an ended one, waiting tasks are not reached. */
  #shownCounts({ status }: TransactionRecord, by: Readonly<Record<string, SomeCounts>>) {
    return isTransactionOpen(status)
      ? by
      : Object.fromEntries(Object.entries(by).map(([name, counts]) => [name, endedCounts(counts)]));
  }

  /** Names of the nodes of these graphs by their ids. */
  async #namesOfNodes([first]: readonly TransactionRecord[]): Promise<Readonly<Record<string, string>>> {
    return first === undefined || first.clusterId === null ? {} : this.store.nodes.names(first.clusterId);
  }

  /** The nodes of one graph, with its tasks: of a large one those that run or failed. */
  async #treeOf(graph: TransactionRecord, names: Readonly<Record<string, string>>): Promise<TreeNode[]> {
    const counted = await this.#countsByNode(graph);
    const isSmall = allOf(sumCounts(Object.values(counted))) <= TASKS_SHOWN;
    const { items } = await this.store.taskHistory.page(graph.id, {
      limit: TASKS_SHOWN,
      ...(isSmall ? {} : { statuses: NOTABLE }),
    });
    const nodes = Object.entries(counted).map(([id, counts]) => ({ id, name: names[id] ?? id, counts }));
    const tasks = items.map(({ node, task, status, attempts, rootCause }) => ({
      ...{ node, task, attempts, status: isTransactionOpen(graph.status) ? status : endedStatus(status) },
      ...given({ cause: rootCause ?? undefined }),
    }));
    return treeOfTasks(nodes, tasks, lostIn(tasks));
  }
}

/** For an ended graph: the stored statuses that are shown as these. */
const storedIn = (shown: readonly TaskStatus[]): readonly TaskStatus[] =>
  shown.flatMap((status) => (status === 'waiting' ? [] : status === 'not_reached' ? [status, 'waiting'] : status));

/** A position in the list: the section, and the position within it. */
function placeOf(before: string | undefined): [number, string | undefined] {
  if (before === undefined) return [0, undefined];
  const dot = before.indexOf('.');
  const section = Number(before.slice(0, dot));
  if (dot < 1 || !Number.isInteger(section) || section < 0)
    throw problem('invalid', "'before' is not the 'next' of a page", { hint: 'Omit it for the first page.' });
  const inner = before.slice(dot + 1);
  return [section, inner === '' ? undefined : inner];
}
