import type { AuditActivities, NodeCall, SiteActivities } from '../activities/contract.ts';
import type { GraphActivities, NodeControlActivities, NodeTaskActivities } from '../activities/graph-contract.ts';
import type { NoticeActivities } from '../activities/notice-contract.ts';
import type { FailedTask, GraphRunReport, GraphRunStatus } from '../src/core/contracts/graph-run.ts';
import type { NoticeDelivery } from '../src/core/contracts/notices.ts';
import type { Paused } from '../src/core/contracts/primitives.ts';
import type { GraphRunNews, RunStatus, ShownPlan, TreeNode } from '../src/core/contracts/site-run.ts';
import type { RunReport } from '../src/core/contracts/site-run-report.ts';
import type { CallEnd, NodeResult } from '../src/core/deployment/baremetal.ts';
import type { GraphRunFailure } from '../src/core/graph-run/failure.ts';
import type { GraphRunInput } from '../src/core/graph-run/input.ts';
import type { KeptRows } from '../src/core/graph-run/ledger.ts';
import type { PartReport } from '../src/core/graph-run/part-report.ts';
import type { PartStatus } from '../src/core/graph-run/part-status.ts';
import type { PlanReference } from '../src/core/graph-run/plan-reference.ts';
import type { TaskCounts } from '../src/core/graph-run/task-counts.ts';
import type { Diagnostic } from '../src/core/problems/diagnostic.ts';
import type { RolloutRequest } from '../src/core/rollout/operate.ts';
import type { SendNotice } from '../src/core/run/notice.ts';
import type { ApprovalRequest, OperatorNote, RetryNodeRequest } from '../src/core/run/operator.ts';
import type { MaasSilence } from '../src/core/run/silence.ts';
import type { CoordinatorEvent } from '../src/core/scheduler/coordinator.ts';
import type { CoordinatorSnapshot } from '../src/core/scheduler/coordinator-snapshot.ts';
import type { SchedulerEvent } from '../src/core/scheduler/events.ts';
import type { Sender } from '../src/core/scheduler/part-messages.ts';
import type { SchedulerSnapshot } from '../src/core/scheduler/snapshot.ts';
import type { GraphEnd } from '../src/core/scheduler/tolerance.ts';
import type { RunFailure } from '../src/core/site-run/failure.ts';
import type { SiteRunInput } from '../src/core/site-run/input.ts';
import type { TaskOnNode } from '../src/core/task-on-node.ts';
import type { GraphRunOutcome, SiteRunKind, SiteRunOutcome } from '../src/core/words.ts';
import type {
  FromCoordinatorSignal,
  FromPartSignal,
  PartRequest,
  Steering,
  ToCoordinatorSignal,
  ToPartSignal,
} from './graph/messages.ts';

/**
 * Input, result, signals, updates and queries of each workflow, and all activities. Declared once, as types only, for
 * workflows, clients and tests. The names are wire names (protocol.ts).
 */
export interface WorkflowContract {
  readonly input: unknown;
  readonly result: unknown;
  /** Payload of each signal. */
  readonly signals: object;
  /** Request of each update. The answer is the status after the update; that of `opened` is the opening. */
  readonly updates: object;
  /** Answer of each query. */
  readonly queries: object;
}

/** From the worker's reconciler. */
interface ChildSignals {
  /** A child of the run, by its workflow id, has ended, and Temporal has not told the run. */
  readonly child_gone: { readonly id: string };
}

/** From the parent. */
interface ParentSignals {
  /** Asks for nothing: the parent learns from a refusal that its child has ended. */
  readonly probe: None;
}

/** From the worker, while activities of the run ask MAAS. */
interface MaasSignals {
  readonly maas_silence: MaasSilence;
}

interface OperatorSignals {
  readonly pause: OperatorNote;
  readonly resume: OperatorNote;
  readonly stop: OperatorNote;
}

type None = Readonly<Record<never, never>>;

/** The row of an opened run. */
export interface OpenedRow {
  /** Run id of its first execution. */
  readonly id: string;
  readonly workflow_id: string;
  /** For people; the transaction of a run of graphs has the same. */
  readonly number: number;
  /** Findings that do not keep it from running. */
  readonly warnings: readonly Diagnostic[];
}

/** What became of a start: the answer of the update `opened`. */
export type RunOpening<Failure> =
  | { readonly ok: true; readonly run: OpenedRow }
  | { readonly ok: false; readonly failure: Failure };

/** Sent with the start, by those who wait for the answer. */
interface Openings {
  readonly opened: None;
}

