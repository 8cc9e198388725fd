import { createHash } from 'node:crypto';
import { controlQueue, nodeQueue, prefixed } from '../../../workflows/protocol.ts';
import { given } from '../../core/data/given.ts';
import { isCoordinatedApart, splitForExecution } from '../../core/graph-run/cut.ts';
import type { ExecutablePart, PlanReference } from '../../core/graph-run/plan-reference.ts';
import type { SchedulerGraph } from '../../core/scheduler/graph.ts';
import { taskKey } from '../../core/task-on-node.ts';
import { goesToMaster } from '../../core/task-types/index.ts';
import { MASTER } from '../../graph/index.ts';
import type { NewPlan, PlanRange } from '../../store/index.ts';
import { agentAddress, MAAS_CALLS, MASTER_AGENT } from '../agent-address.ts';
import type { ClusterPlan } from '../plan-cluster.ts';
import { type ClusterSources, nameOf, uidOf } from '../sources.ts';
import { nothingToDo } from './nothing-to-do.ts';
import { judging, taskOrder } from './task-orders.ts';

type NewOrder = PlanRange['orders'][number];

/** A plan split for execution: texts to store, and their reference for the workflow. */
interface CutPlan extends Pick<NewPlan, 'parts' | 'coordination'> {
  readonly reference: PlanReference;
  /** What its agent needs for a task of the plan; undefined if it has no work. */
  readonly orderOf: (task: number) => NewOrder | undefined;
}

/** Maximum size of a chunk in a payload, encoded as a JSON string. */
const CHUNK_BYTES = 150 * 1024;

/** Maximum number of warnings in a workflow; the stored explanation has all. */
const MAX_WARNINGS = 20;

/**
 * Splits a plan into parts of whole nodes, each small enough for one workflow, with queues and time limits. Orders are made when
 * they are asked for, and again for each time: those of a large plan would take more memory than the plan.
 * @param capacity number of tasks for the run's own workflow; default: the same as for any workflow
 * @param prefix precedes the names of queues
 */
export function cutPlan(sources: ClusterSources, planned: ClusterPlan, capacity?: number, prefix?: string): CutPlan {
  const { graph, plan } = planned;
  const whole = graph ?? EMPTY;
  const queueOf = ({ site, node }: { readonly site: string; readonly node: string }) =>
    prefixed(prefix, nodeQueue(site, node));
  const agents = agentNames(sources, whole, queueOf);
  const judge = judging();
  const judged = (task: number) => {
    const node = whole.nodeOf[task]!;
    return judge(plan.instances[task]!, whole.nodes[node]!, agents[node]!.node);
  };
  const orderOf = (task: number): NewOrder | undefined => {
    if (whole.noWork[task] === 1) return undefined;
    const instance = plan.instances[task]!;
    const { node, site } = agents[whole.nodeOf[task]!]!;
    return { node, task: instance.id, order: taskOrder(plan, instance, judged(task), site) };
  };
  const worked: string[] = [];
  const seconds = whole.nodeOf.map((node, task) => {
    if (whole.noWork[task] === 1) return 0;
    const judgement = judged(task);
    for (const problem of judgement.problems)
      if (worked.length < MAX_WARNINGS)
        worked.push(`${taskKey(plan.instances[task]!.id, agents[node]!.name)} ${problem}`);
    return judgement.seconds;
  });
  const types = whole.nodeOf.map((_, task) => plan.instances[task]!.type);
  const split = splitForExecution(whole, undefined, capacity);
  const graphs = split?.parts ?? (graph === null ? [] : [graph]);
  const maas = queueOf(MAAS_CALLS);
  const parts = graphs.map((part) => chunksOf(JSON.stringify(executablePart(part, agents, types, seconds, maas))));
  const coordination = split === null ? [] : chunksOf(JSON.stringify(split.coordination));
  const called = (id: number): string => nameOf(sources.nodes.find((one) => one.id === id)!);
  const missed = planned.leftOut.filter(({ node }) => planned.missed.includes(node));
  const warnings = [
    ...planned.problems.map(({ message, path }) => (path === undefined ? message : `${path}: ${message}`)),
    ...missed.map(({ node, reason }) => `node ${called(node)} is left out: ${reason}`),
    ...worked,
  ];
  const nothing = nothingToDo(planned);
  const body = {
    tasks: whole.nodeOf.length,
    nodes: whole.nodes.length,
    mode: whole.mode,
    parts: graphs.map((part, at) => ({
      chunks: parts[at]!.length,
      tasks: part.nodeOf.length,
      skipped: part.noWork.filter((none) => none === 1).length,
      nodes: part.nodes.length,
    })),
    coordination:
      split === null
        ? null
        : { chunks: coordination.length, ...(isCoordinatedApart(parts.length) && { apart: true as const }) },
    ...given({ nothing_to_do: nothing }),
    warnings: shortened(warnings),
  };
  const hash = createHash('sha256').update(JSON.stringify([body, planned.type, planned.metadata, planned.untouched]));
  for (const text of [...parts.flat(), ...coordination]) hash.update(text);
  for (const task of whole.nodeOf.keys()) {
    const order = orderOf(task);
    if (order !== undefined) hash.update(JSON.stringify(order));
  }
  return { reference: { hash: hash.digest('hex'), ...body }, parts, coordination, orderOf };
}

