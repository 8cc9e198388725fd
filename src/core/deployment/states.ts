/** State of one unique node in the baremetal step (spec/5, "Process" 1). */
export type NodeState = 'not_started' | 'prepared' | 'success' | 'failure';

/** State of a group. `prepared` is passed through between its two calls. */
export type GroupState = 'not_started' | 'prepared' | 'success' | 'failure';

/** The two calls a group makes; also called the phases of deployment. */
export type Call = 'prepare' | 'deploy';

export const NODE_STATES = ['not_started', 'prepared', 'success', 'failure'] as const satisfies readonly NodeState[];

/** The stage names of the systems this replaces, used by `strategy simulate`. */
export const STAGE_NAMES: Readonly<Record<NodeState | GroupState, string>> = {
  not_started: 'NOT_STARTED',
  prepared: 'PREPARED',
  success: 'DEPLOYED',
  failure: 'FAILED',
};
