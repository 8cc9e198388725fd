import * as z from 'zod/mini';
import type { Wire } from '../contracts/wire.ts';
import { texts, whole, wholes } from '../data/schema.ts';
import { nodeGroups, type SchedulerGraph, taskCount, tuples } from './graph.ts';

/** A run cut into parts, each a graph for `createScheduler`, and the input of their coordinator. */
export interface SplitRun {
  readonly parts: readonly SchedulerGraph[];
  readonly coordination: Coordination;
}

/** Shared data of parts. Plain JSON, linear in shared tasks and joins, nodes and names with limits. */
export const coordination = z.object({
  parts: whole,
  nodes: texts,
  partOf: wholes,
  critical: wholes,
  groups: nodeGroups,
  nodeLimit: whole,
  /** `[class, maximum]` for the limited names that need permits. */
  classLimits: tuples<readonly [number, number]>(),
  /** `[task, parts that wait for it]`. */
  tasks: tuples<readonly [number, readonly number[]]>(),
  /** `[join, parts with tasks before it, parts with tasks after it]`. */
  joins: tuples<readonly [number, readonly number[], readonly number[]]>(),
});
export type Coordination = Wire<typeof coordination>;

/** Cuts a run by nodes. `partOf` is the part of each node, from 0 without gaps. */
export function partition(graph: SchedulerGraph, partOf: readonly number[]): SplitRun {
  const count = partOf.reduce((most, part) => Math.max(most, part), 0) + 1;
  const tasks = taskCount(graph);
  const partOfTask = graph.nodeOf.map((node) => partOf[node]!);
  const local = new Int32Array(tasks);
  const parts = Array.from({ length: count }, (_, index) => new PartBuilder(graph, index));
  for (let node = 0; node < partOf.length; node++) parts[partOf[node]!]!.addNode(node);
  for (let task = 0; task < tasks; task++) local[task] = parts[partOfTask[task]!]!.addTask(task);

  const before: number[][] = Array.from({ length: graph.joins }, () => []);
  const crossing: (readonly [number, readonly number[]])[] = [];
  for (let task = 0; task < tasks; task++) {
    const own = partOfTask[task]!;
    const listeners = new Set<number>();
    for (const to of graph.successors[task]!) {
      if (to >= tasks) before[to - tasks]!.push(task);
      else if (partOfTask[to] === own) parts[own]!.link(local[task]!, local[to]!);
      else {
        parts[partOfTask[to]!]!.linkExternal(task, local[to]!);
        listeners.add(partOfTask[to]!);
      }
    }
    if (listeners.size === 0) continue;
    parts[own]!.export(local[task]!);
    crossing.push([task, ascending(listeners)]);
  }
  const joins: (readonly [number, readonly number[], readonly number[]])[] = [];
  for (let join = 0; join < graph.joins; join++) {
    const after = graph.successors[tasks + join]!;
    const givers = ascending(new Set(before[join]!.map((t) => partOfTask[t]!)));
    const takers = ascending(new Set(after.map((t) => partOfTask[t]!)));
    const concerned = ascending(new Set([...givers, ...takers]));
    if (concerned.length > 1) joins.push([join, givers, takers]);
    for (const part of concerned) {
      const own = (list: readonly number[]): number[] =>
        list.filter((t) => partOfTask[t] === part).map((t) => local[t]!);
      parts[part]!.addJoin(concerned.length > 1 ? join : -1, own(before[join]!), own(after));
    }
  }
  const spread = namesInSeveralParts(graph, partOfTask);
  return {
    parts: parts.map((part) => part.build(count, (name) => graph.nodeLimit > 0 || spread.has(name))),
    coordination: {
      parts: count,
      nodes: graph.nodes,
      partOf,
      critical: graph.critical,
      groups: graph.groups,
      nodeLimit: graph.nodeLimit,
      classLimits: graph.nameLimit.flatMap((limit, name) =>
        limit > 0 && (graph.nodeLimit > 0 || spread.has(name)) ? [[name, limit] as const] : [],
      ),
      tasks: crossing,
      joins,
    },
  };
}

