/**
 * Closed lists of words that leave the process, in inputs, answers, reports, the store and the page. This is their only
 * definition: schemas, types and the page use it.
 */
import type { Words } from './outcomes.ts';

/** Roles of tokens. Each role includes the rights of those before it. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** A token is made by an admin, a session by signing in. */
export const TOKEN_KINDS = ['token', 'session'] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

/** Why signing in through the provider failed; the page and the command line explain each. */
const SIGN_IN_FAILURES = ['provider-away', 'refused', 'expired', 'no-name', 'no-role'] as const;
export type SignInFailure = (typeof SIGN_IN_FAILURES)[number];

/** The four workflows that act on a site; also the `kind` of a run. */
export const SITE_RUN_KINDS = ['deploy_site', 'update_site', 'redeploy_nodes', 'test_site'] as const;
export type SiteRunKind = (typeof SITE_RUN_KINDS)[number];
/** Those that deploy machines. */
export const DEPLOYING_KINDS = SITE_RUN_KINDS.filter((kind) => kind !== 'test_site');

/** The workflow that runs graphs of tasks; also the `kind` of a run. */
export const GRAPH_RUN_KIND = 'execute_graph';

/** The kinds of all runs. */
export const RUN_KINDS = [...SITE_RUN_KINDS, GRAPH_RUN_KIND] as const;

/** Kinds of runs that a schedule may start. */
export const SCHEDULED_KINDS = ['test_site', 'update_site', GRAPH_RUN_KIND] as const;
export type ScheduledKind = (typeof SCHEDULED_KINDS)[number];

/** Policy of a schedule if a run is due while its last one is running. */
export const OVERLAP_POLICIES = ['skip', 'buffer_one', 'buffer_all', 'cancel_other'] as const;
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number];

/**
 * Builds of the workers. `current`: new runs go to it. `ramping`: a share of them does. `draining`: it was current, and open runs
 * are pinned to it; `drained`: none is any more. `inactive`: it never was current.
 */
export const WORKER_VERSION_STATUSES = ['inactive', 'current', 'ramping', 'draining', 'drained'] as const;
export type WorkerVersionStatus = (typeof WORKER_VERSION_STATUSES)[number];

/** The setting `temporal.worker_versioning`. */
export const WORKER_VERSIONING = ['auto', 'manual', 'off'] as const;

/** Events of notices about runs; `test` on request. */
export const NOTICE_EVENTS = ['failed', 'held', 'awaiting_approval', 'stuck', 'test'] as const;
export type NoticeEvent = (typeof NOTICE_EVENTS)[number];

/** `json`: all of it. `text`: only its text, as chat programs take it. */
export const NOTICE_FORMATS = ['json', 'text'] as const;

/** How a site run ends: nodes may fail without failing the run. */
export const SITE_RUN_OUTCOMES = [
  'success',
  'success_with_failures',
  'failed',
  'stopped',
  'cancelled',
] as const satisfies Words;
export type SiteRunOutcome = (typeof SITE_RUN_OUTCOMES)[number];

export const GRAPH_RUN_OUTCOMES = [
  'success',
  'nothing_to_do',
  'failed',
  'stopped',
  'cancelled',
] as const satisfies Words;
export type GraphRunOutcome = (typeof GRAPH_RUN_OUTCOMES)[number];

/** How a run says itself that it has ended. */
export type RunOutcome = SiteRunOutcome | GraphRunOutcome;

/** Other outcomes of a run: terminated in Temporal, or no longer known to Temporal. */
export const LOST_OUTCOMES = ['terminated', 'lost'] as const satisfies Words;
export type LostOutcome = (typeof LOST_OUTCOMES)[number];

/** Every outcome that a run can have. */
export const RUN_OUTCOMES = [
  'success',
  'success_with_failures',
  'nothing_to_do',
  'failed',
  'stopped',
  'cancelled',
  ...LOST_OUTCOMES,
] as const satisfies readonly (RunOutcome | LostOutcome)[];

const ONLY_OF_ITSELF: readonly string[] = ['success', 'success_with_failures', 'nothing_to_do', 'stopped'];

/** Whether only a run that wrote its report and closed its record ends so. */
export const hasClosedItself = (outcome: string | null): boolean =>
  outcome !== null && ONLY_OF_ITSELF.includes(outcome);

export const PHASE_NAMES = [
  'fetch',
  'load',
  'verify_site',
  'prepare_site',
  'release',
  'baremetal',
  'release_removed',
  'inspect_nodes',
  'checks',
  'software',
] as const;
export type PhaseName = (typeof PHASE_NAMES)[number];

export const PHASE_STATES = ['running', 'success', 'failed', 'skipped', 'stopped'] as const satisfies Words;

/** State of a node in the baremetal step (docs/explain/design.md#spec-5, "Process" 1), and of a group. */
export const NODE_STATES = ['waiting', 'not_reached', 'prepared', 'success', 'failed'] as const satisfies Words;
export type NodeState = (typeof NODE_STATES)[number];

/** States of the nodes of a run: waiting ones are not reached once it has ended. */
export const nodeStatesOf = (hasEnded: boolean): readonly NodeState[] =>
  NODE_STATES.filter((state) => state !== (hasEnded ? 'waiting' : 'not_reached'));