const EMPTY: SchedulerGraph = {
  nodes: [],
  sync: [],
  critical: [],
  names: [],
  nameOf: [],
  nodeOf: [],
  rank: [],
  noWork: [],
  forgiven: [],
  retries: [],
  successors: [],
  joins: 0,
  nameLimit: [],
  nodeLimit: 0,
  groups: [],
  mode: 'apply',
};

interface NodeAgentName {
  readonly queue: string | null;
  readonly site: string;
  readonly node: string;
  /** Its name for people. */
  readonly name: string;
}

/** By node of the graph: its queue, and its names for the agent and for people. */
function agentNames(
  sources: ClusterSources,
  graph: SchedulerGraph,
  queueOf: (agent: { readonly site: string; readonly node: string }) => string,
): NodeAgentName[] {
  const byUid = new Map(sources.nodes.map((node) => [uidOf(node), node]));
  return graph.nodes.map((uid, at) => {
    const row = byUid.get(uid);
    const agent = uid === MASTER ? MASTER_AGENT : row && agentAddress(sources, row);
    const name = row === undefined ? uid : nameOf(row);
    if (graph.sync[at] === 1 || agent === undefined) return { queue: null, site: '', node: uid, name };
    return { queue: queueOf(agent), ...agent, name };
  });
}

/** One graph with the other data for its workflow. A part numbers its tasks and nodes like the whole run. */
function executablePart(
  graph: SchedulerGraph,
  agents: readonly NodeAgentName[],
  types: readonly string[],
  seconds: readonly number[],
  maas: string,
): ExecutablePart {
  const taskOf = (task: number): number => graph.part?.tasks[task] ?? task;
  const own = graph.nodes.map((_, node) => agents[graph.part?.nodes[node] ?? node]!);
  const works = new Set(
    graph.nodeOf.filter((_, task) => graph.noWork[task] !== 1 && !goesToMaster(types[taskOf(task)]!)),
  );
  const typeTable = tableOf(graph.nodeOf.map((_, task) => types[taskOf(task)]!));
  const timeTable = tableOf(graph.nodeOf.map((_, task) => seconds[taskOf(task)]!));
  return {
    graph,
    queues: own.map(({ queue }) => queue),
    // Nodes without work may be offline.
    controls: own.map(({ queue }, node) => (queue === null || !works.has(node) ? null : controlQueue(queue))),
    master: maas,
    agents: own.map(({ node }) => node),
    names: own.map(({ name }) => name),
    types: typeTable.values,
    typeOf: typeTable.indexes,
    timeouts: timeTable.values,
    timeoutOf: timeTable.indexes,
  };
}

function tableOf<T>(list: readonly T[]): { readonly values: T[]; readonly indexes: number[] } {
  const at = new Map<T, number>();
  const indexes = list.map((value) => {
    const known = at.get(value) ?? at.size;
    at.set(value, known);
    return known;
  });
  return { values: [...at.keys()], indexes };
}

/** Splits a text into chunks that each fit into a payload. */
export function chunksOf(text: string, most: number = CHUNK_BYTES): string[] {
  const chunks: string[] = [];
  for (let from = 0; from < text.length; ) {
    let length = Math.min(most, text.length - from);
    const piece = (): string => text.slice(from, from + length);
    while (length > 1 && Buffer.byteLength(JSON.stringify(piece())) > most) length = Math.floor(length * 0.8);
    // Do not split a surrogate pair.
    if (/[\uD800-\uDBFF]$/.test(piece()) && length > 1) length -= 1;
    chunks.push(piece());
    from += length;
  }
  return chunks;
}

function shortened(warnings: readonly string[]): string[] {
  const shown = warnings.slice(0, MAX_WARNINGS).map((text) => (text.length > 300 ? `${text.slice(0, 299)}…` : text));
  const more = warnings.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more, which the plan shows`] : shown;
}
