import type { NodeState } from '../words.ts';

/** The stage names of the replaced systems, used by `strategy simulate`. */
export const STAGE_NAMES: Readonly<Record<NodeState, string>> = {
  waiting: 'NOT_STARTED',
  not_reached: 'NOT_STARTED',
  prepared: 'PREPARED',
  success: 'DEPLOYED',
  failed: 'FAILED',
};
