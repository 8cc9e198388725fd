import type { NodeReport, NodeResult } from '../src/core/deployment/index.js';
import type { SiteRunOutcome } from '../src/core/run/index.js';
import type { Pace, RunFailure, RunReport, SitePlan, SiteRunKind } from '../src/core/site-run/index.js';

/**
 * What workflows may ask of the outside world. Types only: workflows import this file, activities
 * implement it. Names are wire names (workflows/protocol.ts lists them): operators see them.
 */
export interface SiteActivities {
  /** Claims the site for this run and writes the run's row. Safe to repeat. */
  open_run(request: OpenRun): Promise<OpenRunAnswer>;
  /** Loads a revision, validates it, resolves groups, and for update_site finds the difference. */
  load_plan(request: LoadPlan): Promise<LoadPlanAnswer>;
  verify_site(request: SiteCheck): Promise<SiteCheckAnswer>;
  prepare_site(request: SiteCheck): Promise<SiteCheckAnswer>;
  /** Takes a machine to a state from which it can be deployed. */
  prepare_node(request: NodeCall): Promise<NodeResult>;
  deploy_node(request: NodeCall): Promise<NodeResult>;
  release_node(request: NodeCall): Promise<NodeResult>;
  /** Aborts what MAAS still does for a node whose call ended without a result, and says what it found. */
  abort_node(request: NodeCall): Promise<AbortAnswer>;
  /** Reads where a node stands, and changes nothing. */
  look_at_node(request: NodeCall): Promise<AbortAnswer>;
  /** test_site: the real state of every node, nothing changed. */
  inspect_nodes(request: InspectNodes): Promise<InspectNodesAnswer>;
  record_progress(request: ProgressRecord): Promise<void>;
  /** Writes the final report, marks a good revision, releases the site. Safe to repeat. */
  close_run(request: CloseRun): Promise<void>;
}

export interface OpenRun {
  readonly kind: SiteRunKind;
  readonly site: string;
  readonly workflow_id: string;
  readonly run_id: string;
  readonly started_at: string;
  readonly started_by?: string | undefined;
  readonly reason?: string | undefined;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export type OpenRunAnswer =
  /** `search_attributes`: those that this server knows; setting another one would block the workflow. */
  | { readonly ok: true; readonly search_attributes: readonly string[] }
  | { readonly ok: false; readonly failure: RunFailure };

export interface LoadPlan {
  readonly kind: SiteRunKind;
  readonly site: string;
  readonly revision?: string | number | undefined;
  readonly nodes?: readonly string[] | undefined;
}

export type LoadPlanAnswer =
  | { readonly ok: true; readonly plan: SitePlan }
  | { readonly ok: false; readonly failure: RunFailure };

export interface SiteCheck {
  readonly site: string;
  readonly revision: number;
  readonly pace: Pace;
  /** Only these nodes are of interest; absent: all. */
  readonly nodes?: readonly string[];
  /** They are going to be released: none may be refused then. */
  readonly release?: boolean;
}

export interface SiteCheckAnswer {
  readonly ok: boolean;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  /** What was changed in MAAS. */
  readonly changes?: readonly string[];
}

export interface NodeCall {
  readonly site: string;
  readonly revision: number;
  readonly node: string;
  readonly run_id: string;
  /** 1, and one more for each operator's retry: another request, so that an old failure is not taken for its result. */
  readonly attempt: number;
  /** Known from an earlier call; host names can change, this cannot. */
  readonly system_id?: string;
  /** Longest pause between two looks at the machine, seconds. */
  readonly interval: number;
  /** release_node: erase the disks too. */
  readonly erase?: boolean;
}

export interface AbortAnswer {
  /** `deployed` and `ready` mean that the work had succeeded after all: a late result. */
  readonly found: 'aborted' | 'deployed' | 'ready' | 'failed' | 'running' | 'nothing';
  readonly message: string;
}

export interface InspectNodes {
  readonly site: string;
  readonly revision: number;
}

export interface InspectNodesAnswer {
  readonly counts: Readonly<Record<string, number>>;
  /** Nodes that are not as the documents want them, each with the reason; at most 300. */
  readonly problems: readonly { readonly node: string; readonly problem: string }[];
}

export interface ProgressRecord {
  readonly run_id: string;
  /** Grows with each record of a run: an older one never overwrites a newer. */
  readonly sequence: number;
  readonly phase: string;
  readonly failed_nodes: number;
  readonly nodes: readonly NodeReport[];
}

export interface CloseRun {
  readonly kind: SiteRunKind;
  readonly site: string;
  readonly workflow_id: string;
  readonly run_id: string;
  readonly outcome: SiteRunOutcome;
  readonly ended_at: string;
  /** Cut to size; the nodes were recorded by `record_progress`. */
  readonly report: RunReport;
  readonly failed_nodes: number;
  /** The revision is deployed on this site now. */
  readonly deployed_revision?: number;
}
