import { ApplicationFailure, Context } from '@temporalio/activity';
import type { SiteActivities } from '../../activities/contract.ts';
import type {
  AgentFacts,
  CloseGraph,
  CloseGraphRun,
  ExecutablePart,
  GraphActivities,
  NodeTaskActivities,
  OpenGraphRun,
  RecordTasks,
  RunTask,
  TaskEnd,
  TaskRow,
} from '../../activities/graph-contract.ts';
import { countCrossings, splitForExecution } from '../../src/core/graph-run/cut.ts';
import { endsOf } from '../../src/core/graph-run/part-report.ts';
import type { PlanReference } from '../../src/core/graph-run/plan-reference.ts';
import { compileNamed, type NamedPlan } from '../../src/core/scheduler/named-plan.ts';
import { partition } from '../../src/core/scheduler/partition.ts';
import { taskKey } from '../../src/core/task-on-node.ts';
import { PATIENT_HEARTBEAT_SECONDS, untilCancelled } from './scripted-site.ts';

/** A task that has started on its node and waits for the test to end it. */
export interface HeldTask {
  readonly request: RunTask;
  finish(end?: TaskEnd): void;
  throwError(error: Error): void;
}

/** The observations on a node, in order. */
export interface TaskEvent {
  readonly what: 'start' | 'end';
  readonly task: string;
  readonly node: string;
  readonly generation: number;
}

export interface ScriptedGraphOptions {
  /** By type of graph, in the order in which the run executes them. */
  readonly plans: Readonly<Record<string, NamedPlan>>;
  /** By node of the plan: its part, for a split run. */
  readonly partOf?: (node: string) => number;
  /** By node: its own task queue; absent: the run's. */
  readonly queueOf?: (node: string) => string | undefined;
  /** By node: its control queue; absent: the run's; null: not asked. */
  readonly controlOf?: (node: string) => string | null | undefined;
  /** By node: its name for people; default: its id. */
  readonly nameOf?: (node: string) => string;
  /** Limit of every task; 60 when absent. */
  readonly timeoutSeconds?: number;
  readonly heartbeatSeconds?: number;
  readonly agentHeartbeatSeconds?: number;
  readonly offlineWaitSeconds?: number;
  /** Most events of one history, so that few tasks fill it. Without `partOf`, graphs it has no room for are split. */
  readonly maxEvents?: number;
  /** Its parts have a coordinator in a workflow of its own. */
  readonly apart?: boolean;
  /** The run needs permits. */
  readonly isLimited?: boolean;
  /** Of its rollouts. */
  readonly checks?: PlanReference['checks'];
}

/**
 * The store and the node agents of a run of graphs, controlled by the test. Tasks succeed immediately
 * unless `hold` makes them wait for the test.
 */
export interface ScriptedGraph {
  /** Everything that a run needs, on one queue. */
  activities(
    taskQueue: string,
  ): GraphActivities & NodeTaskActivities & { ping(request: { node: string }): Promise<AgentFacts> };
  readonly events: TaskEvent[];
  readonly requests: RunTask[];
  readonly pinged: string[];
  /** Nodes whose agents do not answer pings. */
  readonly silent: Set<string>;
  readonly opened: OpenGraphRun[];
  readonly planned: string[];
  readonly records: RecordTasks[];
  readonly closedGraphs: CloseGraph[];
  readonly closed: CloseGraphRun[];
  /** `task@node` of all tasks that began, in order. */
  readonly began: string[];
  /** `task@node` or `all`: waits for the test. */
  readonly hold: Set<string>;
  /** `task@node` to the ends of its attempts, one after the other; the last one stays. */
  readonly ends: Map<string, readonly TaskEnd[]>;
  /** Types that an agent knows, by node; all where it is not named. */
  readonly knows: Map<string, readonly string[]>;
  /** Boot id by node; `boot-NODE` where it is not named. */
  readonly boots: Map<string, string>;
  /** The behaviour of the orchestrator's own agent when it is to cycle a node's power. */
  powerCycle: (request: RunTask) => TaskEnd | Promise<TaskEnd>;
  readonly overrides: Partial<
    GraphActivities & Pick<SiteActivities, 'ask_maas' | 'take_permits' | 'await_permits' | 'run_check'>
  >;
  heldTask(task: string): Promise<HeldTask>;
  /** Resolves when `ready` holds; checked after each event. */
  until(ready: () => boolean): Promise<void>;
  /** The newest row by `task@node`, as a store would keep them. */
  rows(graph?: number): Map<string, TaskRow>;
}