/** Decisions about a run that waits for approval; signals and updates. */
interface Approvals {
  readonly approve: ApprovalRequest;
  readonly reject: ApprovalRequest;
}

/** Requests to rollouts; signals and updates. */
interface Rollouts {
  readonly promote: OperatorNote & RolloutRequest;
  readonly hold: OperatorNote & RolloutRequest;
  readonly abort_rollout: OperatorNote & RolloutRequest;
}

export interface SiteRunContract {
  readonly input: SiteRunInput;
  readonly result: SiteRunResult;
  readonly signals: OperatorSignals &
    Approvals &
    Rollouts &
    MaasSignals &
    ChildSignals & { readonly call_progress: SliceProgress; readonly graph_news: GraphRunNews };
  readonly opening: RunOpening<RunFailure>;
  readonly updates: Openings &
    Approvals &
    Rollouts & {
      readonly pause: OperatorNote;
      readonly resume: OperatorNote;
      readonly retry_node: RetryNodeRequest;
    };
  readonly queries: {
    readonly status: RunStatus;
    readonly report: RunReport;
    readonly tree: TreeNode;
    readonly plan: ShownPlan | null;
  };
}

export interface GraphRunContract {
  readonly input: GraphRunInput;
  readonly result: GraphRunResult;
  readonly signals: OperatorSignals &
    Approvals &
    Rollouts &
    MaasSignals &
    ChildSignals &
    ParentSignals & { readonly from_part: FromPartSignal; readonly from_coordinator: FromCoordinatorSignal };
  readonly opening: RunOpening<GraphRunFailure>;
  readonly updates: Openings &
    Approvals &
    Rollouts & {
      readonly pause: OperatorNote;
      readonly resume: OperatorNote;
      readonly retry_task: OperatorNote & TaskOnNode;
      readonly skip_task: OperatorNote & TaskOnNode;
      readonly retry_node: RetryNodeRequest & { readonly tasks?: boolean };
    };
  readonly queries: {
    readonly status: GraphRunStatus;
    readonly report: GraphRunReport;
    readonly tree: TreeNode;
    /** The plans of the graphs planned so far. */
    readonly plan: readonly ({ readonly type: string } & PlanReference)[];
  };
}

export interface WorkflowContracts extends Readonly<Record<SiteRunKind, SiteRunContract>> {
  readonly execute_graph: GraphRunContract;
  readonly run_graph_part: {
    readonly input: RunGraphPartInput;
    readonly result: PartReport;
    readonly signals: MaasSignals & ParentSignals & { readonly to_part: ToPartSignal };
    readonly updates: None;
    readonly queries: { readonly status: PartStatus | null; readonly tree: readonly TreeNode[] };
  };
  readonly coordinate_parts: {
    readonly input: CoordinatePartsInput;
    readonly result: CoordinatedEnd;
    readonly signals: ParentSignals & {
      readonly to_coordinator: ToCoordinatorSignal;
      readonly from_part: FromPartSignal;
    };
    readonly updates: None;
    readonly queries: { readonly status: PartStatus };
  };
  readonly run_call: {
    readonly input: RunCallInput;
    readonly result: SliceResult;
    readonly signals: OperatorSignals & MaasSignals & ParentSignals & { readonly start_no_more: None };
    readonly updates: None;
    readonly queries: { readonly status: SliceStatus };
  };
  readonly send_notice: {
    readonly input: SendNotice;
    readonly result: SentNotice;
    readonly signals: None;
    readonly updates: None;
    readonly queries: None;
  };
  readonly drain_agent: {
    readonly input: DrainAgent;
    readonly result: DrainedAgent;
    readonly signals: None;
    readonly updates: None;
    readonly queries: None;
  };
}

export type Activities = SiteActivities &
  AuditActivities &
  GraphActivities &
  NodeTaskActivities &
  NodeControlActivities &
  NoticeActivities;

export type WorkflowType = keyof WorkflowContracts;
export type ActivityName = keyof Activities;
type NamesOf<Part extends keyof WorkflowContract> = {
  [W in WorkflowType]: keyof WorkflowContracts[W][Part] & string;
}[WorkflowType];
export type SignalName = NamesOf<'signals'>;
export type UpdateName = NamesOf<'updates'>;
export type QueryName = NamesOf<'queries'>;

