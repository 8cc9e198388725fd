import type { SiteActivities } from '../activities/contract.js';
import type { GraphActivities, NodeControlActivities, NodeTaskActivities } from '../activities/graph-contract.js';
import type {
  FailedTask,
  GraphRunInput,
  GraphRunReport,
  GraphRunStatus,
  PartNews,
  PartReport,
  PlanReference,
} from '../src/core/graph-run/index.js';
import type { GraphRunOutcome, OperatorNote, SiteRunOutcome } from '../src/core/run/index.js';
import type {
  RunReport,
  RunStatus,
  SitePlan,
  SiteRunInput,
  SiteRunKind,
  TreeNode,
} from '../src/core/site-run/index.js';
import type { SliceProgress, SliceResult, SliceStatus } from './call-slices.js';
import type { DrainAgent, DrainedAgent } from './drain-agent.js';
import type { FromPartSignal, ToPartSignal } from './graph-signals.js';
import type { RunCallInput } from './run-call.js';
import type { RunGraphPartInput } from './run-graph-part.js';

/**
 * What each workflow takes, answers and understands, and what each activity does: declared here once, as types only, for
 * workflows, for clients and for tests. The names are wire names (protocol.ts).
 */
export interface WorkflowContract {
  readonly input: unknown;
  readonly result: unknown;
  /** Payload of each signal. */
  readonly signals: object;
  /** Request of each update. All of them are answered with the status as it is afterwards. */
  readonly updates: object;
  /** Answer of each query. */
  readonly queries: object;
}

interface OperatorSignals {
  readonly pause: OperatorNote;
  readonly resume: OperatorNote;
  readonly stop: OperatorNote;
}

export interface SiteRunContract {
  readonly input: SiteRunInput;
  readonly result: SiteRunResult;
  readonly signals: OperatorSignals & { readonly call_progress: SliceProgress };
  readonly updates: {
    readonly pause: OperatorNote;
    readonly resume: OperatorNote;
    readonly retry_node: RetryNodeRequest;
  };
  readonly queries: {
    readonly status: RunStatus;
    readonly report: RunReport;
    readonly tree: TreeNode;
    readonly plan: SitePlan | null;
  };
}

export interface GraphRunContract {
  readonly input: GraphRunInput;
  readonly result: GraphRunResult;
  readonly signals: OperatorSignals & { readonly from_part: FromPartSignal };
  readonly updates: {
    readonly pause: OperatorNote;
    readonly resume: OperatorNote;
    readonly retry_task: TaskRequest;
    readonly skip_task: TaskRequest;
  };
  readonly queries: {
    readonly status: GraphRunStatus;
    readonly report: GraphRunReport;
    readonly tree: TreeNode;
    /** Of the graphs planned so far. */
    readonly plan: readonly ({ readonly type: string } & PlanReference)[];
  };
}

type None = Readonly<Record<never, never>>;

export interface WorkflowContracts extends Readonly<Record<SiteRunKind, SiteRunContract>> {
  readonly execute_graph: GraphRunContract;
  readonly run_graph_part: {
    readonly input: RunGraphPartInput;
    readonly result: PartReport;
    readonly signals: { readonly to_part: ToPartSignal };
    readonly updates: None;
    readonly queries: { readonly status: PartNews | null; readonly tree: readonly TreeNode[] };
  };
  readonly run_call: {
    readonly input: RunCallInput;
    readonly result: SliceResult;
    readonly signals: OperatorSignals;
    readonly updates: None;
    readonly queries: { readonly status: SliceStatus };
  };
  readonly drain_agent: {
    readonly input: DrainAgent;
    readonly result: DrainedAgent;
    readonly signals: None;
    readonly updates: None;
    readonly queries: None;
  };
}

export type Activities = SiteActivities & GraphActivities & NodeTaskActivities & NodeControlActivities;

export type WorkflowType = keyof WorkflowContracts;
export type ActivityName = keyof Activities;
type NamesOf<Part extends keyof WorkflowContract> = {
  [W in WorkflowType]: keyof WorkflowContracts[W][Part] & string;
}[WorkflowType];
export type SignalName = NamesOf<'signals'>;
export type UpdateName = NamesOf<'updates'>;
export type QueryName = NamesOf<'queries'>;

type Field<T, Name extends string> = T extends { readonly [N in Name]: infer Value } ? Value : never;
/** What is sent with a signal or an update, whichever workflows understand it. */
export type SignalPayload<S extends SignalName> = Field<WorkflowContracts[WorkflowType]['signals'], S>;
export type UpdateRequest<U extends UpdateName> = {
  [Name in UpdateName]: Field<WorkflowContracts[WorkflowType]['updates'], Name>;
}[U];
/** What workflows of a type answer to a query, and to every update. */
export type QueryAnswer<W extends WorkflowType, Q extends string> = Field<WorkflowContracts[W]['queries'], Q>;
export type StatusOf<C extends WorkflowContract> = Field<C['queries'], 'status'>;

/** What a finished run on a site returns to Temporal; the full report is in the store. */
export interface SiteRunResult {
  readonly outcome: SiteRunOutcome;
  readonly site: string;
  readonly revision: number | null;
  readonly nodes: RunStatus['counts'];
  readonly groups: readonly { readonly name: string; readonly state: string; readonly reason?: string }[];
  readonly failed: RunStatus['failed'];
}

/** What a finished run of graphs returns to Temporal; the full report is in the store. */
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

export interface TaskRequest extends OperatorNote {
  /** `task@node`. */
  readonly task: string;
}
