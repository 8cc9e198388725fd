import type { SiteActivities } from '../activities/contract.ts';
import type { GraphActivities, NodeControlActivities, NodeTaskActivities } from '../activities/graph-contract.ts';
import type { NoticeActivities } from '../activities/notice-contract.ts';
import type { GraphRunNews, ShownPlan } from '../src/core/contracts/site-run.ts';
import type {
  FailedTask,
  GraphRunFailure,
  GraphRunInput,
  GraphRunReport,
  GraphRunStatus,
  PartReport,
  PartStatus,
  PlanReference,
} from '../src/core/graph-run/index.ts';
import type { Diagnostic } from '../src/core/problems/diagnostic.ts';
import type {
  ApprovalRequest,
  GraphRunOutcome,
  MaasSilence,
  OperatorNote,
  SiteRunOutcome,
} from '../src/core/run/index.ts';
import type { SendNotice } from '../src/core/run/notice.ts';
import type {
  RunFailure,
  RunReport,
  RunStatus,
  SiteRunInput,
  SiteRunKind,
  TreeNode,
} from '../src/core/site-run/index.ts';
import type { TaskOnNode } from '../src/core/task-on-node.ts';
import type { SliceProgress, SliceResult, SliceStatus } from './call-slices.ts';
import type { DrainAgent, DrainedAgent } from './drain-agent.ts';
import type { FromPartSignal, ToPartSignal } from './graph-signals.ts';
import type { RunCallInput } from './run-call.ts';
import type { RunGraphPartInput } from './run-graph-part.ts';
import type { SentNotice } from './send-notice.ts';

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
  /** Null for a run on a site. */
  readonly transaction: number | null;
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

export interface SiteRunContract {
  readonly input: SiteRunInput;
  readonly result: SiteRunResult;
  readonly signals: OperatorSignals &
    Approvals &
    MaasSignals & { readonly call_progress: SliceProgress; readonly graph_news: GraphRunNews };
  readonly opening: RunOpening<RunFailure>;
  readonly updates: Openings &
    Approvals & {
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
  readonly signals: OperatorSignals & Approvals & MaasSignals & { readonly from_part: FromPartSignal };
  readonly opening: RunOpening<GraphRunFailure>;
  readonly updates: Openings &
    Approvals & {
      readonly pause: OperatorNote;
      readonly resume: OperatorNote;
      readonly retry_task: TaskRequest;
      readonly skip_task: TaskRequest;
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
    readonly signals: MaasSignals & { readonly to_part: ToPartSignal };
    readonly updates: None;
    readonly queries: { readonly status: PartStatus | null; readonly tree: readonly TreeNode[] };
  };
  readonly run_call: {
    readonly input: RunCallInput;
    readonly result: SliceResult;
    readonly signals: OperatorSignals & MaasSignals;
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

export interface RetryNodeRequest extends OperatorNote {
  readonly node: string;
}

export interface TaskRequest extends OperatorNote, TaskOnNode {}
