import type { ExecutionKey, RunTask } from '../core/task-on-node.ts';
import type { Execution } from './journal/execution.ts';
import type { TaskResult } from './journal/result.ts';
import type { OutputStream } from './output/output-segments.ts';

/** An order from the orchestrator to a node. */
export interface Order {
  readonly execution: Execution;
  /** Proof that the order comes from the orchestrator. Opaque here; signer and verifier agree on its form. */
  readonly proof?: unknown;
}

/**
 * A piece of an execution's output, or its result. Any chunk may be shipped again, also from an earlier offset, without
 * effect.
 */
export type LogChunk =
  /**
   * At most 256 KiB; `offset` counts every byte the task wrote. Bytes between the previous chunk and this one were
   * dropped.
   */
  | { readonly kind: 'output'; readonly stream: OutputStream; readonly offset: number; readonly bytes: Uint8Array }
  /** The last one. */
  | { readonly kind: 'ended'; readonly result: TaskResult };

/**
 * Where an agent fetches and ships data that Temporal does not carry. Every call rejects with `OrderRefused` when a retry is
 * useless, and with any other error on an outage, when a retry makes sense. `fetch` is asked before anything is done: it
 * rejects with `RunHeld` while the run is paused.
 */
export interface OrderSource {
  fetch(key: RunTask): Promise<Order>;
  /** The value of a secret reference that this execution may use. */
  secret(ref: string, key: ExecutionKey): Promise<string>;
  /** Content of a source of `copy_files`; an error with a file system `code` (ENOENT) is about the file itself. */
  source(path: string, key: ExecutionKey): Promise<Uint8Array>;
  ship(key: ExecutionKey, chunk: LogChunk): Promise<void>;
}

/** Reports a refused, illegitimate request to the orchestrator. The refusal stands even if the report fails. */
export type RaiseAlarm = (kind: string, message: string, key: ExecutionKey) => Promise<void>;

/** The order or secret does not exist or is not permitted, and a retry will not change that. */
export class OrderRefused extends Error {
  override readonly name = 'OrderRefused';
}

/** The run ends before the task has started: it does not start any more. */
export class OrderWithdrawn extends OrderRefused {}

/** The run is paused: the task starts when it continues. */
export class RunHeld extends Error {
  override readonly name = 'RunHeld';
}

/** Verifies an order before it is carried out; returns why it must not be. */
export type Verifier = (order: Order, key: RunTask) => string | undefined | Promise<string | undefined>;
