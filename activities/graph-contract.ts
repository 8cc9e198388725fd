import * as z from 'zod/mini';
import { planned } from '../src/core/checks/check.ts';
import type { GraphRunReport } from '../src/core/contracts/graph-run.ts';
import type { Wire } from '../src/core/contracts/wire.ts';
import { flag, number, optional, text, texts, whole } from '../src/core/data/schema.ts';
import { planningFailure } from '../src/core/graph-run/failure.ts';
import type { ChecksOnNodes, GraphRunInput } from '../src/core/graph-run/input.ts';
import type { NodeEnds } from '../src/core/graph-run/part-report.ts';
import type { ExecutablePart, PlanReference } from '../src/core/graph-run/plan-reference.ts';
import type { TaskEnd, TaskRow } from '../src/core/graph-run/task-end.ts';
import { diagnostics } from '../src/core/run/failure.ts';
import type { StartedWith } from '../src/core/run/passed-on.ts';
import type { ExecutionKey, RunTask } from '../src/core/task-on-node.ts';
import { GRAPH_RUN_MODES, type GraphOutcome, type GraphRunOutcome } from '../src/core/words.ts';
import { done, failing, openedRun, openedWithin } from './contract.ts';

export type { ExecutablePart, PlanReference, RunTask, TaskEnd, TaskRow };

/**
 * The activities of the orchestrator that `execute_graph` may call, with wire names, as in contract.ts.
 * Plans and parameters never pass through Temporal: activities store them and return references.
 */
export interface GraphActivities {
  /** Claims the cluster for this run and writes its transaction. Safe to repeat. */
  open_graph_run(request: OpenGraphRun): Promise<OpenGraphRunAnswer>;
  /** Plans one graph with the current states. Stores plan, pending history rows and snapshots. Safe to repeat. */
  plan_graph(request: PlanGraph): Promise<PlanGraphAnswer>;
  /** Adds graphs to the run in which its nodes ask checks, and plans them. Safe to repeat. */
  open_checks(request: OpenChecks): Promise<OpenChecksAnswer>;
  /** Reads a chunk of a stored scheduler graph: of a part, or of the coordinator's input. */
  load_graph_part(request: LoadGraphPart): Promise<GraphPartChunk>;
  /** Writes a batch of history rows. A row of a known attempt only adds its fields. Safe to repeat. */
  record_tasks(request: RecordTasks): Promise<void>;
  /**
   * Closes one graph: states for the next run's changed(), node statuses, callbacks. Safe to repeat. `records-missing` if the store
   * has lost how tasks ended: it was restored from an older copy. They count as begun then.
   */
  close_graph(request: CloseGraph): Promise<'records-missing' | undefined>;
  /** Closes the run: the transaction, the cluster's status, the claim. Safe to repeat. */
  close_graph_run(request: CloseGraphRun): Promise<void>;
  /** The pending activities of the execution that asks which a worker has ever taken, by their ids. */
  find_tried(request: Readonly<Record<never, never>>): Promise<{ readonly activities: readonly string[] }>;
}

export interface OpenGraphRun {
  readonly workflow_id: string;
  readonly run_id: string;
  readonly started_at: string;
  readonly input: GraphRunInput;
  /** Whoever started the run waits for the answer: a refusal then needs no row in the list of runs. */
  readonly answered: boolean;
  readonly start?: StartedWith | undefined;
}

export const openGraphRunAnswer = z.discriminatedUnion('ok', [
  z.object({
    ...done,
    /** Id of the run's transaction; identifies the run everywhere. */
    transaction: whole,
    cluster: z.object({ id: whole, name: text, site: z.nullable(text) }),
    /** Graphs in order, sequences resolved, each with the id of its own transaction. */
    graphs: z.array(z.object({ transaction: whole, type: text })),
    /** What the checks of the cluster found that does not keep it from running; with `force`, errors too. */
    warnings: diagnostics,
    heartbeat_seconds: number,
    /** See `Patience`. */
    agent_heartbeat_seconds: number,
    /** How long to wait for a node that does not answer: before the run, and when one of its tasks is due. */
    offline_wait_seconds: number,
    /** See `Patience`. */
    busy_slack_seconds: number,
    /** The run id that the run keeps for good, also over resets: for `graphRunName`. */
    execution: text,
    ...optional({
      /** Limit of events per history; absent: `MAX_EVENTS`. */
      max_events: whole,
    }),
    ...openedRun,
  }),
  z.object({ ...failing(planningFailure), ...openedWithin }),
]);
export type OpenGraphRunAnswer = Wire<typeof openGraphRunAnswer>;

