import type { PlannedCheck } from '../../core/checks/check.ts';
import type { PlanExplanation } from '../../core/contracts/fuel/plan-explanation.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import type { GraphProblem } from '../../graph/index.ts';
import type { SavedStates } from '../../store/index.ts';
import type { NodeLeftOut } from '../node-choice.ts';
import type { ClusterPlanRequest } from '../plan-cluster.ts';
import type { ClusterSources, StoredLayer } from '../sources.ts';
import type { Surroundings } from '../state/cluster-state.ts';
import type { PreparedPiece, StoredReference } from './prepared-run.ts';

export interface OpenPlanner extends Planner {
  close(): Promise<void>;
}

/** The input of one graph's plan, as plain data that can go to another thread. */
export interface PlanningWork {
  readonly sources: ClusterSources;
  readonly layers: readonly StoredLayer[];
  readonly request: ClusterPlanRequest;
  /** Stored states of earlier runs; absent: everything counts as changed. */
  readonly states?: SavedStates;
  readonly surroundings: Surroundings;
  /** Checks in the documents of the cluster's site; absent: it has no documents, or no rollout needs them. */
  readonly checks?: readonly PlannedCheck[];
  /** Racks in these documents, by the names of machines; absent: no rollout needs them. */
  readonly racks?: Readonly<Record<string, string>>;
  /** Tasks on `master` may run: the setting `agent.master`. Absent: a run with one is refused. */
  readonly masterAllowed?: boolean;
  /** Of a run: the capacity of its own workflow, in tasks with work; child workflows run the rest. */
  readonly capacity?: number;
  /** Of a run: prefix of the names of the nodes' queues. */
  readonly prefix?: string;
}

/** A plan for people: what runs, what does not, and why, with the excluded nodes and all warnings. */
export interface ExplainedPlan extends PlanExplanation {
  readonly left_out: readonly NodeLeftOut[];
  readonly warnings: readonly Diagnostic[];
}

/** The forms of a plan. The plan itself never leaves its thread. */
export interface PlanForms {
  /** Everything to store for a run has been received before. */
  readonly run: StoredReference;
  readonly explanation: ExplainedPlan;
  /** The explanation as text. */
  readonly text: string;
  /** Every task on every node in Graphviz format. */
  readonly dot: string;
  /** JSON text in the form for Fuel's executors. */
  readonly serialized: string;
}

export type PlanForm = keyof PlanForms;

export type PlanningAnswer<Form extends PlanForm> =
  | { readonly ok: true; readonly value: PlanForms[Form] }
  /** `no-graph`: no layer has a task of this type. */
  | { readonly ok: false; readonly reason: 'no-graph' | 'refused'; readonly problems: readonly GraphProblem[] };

/** The next piece is made when the promise of the one before is kept. */
export type ReceivePrepared = (piece: PreparedPiece) => Promise<void>;

/**
 * Plans graphs. A refused plan is an answer. A rejection is a defect, the reason of an aborted `signal`, or that of `receive`, which gets
 * what the plan of a `run` stores.
 */
export interface Planner {
  plan<Form extends PlanForm>(
    form: Form,
    work: PlanningWork,
    signal?: AbortSignal,
    receive?: ReceivePrepared,
  ): Promise<PlanningAnswer<Form>>;
}