type Field<T, Name extends string> = T extends { readonly [N in Name]: infer Value } ? Value : never;
/** The payload of a signal or an update, over all workflows that accept it. */
export type SignalPayload<S extends SignalName> = Field<WorkflowContracts[WorkflowType]['signals'], S>;
export type UpdateRequest<U extends UpdateName> = {
  [Name in UpdateName]: Field<WorkflowContracts[WorkflowType]['updates'], Name>;
}[U];
/** The answer of a workflow type to a query. */
export type QueryAnswer<W extends WorkflowType, Q extends string> = Field<WorkflowContracts[W]['queries'], Q>;
type StatusOf<C extends WorkflowContract> = Field<C['queries'], 'status'>;
/** The answer of a workflow to an update. */
export type UpdateAnswer<C extends WorkflowContract, U> = U extends 'opened'
  ? C extends { readonly opening: infer Opening }
    ? Opening
    : never
  : StatusOf<C>;
/** Updates that operators send. */
export type OperatorUpdate = Exclude<UpdateName, 'opened'>;

/** The result of a site run in Temporal. The full report is in the store. */
export interface SiteRunResult {
  readonly outcome: SiteRunOutcome;
  readonly site: string;
  readonly revision: number | null;
  readonly nodes: RunStatus['counts'];
  readonly groups: readonly { readonly name: string; readonly state: string; readonly reason?: string }[];
  readonly failed: RunStatus['failed'];
}

/** The result of a graph run in Temporal. The full report is in the store. */
export interface GraphRunResult {
  readonly outcome: GraphRunOutcome;
  readonly cluster: number;
  readonly transaction: number | null;
  readonly graphs: readonly {
    readonly type: string;
    readonly transaction: number;
    readonly state: string;
    readonly counts: Readonly<Record<string, number>>;
    readonly reason?: string;
  }[];
  readonly failed: readonly FailedTask[];
}

/** A child signals changes while it runs, and returns everything at its end. */
export interface SliceProgress {
  readonly slice: string;
  readonly started: readonly number[];
  readonly finished: readonly (readonly [index: number, result: NodeResult])[];
  /** All whose work in MAAS is being aborted; absent: as told before. */
  readonly aborting?: readonly number[];
}

export interface SliceResult extends SliceProgress {
  readonly end: CallEnd;
  /** Results that arrived after the end of the call. */
  readonly late: SliceProgress['finished'];
}

/** A child's answer to the query `status`. */
export interface SliceStatus {
  readonly done: number;
  readonly total: number;
  readonly running: readonly string[];
  readonly failed: readonly string[];
  readonly paused: Paused | null;
}

export interface DrainAgent {
  readonly site: string;
  readonly node: string;
  /** Stands before the name of the agent's queue. */
  readonly prefix?: string;
  /** How long to wait for the agent. */
  readonly wait_ms: number;
}

export interface DrainedAgent {
  /** run/task/attempt of the tasks that continue under its supervisor. */
  readonly unfinished: readonly string[];
}

export interface RunCallInput extends CallRequest {
  readonly slice: string;
  readonly paused: boolean;
}

export interface RunGraphPartInput extends PartOf, TaskRun {
  readonly chunks: number;
  readonly dry_run: boolean;
  /** Names of tasks that wait for approval. */
  readonly hold_before?: readonly string[];
  /** Limit of events of this history, if it is not the default. */
  readonly max_events?: number;
  /** It is the whole graph: it begins by itself, and tells nobody. */
  readonly alone?: true;
  /** Workflow id of its coordinator. Absent: the run that has started it. */
  readonly coordinator?: string;
  /** State of the previous run of this workflow, which continued as new. */
  readonly kept?: KeptGraphPart;
}

export interface CoordinatePartsInput {
  readonly graph: number;
  readonly plan: string;
  readonly chunks: number;
  readonly parts: PlanReference['parts'];
  /** Workflow ids of the parts. */
  readonly ids: readonly string[];
  readonly hold: boolean;
  /** Limit of events of this history, if it is not the default. */
  readonly max_events?: number;
  /** State of the previous run of this workflow, which continued as new. */
  readonly kept?: KeptCoordination;
}

/** No `end`: it was cancelled. */
export interface CoordinatedEnd {
  readonly end?: GraphEnd;
}

export interface KeptCoordination {
  readonly coordinator: KeptCoordinator;
  /** Executions of this workflow, from the first one on. */
  readonly runs: readonly string[];
  readonly steering: Steering;
  /** The run that it was last told by. */
  readonly by: Sender | null;
  readonly answers: FromCoordinatorSignal['answers'];
  readonly moved: FromCoordinatorSignal['moved'];
  readonly startedAt: number;
  readonly reportedAt: number;
}

