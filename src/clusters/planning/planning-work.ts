import type { PlanExplanation } from '../../core/contracts/fuel/plan-explanation.js';
import type { Diagnostic } from '../../core/diagnostic.js';
import type { GraphProblem } from '../../graph/index.js';
import type { TaskStates } from '../../store/index.js';
import type { ClusterPlanRequest, ClusterSources, NodeLeftOut, StoredLayer, Surroundings } from '../index.js';
import type { PreparedRun } from './prepared-run.js';

/** All that one graph's plan is made of, as plain data: it may be worked on in another thread. */
export interface PlanningWork {
  readonly sources: ClusterSources;
  readonly layers: readonly StoredLayer[];
  readonly request: ClusterPlanRequest;
  /** What earlier runs left, as it is stored; absent: everything counts as changed. */
  readonly states?: TaskStates;
  readonly surroundings: Surroundings;
  /** Of a run: how many tasks with work its own workflow has room for; children drive more. */
  readonly room?: number;
}

/** A plan for people: what runs and what does not, and why, with the nodes that were left out and all warnings. */
export interface ExplainedPlan extends PlanExplanation {
  readonly left_out: readonly NodeLeftOut[];
  readonly warnings: readonly Diagnostic[];
}

/** What can be made of a plan. The plan itself never leaves the thread that made it. */
export interface PlanForms {
  /** All that is stored for a run. */
  readonly run: PreparedRun;
  readonly explanation: ExplainedPlan;
  /** The explanation as text. */
  readonly text: string;
  /** Every task on every node, in the language of Graphviz. */
  readonly dot: string;
  /** JSON text in the form that executors of the Fuel line get. */
  readonly serialized: string;
}

export type PlanForm = keyof PlanForms;

export type PlanningAnswer<Form extends PlanForm> =
  | { readonly ok: true; readonly value: PlanForms[Form] }
  /** `no-graph`: no layer has a task of this type. */
  | { readonly ok: false; readonly reason: 'no-graph' | 'refused'; readonly problems: readonly GraphProblem[] };

/**
 * Makes plans of graphs. A plan that is refused is an answer; a rejection is an error of the program, or the reason of
 * `signal`, once that is aborted.
 */
export interface Planner {
  plan<Form extends PlanForm>(form: Form, work: PlanningWork, signal?: AbortSignal): Promise<PlanningAnswer<Form>>;
}
