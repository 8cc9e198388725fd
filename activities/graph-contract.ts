import type { GraphRunReport } from '../src/core/contracts/graph-run.ts';
import type { PlanningFailure } from '../src/core/graph-run/failure.ts';
import type { ChecksOnNodes, GraphRunInput } from '../src/core/graph-run/input.ts';
import type { ExecutablePart, PlanReference } from '../src/core/graph-run/plan-reference.ts';
import type { TaskEnd, TaskRow } from '../src/core/graph-run/task-end.ts';
import type { Diagnostic } from '../src/core/problems/diagnostic.ts';
import type { StartedWith } from '../src/core/run/passed-on.ts';
import type { NodeStatus } from '../src/core/scheduler/status.ts';
import type { ExecutionKey, RunTask } from '../src/core/task-on-node.ts';
import type { GraphOutcome, GraphRunOutcome } from '../src/core/words.ts';
import type { OpenedRun, OpenedWithin } from './contract.ts';

export type { ExecutablePart, PlanReference, RunTask, TaskEnd, TaskRow };

/** Why a run cannot start or continue. A new reason is a new variant. */
type GraphRunFailure = PlanningFailure;

/**
 * The activities of the orchestrator that `execute_graph` may call. Types only, with wire names, as in contract.ts.
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

export type OpenGraphRunAnswer =
  | (OpenedRun & {
      readonly ok: true;
      /** Id of the run's transaction; identifies the run everywhere. */
      readonly transaction: number;
      readonly cluster: { readonly id: number; readonly name: string; readonly site: string | null };
      /** Graphs in order, sequences resolved, each with the id of its own transaction. */
      readonly graphs: readonly { readonly transaction: number; readonly type: string }[];
      /** What the checks of the cluster found that does not keep it from running; with `force`, errors too. */
      readonly warnings: readonly Diagnostic[];
      readonly heartbeat_seconds: number;
      /** See `Patience`. */
      readonly agent_heartbeat_seconds: number;
      /** How long to wait for a node that does not answer: before the run, and when one of its tasks is due. */
      readonly offline_wait_seconds: number;
      /** See `Patience`. */
      readonly busy_slack_seconds: number;
      /** The run id that the run keeps for good, also over resets: for `graphRunName`. */
      readonly execution: string;
      /** Limit of events per history; absent: `MAX_EVENTS`. */
      readonly max_events?: number;
    })
  | (OpenedWithin & { readonly ok: false; readonly failure: GraphRunFailure });

export interface PlanGraph {
  readonly transaction: number;
  /** The graph's own transaction. */
  readonly graph: number;
  /** How many tasks with work fit into the run's history (`taskCapacity`). With more tasks, children drive the graph. */
  readonly room: number;
}

export type PlanGraphAnswer =
  | { readonly ok: true; readonly plan: PlanReference }
  | { readonly ok: false; readonly failure: GraphRunFailure };

export interface OpenChecks {
  readonly transaction: number;
  /** Tells these questions from others of the run. */
  readonly turn: string;
  readonly checks: ChecksOnNodes;
}

export type OpenChecksAnswer =
  | { readonly ok: true; readonly graphs: readonly AskingGraph[] }
  /** Why nobody can ask. */
  | { readonly ok: false; readonly why: string };

export interface AskingGraph {
  readonly transaction: number;
  readonly type: string;
  readonly plan: PlanReference;
}

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
  /** How each node ended. */
  readonly nodes: Readonly<Record<string, NodeStatus>>;
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

export interface AgentFacts {
  readonly node: string;
  readonly agent_version: string;
  readonly boot_id: string;
  readonly task_types: readonly string[];
  readonly containment: string;
  /** Whether the attempt of the request has started, by the node's journal. Absent: the request names none. */
  readonly started?: boolean;
}
