/**
 * All names that leave this process: operators type them, histories contain them, other programs rely on them.
 * A golden file lists them (test/golden/protocol.txt), so that no one renames one by accident. Plain data:
 * any module may import this file.
 */

import { taskKey } from '../src/core/task-on-node.ts';
import { GRAPH_RUN_ACTIONS, SITE_RUN_ACTIONS } from '../src/core/words.ts';
import type { ActivityName, QueryName, SignalName, UpdateName, WorkflowType } from './contract.ts';

/** Exactly the names that contract.ts declares. */
type Names<N extends string> = { readonly [Name in N]: Name };

/** Header of workflows and activities: the trace that they belong to (W3C Trace Context). */
export const TRACE_HEADER = 'traceparent';

export const WORKFLOWS = {
  deploy_site: 'deploy_site',
  update_site: 'update_site',
  redeploy_nodes: 'redeploy_nodes',
  test_site: 'test_site',
  execute_graph: 'execute_graph',
  /** Child of execute_graph: one part of a big plan. */
  run_graph_part: 'run_graph_part',
  /** Child of execute_graph: coordinates the parts of a very big plan. */
  coordinate_parts: 'coordinate_parts',
  /** Child of a site workflow on big sites: one call on a slice of a group's nodes. */
  run_call: 'run_call',
  /** Started by runs: sends a notice to all that want it. */
  send_notice: 'send_notice',
  /** Asks one agent to drain. */
  drain_agent: 'drain_agent',
} as const satisfies Names<WorkflowType>;

export const SIGNALS = {
  pause: 'pause',
  resume: 'resume',
  stop: 'stop',
  approve: 'approve',
  reject: 'reject',
  promote: 'promote',
  hold: 'hold',
  abort_rollout: 'abort_rollout',
  call_progress: 'call_progress',
  graph_news: 'graph_news',
  from_part: 'from_part',
  to_part: 'to_part',
  from_coordinator: 'from_coordinator',
  to_coordinator: 'to_coordinator',
  /** From a worker: whether MAAS answers. */
  maas_silence: 'maas_silence',
  /** From a worker: a child whose end no one told the run. */
  child_gone: 'child_gone',
  /** From a run to a slice of its nodes: its rollout has reached its limit. */
  start_no_more: 'start_no_more',
  /** From a parent to a child that it has cancelled: whether it still runs. */
  probe: 'probe',
} as const satisfies Names<SignalName>;

/** Sent with the start of a run, and operator actions with an answer. `stop` is a signal, and Temporal itself cancels. */
export const UPDATES: readonly UpdateName[] = [
  'opened',
  ...[...new Set([...SITE_RUN_ACTIONS, ...GRAPH_RUN_ACTIONS])].filter(
    (action) => action !== 'stop' && action !== 'cancel',
  ),
];

/** Field of a run's memo: whoever starts the run sends the update `opened` with it. */
export const ANSWERED = 'answered';

export const QUERIES = {
  status: 'status',
  report: 'report',
  tree: 'tree',
  plan: 'plan',
} as const satisfies Names<QueryName>;

export const ACTIVITIES = {
  open_run: 'open_run',
  fetch_source: 'fetch_source',
  load_plan: 'load_plan',
  verify_site: 'verify_site',
  prepare_site: 'prepare_site',
  prepare_node: 'prepare_node',
  deploy_node: 'deploy_node',
  release_node: 'release_node',
  abort_node: 'abort_node',
  last_errors: 'last_errors',
  ask_maas: 'ask_maas',
  look_at_node: 'look_at_node',
  inspect_nodes: 'inspect_nodes',
  run_check: 'run_check',
  record_nodes: 'record_nodes',
  take_permits: 'take_permits',
  await_permits: 'await_permits',
  close_run: 'close_run',
  open_graph_run: 'open_graph_run',
  plan_graph: 'plan_graph',
  open_checks: 'open_checks',
  load_graph_part: 'load_graph_part',
  record_tasks: 'record_tasks',
  close_graph: 'close_graph',
  close_graph_run: 'close_graph_run',
  find_tried: 'find_tried',
  find_approval: 'find_approval',
  plan_notice: 'plan_notice',
  deliver_notice: 'deliver_notice',
  /** On a node's own queue. */
  run_task: 'run_task',
  /** On a node's control queue. */
  ping: 'ping',
  cancel_task: 'cancel_task',
  drain: 'drain',
} as const satisfies Names<ActivityName>;

/** Custom search attributes and their types. Set-up creates them; runs work without them. */
export const SEARCH_ATTRIBUTES = {
  SiteName: 'KEYWORD',
  RunPhase: 'KEYWORD',
  GraphType: 'KEYWORD',
  FailedNodes: 'INT',
  StartedBy: 'KEYWORD',
} as const;

export type SearchAttributeName = keyof typeof SEARCH_ATTRIBUTES;

/**
 * A name of an installation that shares its namespace with others: `west:deploy_site:dc1`. Ids of workflows and schedules,
 * and task queues, have the prefix of the setting `temporal.prefix`; without one they are as they are.
 */
export const prefixed = (prefix: string | undefined, name: string): string =>
  prefix === undefined ? name : `${prefix}:${name}`;

/** The id allows one open workflow per site and kind. Across kinds, the site's claim in the store decides. */
export const siteWorkflowId = (kind: string, site: string): string => `${kind}:${site}`;

/** One run of a cluster's graphs. The run is any name: unlike a site, a cluster has an id for each run. */
export const graphWorkflowId = (cluster: number, run: string | number): string => `execute_graph:${cluster}:${run}`;

/**
 * Further queues of an orchestrator, for bulky or long work: runs, operators' requests, aborts and
 * bookkeeping never wait behind it. `parts`: child workflows of large runs. `machines`: calls that wait for machines.
 */
export const SIDE_QUEUES = ['parts', 'machines'] as const;

/** @param queue of a workflow, which may be in a side queue itself */
export const sideQueue = (queue: string, side: (typeof SIDE_QUEUES)[number]): string =>
  `${queue.replace(/\.parts$/, '')}.${side}`;

/** The failure of a query for which its worker has executed unreported steps of the run (interceptors.ts). */
export const LOADED_AHEAD = 'the run received a message while the query waited: repeat the query';

/** Queue of a node's tasks (docs/explain/design.md#nodes). */
export const nodeQueue = (site: string, node: string): string => `node.${site}.${node}`;

/** Queue on which a node's agent answers even while a task runs. */
export const controlQueue = (queue: string): string => `${queue}.ctl`;

/** Id of a task's activity, for people: `task@node`, from the second attempt on with `:attempt` (docs/explain/design.md#the-temporal-surface). */
export const taskActivityId = (task: string, node: string, attempt: number): string =>
  `${taskKey(task, node)}${attempt > 1 ? `:${attempt}` : ''}`;

/** Id of a question whether the node's agent is there. @param number among those that wait for an answer, from 1 */
export const pingActivityId = (node: string, number: number): string => `ping:${node}${number > 1 ? `/${number}` : ''}`;

/** Id of a node's activity: `prepare:<group>:<node>` (docs/explain/design.md#the-temporal-surface). */
export const nodeActivityId = (verb: string, group: string, node: string): string => `${verb}:${group}:${node}`;
