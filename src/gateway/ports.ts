import type { ControlOrder, Execution, ExecutionKey, LogChunk } from '../agent/index.js';
import type { LatestAttempt } from './identity/index.js';

/** One task of a stored plan on one node, and where its run stands. */
export interface PlannedTask {
  readonly site: string;
  /** Hash of the plan. */
  readonly plan: string;
  /** Whether the run still goes on: only then is anything ordered or handed out. */
  readonly isOpen: boolean;
  readonly execution: Omit<Execution, 'generation'>;
  readonly latest: LatestAttempt;
}

/** Where the gateway looks up what nodes are to do. */
export interface OrderBook {
  /** Undefined: the run has no such task on that node. Rejects for outages. */
  find(key: Pick<ExecutionKey, 'run' | 'task' | 'node'>): Promise<PlannedTask | undefined>;
  /** Whether an operator has ordered that what the run has begun is ended. */
  cancelled(run: string): Promise<ControlOrder | undefined>;
  /** The newest order to drain a node's agent that still counts; `id` names it. */
  drained(site: string, node: string): Promise<(ControlOrder & { readonly id: string }) | undefined>;
}

/** Where output and results go. Any piece may come twice. */
export interface LogSink {
  append(key: ExecutionKey, chunk: LogChunk): Promise<void>;
}

/** Reads the sources of `copy_files`. An error with a `code` as of the file system is the file's own. */
export interface SourceFiles {
  read(path: string): Promise<Uint8Array>;
}
