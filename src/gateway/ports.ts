import type { ControlOrder, Execution, LogChunk } from '../agent/index.ts';
import type { ExecutionKey } from '../core/task-on-node.ts';
import type { judgeGeneration } from './identity/order.ts';

/** A task of a stored plan on a node, with the state of its run. */
export interface PlannedTask {
  readonly site: string;
  /** The node, as histories of runs name it. */
  readonly uid: string;
  /** Hash of the plan. */
  readonly plan: string;
  /** Why nothing is ordered or served any more; undefined while the run is open. */
  readonly closed: string | undefined;
  readonly execution: Omit<Execution, 'generation'>;
  readonly latest: Parameters<typeof judgeGeneration>[1];
}

/** Where the gateway looks up orders. */
export interface OrderBook {
  /** Undefined if the run has no such task on that node. Rejects for outages. */
  find(key: Pick<ExecutionKey, 'run' | 'task' | 'node'>): Promise<PlannedTask | undefined>;
  /** Rejects with `RunHeld` or `OrderWithdrawn` when nothing of the run may start now. */
  mayStart(run: string): Promise<void>;
  /** Whether the run has started this attempt and waits for it. Rejects with `RunHeld` if that is not known. */
  hasStarted(key: ExecutionKey, uid: string): Promise<boolean>;
  /** The operator's request to cancel the running tasks of a run, if any. */
  cancelled(run: string): Promise<ControlOrder | undefined>;
  /** The newest valid request to drain a node's agent, with its `id`. */
  drained(site: string, node: string): Promise<(ControlOrder & { readonly id: string }) | undefined>;
}

/** Receives output and results. Any chunk may arrive twice. */
export interface LogSink {
  append(key: ExecutionKey, chunk: LogChunk): Promise<void>;
}

/** Reads the sources of `copy_files`. An error with a file system `code` concerns the file. */
export interface SourceFiles {
  read(path: string): Promise<Uint8Array>;
}
