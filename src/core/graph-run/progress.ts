import type { GraphOperatorAction } from '../contracts/graph-run.ts';
import type { AnyProgress } from '../run/progress.ts';
import type { showRollouts } from '../scheduler/rollouts.ts';
import type { GraphRunOutcome, GraphState } from '../words.ts';
import type { GraphRunFailure } from './failure.ts';
import type { GraphRunInput } from './input.ts';
import type { PartReport } from './part-report.ts';
import type { PartStatus, TreeOfPart } from './part-status.ts';
import type { PlanReference } from './plan-reference.ts';

export interface GraphProgress {
  readonly type: string;
  /** Id of the graph's transaction. */
  readonly transaction: number;
  state: GraphState;
  started_at?: number;
  ended_at?: number;
  /** True while its result is written to the store. */
  closing?: boolean;
  plan?: PlanReference;
  reason?: string;
  /** Nodes that did not answer before the graph started. */
  offline: readonly string[];
  /** While its nodes are asked whether their agents run: those that have not answered yet. */
  unanswered?: () => readonly string[];
  /** How people call the node; read on request. Absent: its id. */
  nameOf?: (node: string) => string;
  /** By part; read on request. */
  statuses(): readonly PartStatus[];
  /** Number of nodes that fail, asked after each turn: costs less than the statuses that tell it, too. */
  failing(): number;
  /** By part, as far as this workflow knows. */
  trees(): readonly TreeOfPart[];
  /** How its rollouts stand; read on request. Absent: it has none. */
  rollouts?: () => ReturnType<typeof showRollouts>;
  report?: PartReport;
}

/** The whole state of an `execute_graph` run. Queries and reports are derived from it. */
export interface GraphRunProgress extends AnyProgress<GraphRunInput, GraphRunOutcome, GraphRunFailure> {
  transaction: number | null;
  cluster: { readonly id: number; readonly name: string; readonly site: string | null } | null;
  graphs: GraphProgress[];
  readonly operator: GraphOperatorAction[];
}