/** State of the rollout of a group or a role. */
export const ROLLOUT_STATES = [
  'waiting',
  'running',
  'soaking',
  'checking',
  'held',
  'success',
  'stopped',
] as const satisfies Words;

/** The two calls a group makes; also called the phases of deployment. */
export const CALLS = ['prepare', 'deploy'] as const;
export type Call = (typeof CALLS)[number];
/** What may run on a node. After a call that was cut short, its work in MAAS is aborted. */
export const NODE_STEPS = [...CALLS, 'abort'] as const;

/** Of a step that takes longer than 99 of 100 earlier ones; `stuck`: much longer. */
export const LATE_PACES = ['slow', 'stuck'] as const;

/** Operator actions on any run. `retry_task` and `skip_task` are for graph runs. */
const RUN_ACTIONS = ['pause', 'resume', 'stop', 'cancel', 'approve', 'reject'] as const;
export type RunAction = (typeof RUN_ACTIONS)[number];

/** Decisions of operators on a run that waits for approval. */
export const DECISIONS = ['approved', 'rejected'] as const;
export type Decision = (typeof DECISIONS)[number];

/** Operator actions on the rollouts of a run. */
export const ROLLOUT_ACTIONS = ['promote', 'hold', 'abort_rollout'] as const;
export type RolloutAction = (typeof ROLLOUT_ACTIONS)[number];

export const SITE_RUN_ACTIONS = [...RUN_ACTIONS, 'retry_node', ...ROLLOUT_ACTIONS] as const;
export type SiteRunAction = (typeof SITE_RUN_ACTIONS)[number];
export const GRAPH_RUN_ACTIONS = [...RUN_ACTIONS, 'retry_task', 'skip_task', 'retry_node', ...ROLLOUT_ACTIONS] as const;
export type GraphRunAction = (typeof GRAPH_RUN_ACTIONS)[number];

/** `dry_run` only plans. In a `noop_run`, tasks report what they would change. */
export const ASKED_MODES = ['apply', 'dry_run', 'noop_run'] as const;
/** `check`: the run asks checks of a site. Nothing of it becomes a state of its nodes. */
export const GRAPH_RUN_MODES = [...ASKED_MODES, 'check'] as const;
export type GraphRunMode = (typeof GRAPH_RUN_MODES)[number];

/** `failed`: more nodes failed than it tolerates. */
const GRAPH_RESULTS = ['success', 'failed', 'stopped'] as const satisfies Words;
export type RunResult = (typeof GRAPH_RESULTS)[number];

/** How a graph ends that its run began. `refused`: it cannot be planned. */
const GRAPH_OUTCOMES = ['refused', 'nothing_to_do', ...GRAPH_RESULTS] as const satisfies Words;
export type GraphOutcome = (typeof GRAPH_OUTCOMES)[number];
export const isGraphOutcome = (state: string): state is GraphOutcome =>
  (GRAPH_OUTCOMES as readonly string[]).includes(state);

/** State of one graph of a run. */
export const GRAPH_STATES = [
  'waiting',
  'planning',
  'asking_nodes',
  'running',
  'held',
  'not_reached',
  ...GRAPH_OUTCOMES,
] as const satisfies Words;
export type GraphState = (typeof GRAPH_STATES)[number];

/** How a task that ran ended. */
export const DONE_STATUSES = ['success', 'ignored', 'failed'] as const satisfies Words;

/** Why a task with work did not run. */
const UNRUN_STATUSES = ['blocked', 'not_reached'] as const satisfies Words;

/** Statuses of tasks with work, which progress counts. */
export const WORK_STATUSES = [
  'waiting',
  'running',
  'retrying',
  ...DONE_STATUSES,
  ...UNRUN_STATUSES,
] as const satisfies Words;

/** Whatever happens around a skipped task, it stays skipped. */
export const TASK_STATUSES = [...WORK_STATUSES, 'skipped'] as const satisfies Words;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** All statuses of tasks, the worst first. */
export const TASK_STATUSES_WORST_FIRST: readonly TaskStatus[] = [
  'failed',
  'retrying',
  'running',
  'waiting',
  ...UNRUN_STATUSES,
  'success',
  'ignored',
  'skipped',
];

/** Statuses of a transaction: a run of graphs, or one graph of it, until it ends. */
export const OPEN_TRANSACTION_STATUSES = ['waiting', 'running'] as const satisfies Words;

/** The outcome of a run, or the state in which one of its graphs ended. */
const ENDED_TRANSACTION_STATUSES = [
  ...GRAPH_RUN_OUTCOMES,
  ...LOST_OUTCOMES,
  'not_reached',
  'refused',
] as const satisfies Words;
export type TransactionEnd = (typeof ENDED_TRANSACTION_STATUSES)[number];

export const TRANSACTION_STATUSES = [...OPEN_TRANSACTION_STATUSES, ...ENDED_TRANSACTION_STATUSES] as const;
export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number];

export const isTransactionOpen = (status: TransactionStatus): boolean => status === 'waiting' || status === 'running';

/** Statuses of a node in the inventory, in Fuel's words: the YAQL of graphs reads and sets them. */
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

/** In Fuel's words, too. */
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

/** Why a node does not have what its cluster is built of. */
export const VERSION_GAPS = ['never', 'unfinished', 'release', 'plugins', 'settings', 'documents', 'tasks'] as const;
export type VersionGap = (typeof VERSION_GAPS)[number];