/** Names with a limit that several parts share. */
function namesInSeveralParts(graph: SchedulerGraph, partOfTask: readonly number[]): ReadonlySet<number> {
  const first = new Map<number, number>();
  const several = new Set<number>();
  graph.nameOf.forEach((name, task) => {
    if (graph.nameLimit[name] === 0) return;
    if (!first.has(name)) first.set(name, partOfTask[task]!);
    else if (first.get(name) !== partOfTask[task]) several.add(name);
  });
  return several;
}

const ascending = (numbers: Iterable<number>): number[] => [...numbers].sort((a, b) => a - b);

/** Builds one part. Numbers in its lists are local unless stated otherwise. */
class PartBuilder {
  readonly #whole: SchedulerGraph;
  readonly #index: number;
  readonly #nodes: number[] = [];
  readonly #localNode = new Map<number, number>();
  readonly #names: number[] = [];
  readonly #localName = new Map<number, number>();
  readonly #tasks: number[] = [];
  readonly #nameOf: number[] = [];
  readonly #successors: number[][] = [];
  readonly #joins: number[] = [];
  readonly #joinBefore: number[][] = [];
  readonly #joinAfter: number[][] = [];
  readonly #external = new Map<number, number[]>();
  readonly #exported: number[] = [];

  constructor(whole: SchedulerGraph, index: number) {
    this.#whole = whole;
    this.#index = index;
  }

  addNode(node: number): void {
    this.#localNode.set(node, this.#nodes.push(node) - 1);
  }

  addTask(task: number): number {
    const name = this.#whole.nameOf[task]!;
    if (!this.#localName.has(name)) this.#localName.set(name, this.#names.push(name) - 1);
    this.#nameOf.push(this.#localName.get(name)!);
    this.#successors.push([]);
    return this.#tasks.push(task) - 1;
  }

  link(from: number, to: number): void {
    this.#successors[from]!.push(to);
  }

  linkExternal(whole: number, to: number): void {
    const list = this.#external.get(whole);
    if (list === undefined) this.#external.set(whole, [to]);
    else list.push(to);
  }

  export(task: number): void {
    this.#exported.push(task);
  }

  addJoin(whole: number, before: number[], after: number[]): void {
    this.#joins.push(whole);
    this.#joinBefore.push(before);
    this.#joinAfter.push(after);
  }

  build(count: number, needsPermit: (name: number) => boolean): SchedulerGraph {
    const whole = this.#whole;
    const tasks = this.#tasks;
    const nodes = this.#nodes;
    const names = this.#names;
    const ofTask = <T>(list: readonly T[]): T[] => tasks.map((t) => list[t]!);
    this.#joinBefore.forEach((before, j) => {
      for (const t of before) this.#successors[t]!.push(tasks.length + j);
    });
    const localTask = new Map(tasks.map((t, at) => [t, at]));
    const externals = [...this.#external.keys()];
    const allNames = whole.nodeLimit > 0 ? 1 : 0;
    return {
      nodes: nodes.map((n) => whole.nodes[n]!),
      sync: nodes.map((n) => whole.sync[n]!),
      critical: nodes.map((n) => whole.critical[n]!),
      names: names.map((n) => whole.names[n]!),
      nameOf: this.#nameOf,
      nodeOf: tasks.map((t) => this.#localNode.get(whole.nodeOf[t]!)!),
      rank: ofTask(whole.rank),
      noWork: ofTask(whole.noWork),
      forgiven: ofTask(whole.forgiven),
      retries: whole.retries.flatMap(([t, n, interval]) =>
        localTask.has(t) ? [[localTask.get(t)!, n, interval] as const] : [],
      ),
      successors: [...this.#successors, ...this.#joinAfter, ...externals.map((t) => this.#external.get(t)!)],
      joins: this.#joins.length,
      nameLimit: names.map((n) => whole.nameLimit[n]!),
      nodeLimit: 0,
      groups: [],
      mode: whole.mode,
      part: {
        index: this.#index,
        count,
        tasks,
        nodes,
        joins: this.#joins,
        externals,
        exported: this.#exported,
        classes: [...names, whole.names.length],
        permits: [
          ...names.map((n) => (allNames === 1 || (whole.nameLimit[n]! > 0 && needsPermit(n)) ? 1 : 0)),
          allNames,
        ],
      },
    };
  }
}
