import type { NodeState } from '../words.ts';

/** The stage names of the replaced systems, used by `strategy simulate`. */
export const STAGE_NAMES: Readonly<Record<NodeState, string>> = {
  not_started: 'NOT_STARTED',
  prepared: 'PREPARED',
  success: 'DEPLOYED',
  failure: 'FAILED',
};
