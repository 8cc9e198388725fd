/**
 * All names that leave this process: what operators type, what histories hold, what other programs
 * rely on. They are printed to a golden file (test/golden/protocol.txt), so renaming one is a
 * deliberate act. Plain data: anything may import this file.
 */

/** Task queue of the orchestrator worker. */
export const TASK_QUEUE = 'sitewright';

export const WORKFLOWS = {
  deploy_site: 'deploy_site',
  update_site: 'update_site',
  redeploy_nodes: 'redeploy_nodes',
  test_site: 'test_site',
  /** Child of the above on big sites: one call on a slice of a group's nodes. */
  run_call: 'run_call',
} as const;

export const SIGNALS = { pause: 'pause', resume: 'resume', stop: 'stop', call_progress: 'call_progress' } as const;

export const UPDATES = { pause: 'pause', resume: 'resume', retry_node: 'retry_node' } as const;

export const QUERIES = { status: 'status', report: 'report', tree: 'tree', plan: 'plan' } as const;

export const ACTIVITIES = {
  open_run: 'open_run',
  load_plan: 'load_plan',
  verify_site: 'verify_site',
  prepare_site: 'prepare_site',
  prepare_node: 'prepare_node',
  deploy_node: 'deploy_node',
  release_node: 'release_node',
  abort_node: 'abort_node',
  look_at_node: 'look_at_node',
  inspect_nodes: 'inspect_nodes',
  record_progress: 'record_progress',
  close_run: 'close_run',
} as const;

/** Custom search attributes and their types; created by set-up, done without where they are absent. */
export const SEARCH_ATTRIBUTES = {
  SiteName: 'KEYWORD',
  RunPhase: 'KEYWORD',
  GraphType: 'KEYWORD',
  FailedNodes: 'INT',
  StartedBy: 'KEYWORD',
} as const;

export type SearchAttributeName = keyof typeof SEARCH_ATTRIBUTES;

/** One open workflow per site and kind by id; across kinds the site's claim in the store decides. */
export const siteWorkflowId = (kind: string, site: string): string => `${kind}:${site}`;

/** Id of a node's activity: `prepare:<group>:<node>` (design §5). */
export const nodeActivityId = (verb: string, group: string, node: string): string => `${verb}:${group}:${node}`;

/** What `pause`, `resume` and `stop` may carry; every field, and the payload itself, is optional. */
export interface OperatorNote {
  readonly reason?: string;
  readonly by?: string;
}

export interface RetryNodeRequest extends OperatorNote {
  readonly node: string;
}
