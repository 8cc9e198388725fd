/**
 * How runs, graphs, nodes, groups, phases, calls and tasks end: the only words for it, of which each kind has its own few.
 * Those of Fuel are made from them in `src/api/fuel`, those of the recorded systems where their results are printed.
 */
export const OUTCOMES = [
  'success',
  'failed',
  /** Of a run of a site: it succeeded, though nodes failed. */
  'success_with_failures',
  /** It succeeded, but no task had any work. */
  'nothing_to_do',
  /** A task failed whose failure does not count. */
  'ignored',
  /** It did not run because something before it, or its node, failed. */
  'blocked',
  /** The run ended before its turn. */
  'not_reached',
  /** It has no work, as planned, or an operator skipped it. */
  'skipped',
  /** It was not started, because its input is not valid. */
  'refused',
  /** By an operator, with work left. */
  'stopped',
  'cancelled',
  /** Terminated in Temporal. */
  'terminated',
  /** Nobody knows any more how it ended. */
  'lost',
] as const;
type Outcome = (typeof OUTCOMES)[number];

/** The same, until they end. */
export const STATES = [
  'waiting',
  'planning',
  /** Nodes are asked whether their agents run. */
  'asking_nodes',
  'running',
  /** Between two attempts. */
  'retrying',
  /** Tasks or nodes have failed, and an operator decides. */
  'held',
  /** Of a rollout: a wave is left alone before it is judged. */
  'soaking',
  /** Of a rollout: the checks of a wave are asked. */
  'checking',
  'awaiting_approval',
  'paused',
  /** Of a node or a group, between its two calls. */
  'prepared',
] as const;
type State = (typeof STATES)[number];

/** A list of words for one kind of them. */
export type Words = readonly (Outcome | State)[];
