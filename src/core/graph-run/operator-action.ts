import type { OperatorAction } from '../site-run/index.js';

/** Something an operator did to a run of graphs. */
export interface GraphOperatorAction extends Omit<OperatorAction, 'action' | 'node'> {
  readonly action: Exclude<OperatorAction['action'], 'retry_node'> | 'retry_task' | 'skip_task';
  /** `task@node`. */
  readonly task?: string;
}
