import type { Call, GroupState, NodeState } from '../deployment/index.js';
import type { Paused, SiteRunOutcome } from '../run/index.js';
import type { PhaseName } from './report.js';

/** Answer of the query `status`, and of the updates `pause` and `resume`: small enough to ask every second. */
export interface RunStatus {
  readonly site: string;
  readonly phase: PhaseName | 'starting' | 'finished';
  readonly paused: Paused | null;
  readonly stopping: boolean;
  readonly outcome?: SiteRunOutcome;
  /** Nodes that came to their end, of all nodes of the run. */
  readonly done: number;
  readonly total: number;
  readonly counts: Readonly<Record<NodeState, number>>;
  /** Failing first: at most twenty, with their reasons. */
  readonly failed: readonly { readonly node: string; readonly group?: string; readonly reason: string }[];
  readonly current: {
    readonly group: string;
    readonly call: Call;
    readonly running: readonly string[];
    readonly waiting: number;
  } | null;
  readonly groups: readonly {
    readonly name: string;
    readonly critical: boolean;
    readonly state: GroupState;
    readonly reason?: string;
  }[];
}

/** Answer of the query `tree`: every step and node, children in the order they happened. */
export interface TreeNode {
  readonly name: string;
  readonly kind: 'run' | 'phase' | 'group' | 'call' | 'node';
  readonly state: string;
  readonly detail?: string;
  readonly children?: readonly TreeNode[];
}
