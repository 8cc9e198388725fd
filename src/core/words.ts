/**
 * Closed lists of words that leave the process: in inputs, answers, reports, the store, on the page. Each stands here
 * once; schemas, types and the page's JavaScript (`/assets/lib/words.mjs`) take it from here.
 */

/** What a token may do; each role may do all that those before it may. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** The four workflows that act on a site; also the `kind` of a run. */
export const SITE_RUN_KINDS = ['deploy_site', 'update_site', 'redeploy_nodes', 'test_site'] as const;
export type SiteRunKind = (typeof SITE_RUN_KINDS)[number];

/** How a run on a site closes by itself: nodes may fail without failing the run. */
export const SITE_RUN_OUTCOMES = ['success', 'success_with_failures', 'failed', 'stopped', 'cancelled'] as const;
export type SiteRunOutcome = (typeof SITE_RUN_OUTCOMES)[number];

export const GRAPH_RUN_OUTCOMES = [
  'success',
  'failed',
  'stopped',
  'cancelled',
] as const satisfies readonly SiteRunOutcome[];
export type GraphRunOutcome = (typeof GRAPH_RUN_OUTCOMES)[number];

/** What else may have become of a run: Temporal ended it, or has no record of it any more. */
export const LOST_OUTCOMES = ['terminated', 'lost'] as const;
export type LostOutcome = (typeof LOST_OUTCOMES)[number];

export const PHASE_NAMES = [
  'load',
  'verify_site',
  'prepare_site',
  'release',
  'baremetal',
  'release_removed',
  'inspect_nodes',
  'software',
] as const;
export type PhaseName = (typeof PHASE_NAMES)[number];

export const PHASE_STATES = ['running', 'success', 'failure', 'skipped', 'stopped'] as const;
export type PhaseState = (typeof PHASE_STATES)[number];

/** State of one unique node in the baremetal step (spec/5, "Process" 1), and of a group. */
export const NODE_STATES = ['not_started', 'prepared', 'success', 'failure'] as const;
export type NodeState = (typeof NODE_STATES)[number];

/** The two calls a group makes; also called the phases of deployment. */
export const CALLS = ['prepare', 'deploy'] as const;
export type Call = (typeof CALLS)[number];

/** What an operator can do to any run; `retry_node` to a run on a site, the other two to a run of graphs. */
export const RUN_ACTIONS = ['pause', 'resume', 'stop', 'cancel'] as const;
export type RunAction = (typeof RUN_ACTIONS)[number];
export const SITE_RUN_ACTIONS = [...RUN_ACTIONS, 'retry_node'] as const;
export type SiteRunAction = (typeof SITE_RUN_ACTIONS)[number];
export const GRAPH_RUN_ACTIONS = [...RUN_ACTIONS, 'retry_task', 'skip_task'] as const;
export type GraphRunAction = (typeof GRAPH_RUN_ACTIONS)[number];

/** `dry_run` plans only; `noop_run` has the tasks say what they would change. */
export const GRAPH_RUN_MODES = ['apply', 'dry_run', 'noop_run'] as const;
export type GraphRunMode = (typeof GRAPH_RUN_MODES)[number];

/** `failure`: a critical node failed. `stopped`: by the user, with work left. */
export const GRAPH_RESULTS = ['success', 'failure', 'stopped_by_tolerance', 'stopped'] as const;
export type RunResult = (typeof GRAPH_RESULTS)[number];

/** Where one graph of a run stands. `not_begun`: an earlier one did not succeed, or the run was stopped. */
export const GRAPH_STATES = [
  'waiting',
  'planning',
  'asking_nodes',
  'running',
  'held',
  'not_begun',
  'refused',
  ...GRAPH_RESULTS,
] as const;
export type GraphState = (typeof GRAPH_STATES)[number];

/**
 * How a task stands that will not change any more. `skipped`: no work in it, or left undone by a stop. `ignored`: an
 * error with fail_on_error=false. `dep_failed`: something it needs failed, or its node did; it never ran.
 */
export const SETTLED_STATUSES = ['successful', 'failed', 'dep_failed', 'skipped', 'ignored'] as const;
export type SettledStatus = (typeof SETTLED_STATUSES)[number];

/** `waiting`: not started; `retrying`: between two attempts. */
export const TASK_STATUSES = ['waiting', 'running', 'retrying', ...SETTLED_STATUSES] as const;
export type ShownTaskStatus = (typeof TASK_STATUSES)[number];

/** Statuses of a node of the inventory. */
export const NODE_STATUSES = [
  'discover',
  'provisioning',
  'provisioned',
  'deploying',
  'ready',
  'error',
  'stopped',
  'removing',
] as const;

export const CLUSTER_STATUSES = [
  'new',
  'deployment',
  'stopped',
  'operational',
  'partially_deployed',
  'error',
  'remove',
  'update',
  'update_error',
] as const;

export const RELEASE_STATES = ['available', 'unavailable', 'manageonly'] as const;

/** Owners of graphs and tags. */
export const OWNER_KINDS = ['release', 'plugin', 'cluster'] as const;
export type OwnerKind = (typeof OWNER_KINDS)[number];