export const ok: TaskEnd = { outcome: 'success' };
export const failed = (message = 'exit 1', exit_code = 1): TaskEnd => ({ outcome: 'failed', message, exit_code });

const CHUNK = 150_000;

export function scriptedGraph(options: ScriptedGraphOptions): ScriptedGraph {
  const types = Object.keys(options.plans);
  const pieces = new Map<string, string[]>();
  const held = new Map<string, HeldTask>();
  /** Plans in which nodes ask checks. */
  const asked = new Map<string, NamedPlan>();
  const waiters: (() => void)[] = [];
  const tick = (): void => {
    for (const one of waiters.splice(0)) one();
  };

  function store(type: string, taskQueue: string, room: number | undefined) {
    const plan = (options.plans[type] ?? asked.get(type))!;
    const compiled = compileNamed(plan);
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.refusal));
    const { graph } = compiled;
    const typeOf = new Map(plan.tasks.map((task) => [taskKey(task.id, task.node), task.type ?? 'shell']));
    const kinds = [...new Set(typeOf.values())];
    const executable = (part: typeof graph): ExecutablePart => ({
      graph: part,
      queues: part.nodes.map((id, n) => (part.sync[n] === 1 ? null : (options.queueOf?.(id) ?? taskQueue))),
      controls: part.nodes.map((id, n) => {
        const own = options.controlOf?.(id);
        return part.sync[n] === 1 || own === null ? null : (own ?? taskQueue);
      }),
      types: kinds,
      typeOf: part.nameOf.map((name, t) =>
        kinds.indexOf(typeOf.get(taskKey(part.names[name]!, part.nodes[part.nodeOf[t]!]!))!),
      ),
      master: taskQueue,
      agents: part.nodes,
      names: part.nodes.map((id) => options.nameOf?.(id) ?? id),
      timeouts: [options.timeoutSeconds ?? 60],
      timeoutOf: part.nameOf.map(() => 0),
    });
    const chunk = (piece: string, value: unknown): number => {
      const text = JSON.stringify(value);
      const chunks = Array.from({ length: Math.ceil(text.length / CHUNK) }, (_, at) =>
        text.slice(at * CHUNK, (at + 1) * CHUNK),
      );
      pieces.set(`${type}/${piece}`, chunks);
      return chunks.length;
    };
    const count = (part: typeof graph, chunks: number) => ({
      chunks,
      tasks: part.nameOf.length,
      skipped: part.noWork.filter((none) => none === 1).length,
      nodes: part.nodes.length,
    });
    const base = { hash: type, tasks: graph.nameOf.length, nodes: graph.nodes.length, mode: graph.mode, warnings: [] };
    const partOf = options.partOf === undefined ? undefined : graph.nodes.map(options.partOf);
    const split =
      partOf === undefined
        ? splitForExecution(graph, undefined, options.maxEvents === undefined ? undefined : room)
        : partition(countCrossings(graph, partOf), partOf);
    if (split === null) {
      return { ...base, parts: [count(graph, chunk('0', executable(graph)))], coordination: null };
    }
    return {
      ...base,
      parts: split.parts.map((part, at) => count(part, chunk(String(at), executable(part)))),
      coordination: {
        chunks: chunk('coordination', split.coordination),
        ...(options.apart && { apart: true as const }),
      },
    };
  }

  const scripted: ScriptedGraph = {
    events: [],
    requests: [],
    pinged: [],
    silent: new Set(),
    opened: [],
    planned: [],
    records: [],
    closedGraphs: [],
    closed: [],
    hold: new Set(),
    ends: new Map(),
    knows: new Map(),
    boots: new Map(),
    powerCycle: () => failed('there is no MAAS here'),
    overrides: {},
    get began() {
      return scripted.events.filter(({ what }) => what === 'start').map(({ task, node }) => `${task}@${node}`);
    },
    async until(ready) {
      while (!ready()) await new Promise<void>((resolve) => waiters.push(resolve));
    },
    async heldTask(key) {
      await scripted.until(() => held.has(key));
      const task = held.get(key)!;
      held.delete(key);
      return task;
    },
    rows(graph = 11) {
      const rows = new Map<string, TaskRow>();
      for (const record of scripted.records.filter((one) => one.graph === graph)) {
        for (const row of record.rows) {
          const key = `${row.task}@${row.node}`;
          if ((rows.get(key)?.attempt ?? 0) <= row.attempt) rows.set(key, row);
        }
      }
      return rows;
    },
    activities(taskQueue) {
      const base: GraphActivities & Pick<SiteActivities, 'ask_maas'> = {
        async ask_maas() {
          return { since: null };
        },
        async open_graph_run(request) {
          scripted.opened.push(request);
          return {
            ok: true,
            transaction: 10,
            cluster: { id: request.input.cluster, name: 'demo', site: 'dc1' },
            graphs: types.map((type, at) => ({ transaction: 11 + at, type })),
            warnings: [],
            search_attributes: ['SiteName', 'RunPhase', 'GraphType', 'FailedNodes', 'StartedBy'],
            heartbeat_seconds: options.heartbeatSeconds ?? PATIENT_HEARTBEAT_SECONDS,
            agent_heartbeat_seconds: options.agentHeartbeatSeconds ?? PATIENT_HEARTBEAT_SECONDS,
            busy_slack_seconds: 0,
            execution: request.run_id,
            notices: false,
            approved_by_another: false,
            offline_wait_seconds: options.offlineWaitSeconds ?? 30,
            ...(options.maxEvents === undefined ? {} : { max_events: options.maxEvents }),
          };
        },
        async plan_graph({ graph, room }) {
          const type = types[graph - 11]!;
          scripted.planned.push(type);
          const { checks } = options;
          const plan = { ...store(type, taskQueue, room), ...(checks && { checks }) };
          return { ok: true, plan: options.isLimited ? { ...plan, limits: true as const } : plan };
        },
        async open_checks({ transaction, turn, checks }) {
          const type = `checks ${turn}`;
          const tasks = checks.nodes.map((node) => ({ id: 'check-1', node, type: 'shell' }));
          asked.set(type, { nodes: checks.nodes.map((id) => ({ id, kind: 'node' as const })), tasks, edges: [] });
          const plan = { ...store(type, taskQueue, undefined), mode: 'check' as const };
          return { ok: true, graphs: [{ transaction: transaction * 100 + asked.size, type: 'checks', plan }] };
        },
        async load_graph_part({ hash, part, chunk }) {
          return { text: pieces.get(`${hash}/${part}`)![chunk]! };
        },
        async record_tasks(request) {
          scripted.records.push(request);
          tick();
        },
        async close_graph(request) {
          scripted.closedGraphs.push({ ...request, nodes: Object.fromEntries(endsOf(request.nodes)) });
        },
        async close_graph_run(request) {
          scripted.closed.push(request);
        },
        async find_tried() {
          return { activities: [] };
        },
      };
      const wired = Object.fromEntries(
        Object.entries(base).map(([name, original]) => [
          name,
          (request: never) =>
            ((scripted.overrides as Record<string, typeof original | undefined>)[name] ?? original)(request),
        ]),
      ) as unknown as typeof base;
      const { take_permits, await_permits, run_check } = scripted.overrides;
      const permits = options.isLimited ? { take_permits, await_permits } : {};
      return { ...wired, ...permits, ...(run_check && { run_check }), run_task: runTask, ping };
    },
  };

  async function ping({ node }: { node: string }): Promise<AgentFacts> {
    scripted.pinged.push(node);
    if (scripted.silent.has(node)) throw ApplicationFailure.nonRetryable(`no agent answers for ${node}`);
    tick();
    const task_types = scripted.knows.get(node) ?? ['shell', 'puppet', 'task', 'reboot'];
    return {
      node,
      agent_version: '1.0.0',
      boot_id: scripted.boots.get(node) ?? `boot-${node}`,
      task_types,
      containment: 'none',
    };
  }

  async function runTask(request: RunTask): Promise<TaskEnd> {
    if (Context.current().info.activityId.endsWith('/power')) return scripted.powerCycle(request);
    const { task, node, generation } = request;
    const key = `${task}@${node}`;
    scripted.requests.push(request);
    scripted.events.push({ what: 'start', task, node, generation });
    try {
      if (!scripted.hold.has('all') && !scripted.hold.has(key)) {
        tick();
        const ends = scripted.ends.get(key) ?? [ok];
        return ends[Math.min(generation, ends.length) - 1]!;
      }
      const decided = new Promise<TaskEnd>((resolve, reject) => {
        held.set(key, { request, finish: (end = ok) => resolve(end), throwError: reject });
      });
      tick();
      return await Promise.race([decided, untilCancelled(), beating()]);
    } finally {
      scripted.events.push({ what: 'end', task, node, generation });
      tick();
    }
  }

  return scripted;
}

/** Keeps a held task running until it is cancelled. */
function beating(): Promise<never> {
  const context = Context.current();
  return new Promise((_resolve, reject) => void context.cancelled.catch(reject));
}