export interface PlanGraph {
  readonly transaction: number;
  /** The graph's own transaction. */
  readonly graph: number;
  /** How many tasks with work fit into the run's history (`taskCapacity`). With more tasks, children drive the graph. */
  readonly room: number;
}

/** As the API shows it, which says more about its fields. */
const planReference: z.core.$ZodType<PlanReference> = z.object({
  ...{ hash: text, tasks: whole, nodes: whole, mode: z.enum(GRAPH_RUN_MODES), warnings: texts },
  parts: z.array(z.object({ chunks: whole, tasks: whole, skipped: whole, nodes: whole })),
  coordination: z.nullable(z.object({ chunks: whole, ...optional({ apart: z.literal(true) }) })),
  ...optional({
    nothing_to_do: z.array(z.object({ reason: text, count: whole })),
    limits: z.literal(true),
    checks: z.object({ site: text, revision: whole, checks: z.array(planned) }),
  }),
});

export const planGraphAnswer = z.discriminatedUnion('ok', [
  z.object({ ...done, plan: planReference }),
  z.object(failing(planningFailure)),
]);
export type PlanGraphAnswer = Wire<typeof planGraphAnswer>;

export interface OpenChecks {
  readonly transaction: number;
  /** Tells these questions from others of the run. */
  readonly turn: string;
  readonly checks: ChecksOnNodes;
}

const askingGraph = z.object({ transaction: whole, type: text, plan: planReference });
export type AskingGraph = Wire<typeof askingGraph>;

export const openChecksAnswer = z.discriminatedUnion('ok', [
  z.object({ ...done, graphs: z.array(askingGraph) }),
  /** Why nobody can ask. */
  z.object({ ok: z.literal(false), why: text }),
]);
export type OpenChecksAnswer = Wire<typeof openChecksAnswer>;

export interface LoadGraphPart {
  readonly hash: string;
  /** Index of a part, or `coordination`. */
  readonly part: number | 'coordination';
  readonly chunk: number;
}

/** At most 150 KB of text. All chunks in order are the JSON of `ExecutablePart` or `Coordination`. */
interface GraphPartChunk {
  readonly text: string;
}

export interface RecordTasks {
  readonly transaction: number;
  readonly graph: number;
  /** Grows with every batch of the same writer. */
  readonly sequence: number;
  /** The part that writes the rows. */
  readonly part: number;
  readonly rows: readonly TaskRow[];
}

export interface CloseGraph {
  readonly transaction: number;
  readonly graph: number;
  readonly outcome: GraphOutcome;
  readonly reason?: string;
  readonly nodes: NodeEnds;
  /** Number of tasks that ran to an end. */
  readonly done: number;
}

export interface CloseGraphRun {
  readonly transaction: number;
  readonly workflow_id: string;
  readonly run_id: string;
  readonly outcome: GraphRunOutcome;
  readonly reason?: string;
  readonly ended_at: string;
  /** The run's report, as the query `report` returns it. */
  readonly report: GraphRunReport;
}

/** Activities of a node agent on its queue `node.<site>.<node>` (1 slot). */
export interface NodeTaskActivities {
  run_task(request: RunTask): Promise<TaskEnd>;
}

/** Served on the queue `node.<site>.<node>.ctl`, even while a task runs. */
export interface NodeControlActivities {
  /**
   * Agents that follow a task also send its heartbeat, and so learn immediately whether the server still knows their attempt.
   *
   * @param request `attempt`: one about which `started` is asked
   */
  ping(request: { readonly node: string; readonly attempt?: ExecutionKey }): Promise<AgentFacts>;
  /** Cancels a task that the node runs: sooner than its next heartbeat would. Does nothing to a task that has ended. */
  cancel_task(request: ExecutionKey): Promise<void>;
  /** Stops taking tasks and exits. The supervisor keeps the running task. */
  drain(request: { readonly node: string }): Promise<{ readonly unfinished: readonly string[] }>;
}

export const agentFacts = z.object({
  node: text,
  agent_version: text,
  boot_id: text,
  task_types: texts,
  containment: text,
  ...optional({
    /** Whether the attempt of the request has started, by the node's journal. Absent: the request names none. */
    started: flag,
  }),
});
export type AgentFacts = Wire<typeof agentFacts>;
