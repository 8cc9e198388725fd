import type {
  ExecutablePart,
  GraphRunInput,
  PlanningFailure,
  PlanReference,
  TaskEnd,
  TaskOutcomeKind,
  TaskRow,
} from '../src/core/graph-run/index.js';
import type { RunResult } from '../src/core/scheduler/index.js';

export type { ExecutablePart, PlanReference, TaskEnd, TaskOutcomeKind, TaskRow };

/** Why a run cannot begin or go on; a new reason is a new variant. */
export type GraphRunFailure = PlanningFailure;

/**
 * What `execute_graph` may ask of the orchestrator's activities. Types only, wire names, as in contract.ts.
 * Plans and parameters never pass through Temporal: activities store them, and hand out references.
 */
export interface GraphActivities {
  /** Claims the cluster for this run and writes its transaction. Safe to repeat. */
  open_graph_run(request: OpenGraphRun): Promise<OpenGraphRunAnswer>;
  /** Plans one graph of the run with the states of now and stores plan, history rows (pending) and snapshots. Safe to repeat. */
  plan_graph(request: PlanGraph): Promise<PlanGraphAnswer>;
  /** Reads a piece of a stored scheduler graph: the parts of a split run, and what their coordinator works on. */
  load_graph_part(request: LoadGraphPart): Promise<GraphPartChunk>;
  /** History rows; batched. A row with an attempt that is known already changes only what it adds. Safe to repeat. */
  record_tasks(request: RecordTasks): Promise<void>;
  /** Ends one graph: states for the next run's changed(), node statuses, callbacks. Safe to repeat. */
  close_graph(request: CloseGraph): Promise<void>;
  /** Ends the run: the transaction, the cluster's status, the claim. Safe to repeat. */
  close_graph_run(request: CloseGraphRun): Promise<void>;
}

export interface OpenGraphRun {
  readonly workflow_id: string;
  readonly run_id: string;
  readonly started_at: string;
  readonly input: GraphRunInput;
}

export type OpenGraphRunAnswer =
  | {
      readonly ok: true;
      /** Id of the run's transaction; names the run everywhere. */
      readonly transaction: number;
      readonly cluster: { readonly id: number; readonly name: string; readonly site: string | null };
      /** Graphs in order, sequences resolved, each with the id of its own transaction. */
      readonly graphs: readonly { readonly transaction: number; readonly type: string }[];
      /** Search attributes that this server knows. */
      readonly search_attributes: readonly string[];
      readonly heartbeat_seconds: number;
      /** How long a node that does not answer is waited for: before the run, and when a task of it is due. */
      readonly offline_wait_seconds: number;
      /** `Patience`; absent in histories from before it: none. */
      readonly busy_slack_seconds?: number;
      /** Most events of one history; absent: `MOST_EVENTS`. */
      readonly most_events?: number;
    }
  | { readonly ok: false; readonly failure: GraphRunFailure };

export interface PlanGraph {
  readonly transaction: number;
  /** The graph's own transaction. */
  readonly graph: number;
  /** How many tasks with work the run's own history has room for (`taskRoom`): with more, children drive the graph. */
  readonly room?: number;
}

export type PlanGraphAnswer =
  | { readonly ok: true; readonly plan: PlanReference }
  | { readonly ok: false; readonly failure: GraphRunFailure };

export interface LoadGraphPart {
  readonly hash: string;
  /** Index of a part, or `coordination`. */
  readonly part: number | 'coordination';
  readonly chunk: number;
}

/** At most 150 KB of text; all chunks in order are the JSON of `ExecutablePart` or of `Coordination`. */
export interface GraphPartChunk {
  readonly text: string;
}

export interface RecordTasks {
  readonly transaction: number;
  readonly graph: number;
  /** Rises with every batch of the same writer. */
  readonly sequence: number;
  /** Part that writes. */
  readonly part: number;
  readonly rows: readonly TaskRow[];
}

export interface CloseGraph {
  readonly transaction: number;
  readonly graph: number;
  readonly result: RunResult;
  readonly reason?: string;
  /** By node: how it ended. */
  readonly nodes: Readonly<Record<string, 'successful' | 'failed' | 'skipped'>>;
}

export interface CloseGraphRun {
  readonly transaction: number;
  readonly workflow_id: string;
  readonly run_id: string;
  readonly outcome: 'success' | 'failed' | 'stopped' | 'cancelled';
  readonly reason?: string;
  readonly ended_at: string;
  /** The run's report as the query `report` gives it. */
  readonly report: unknown;
}

/**
 * What a node agent serves on its queue `node.<site>.<node>` (1 slot). The task's parameters do not travel in it: the
 * agent fetches the signed order by its key, so that neither histories nor a stolen credential hold anything.
 */
export interface NodeTaskActivities {
  run_task(request: RunTask): Promise<TaskEnd>;
}

/** On the queue `node.<site>.<node>.ctl`; works while a task runs. */
export interface NodeControlActivities {
  ping(request: { readonly node: string }): Promise<AgentFacts>;
  /** Stops taking tasks; the supervisor keeps the one that runs; the agent process then ends. */
  drain(request: { readonly node: string }): Promise<{ readonly unfinished: readonly string[] }>;
}

export interface AgentFacts {
  readonly node: string;
  readonly agent_version: string;
  readonly boot_id: string;
  readonly task_types: readonly string[];
  readonly containment: string;
}

export interface RunTask {
  readonly v: 1;
  /** The graph's transaction as text; with task, node and generation the key of the execution. */
  readonly run: string;
  readonly task: string;
  readonly node: string;
  /** The scheduler's attempt, from 1. A retry by Temporal is the same generation: it follows, it never runs again. */
  readonly generation: number;
  readonly type: string;
  readonly mode: 'apply' | 'noop';
  readonly debug?: true;
  /** Hash of the plan the order belongs to. */
  readonly plan: string;
}