/** The state of the driver of a coordinator between two runs of its workflow, as plain JSON. */
export interface KeptCoordinator {
  readonly coordinator: CoordinatorSnapshot;
  readonly peers: readonly KeptPeer[];
  readonly inbox: readonly CoordinatorEvent[];
  readonly waiting: readonly { readonly after: readonly number[] | null; readonly id: string }[];
  readonly asked: readonly PartRequest[];
  readonly seen: { readonly paused: boolean; readonly stopping: boolean; readonly approved: readonly string[] };
  readonly names: readonly (readonly [string, string])[];
  readonly offline: readonly string[] | null;
}

/** A part, as its coordinator knows it. */
export interface KeptPeer {
  readonly status: PartStatus;
  /** Number of its newest signal. */
  readonly newest: number;
  /** Its first run, once it has started. */
  readonly run: string | null;
  /** The execution that it was last heard of, and those that it has replaced. */
  readonly execution: string | null;
  readonly replaced: readonly string[];
  /** Signals that arrived before it was known whether they are its own. */
  readonly early: readonly FromPartSignal[];
  /** Of its nodes, those that do not answer; null before it has said so. */
  readonly ready: readonly string[] | null;
  readonly ended: boolean;
  /** Number of the last message that paused, resumed or stopped it. */
  readonly steered: number;
  readonly requests: readonly (PartRequest & { readonly seq: number })[];
}

/** Results of a notice, by receiver. */
export type SentNotice = Readonly<Record<string, Pick<NoticeDelivery, 'delivered' | 'status' | 'message'>>>;

/** The state that one run of the workflow passes to the next. */
export interface KeptGraphPart {
  readonly part: KeptPart;
  readonly exchange: Exchange;
}

/** Common data of all tasks of a part. */
export interface TaskRun {
  /** The graph's transaction. */
  readonly graph: number;
  /** The run id that the run keeps for good: agents keep journals by it. */
  readonly execution: string;
  readonly plan: string;
  readonly mode: 'apply' | 'noop';
  readonly debug: boolean;
  /** The answers of its tasks have what they wrote. */
  readonly output?: true;
  readonly patience: Patience;
  /** The run needs permits before it touches the nodes of its cluster; absent: nothing limits it. */
  readonly limits?: { readonly cluster: number; readonly overrides?: true };
}

/** Identifies a part. */
export interface PartOf {
  readonly transaction: number;
  readonly graph: number;
  readonly part: number;
}

/** The state of a part between two runs of its workflow, as plain JSON. */
export interface KeptPart {
  readonly scheduler: SchedulerSnapshot;
  readonly rows: KeptRows;
  /** Events that the scheduler has not processed yet. */
  readonly inbox: readonly SchedulerEvent[];
  readonly wakeAt: number | null;
  /** Number of written records. */
  readonly records: number;
}

/** One call of a group: applies the same verb to each of its nodes, with limits for parallel nodes and for time. */
export interface CallRequest {
  readonly verb: CallVerb;
  readonly group: string;
  readonly site: string;
  readonly revision: number;
  readonly run_id: string;
  readonly nodes: readonly {
    readonly index: number;
    readonly name: string;
    readonly system_id?: string;
    readonly attempt: number;
  }[];
  readonly interval: number;
  readonly timeout: number;
  readonly max_parallel_nodes: number;
  readonly heartbeat_seconds: number;
  /** Of a rollout: nothing starts any more once so many have failed. */
  readonly failures_left?: number;
  /** See `NodeCall`. */
  readonly permit?: NodeCall['permit'];
  readonly erase?: boolean;
  /** Names of nodes; see `SiteRunInput`. */
  readonly adopt?: readonly string[];
}

/** State of the message exchange with the parent. Part of the input of a continued run: the field names are stored. */
export interface Exchange {
  /** Number of the last signal to the parent. */
  seq: number;
  reportedAt: number;
  reported: Pick<TaskCounts, 'failed' | 'running' | 'waiting'>;
  readonly startedAt: number;
}

export type CallVerb = 'prepare' | 'deploy' | 'release';

/** Time limits for agents, from the answer of `open_graph_run`. */
export interface Patience {
  readonly heartbeat_seconds: number;
  /**
   * The same for tasks on nodes, and then longer: it includes the wait for the next attempt, which the server then does not
   * schedule, so that an offline agent is detected as early.
   */
  readonly agent_heartbeat_seconds: number;
  /** How long to wait for a node that does not answer. */
  readonly offline_wait_seconds: number;
  /** How late a timer may write due rows and reports while tasks keep ending (`Pace`). */
  readonly busy_slack_seconds: number;
}
