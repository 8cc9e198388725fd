import type { Execution, ExecutionKey } from './execution.js';
import type { OutputStream } from './output-segments.js';
import type { TaskResult } from './result.js';

/** Names an order: an execution of a stored plan. */
export interface OrderKey extends ExecutionKey {
  /** Hash of the plan. */
  readonly plan: string;
  readonly type: string;
  readonly mode: 'apply' | 'noop';
  readonly debug?: true;
}

/** What a node is told to do, as the orchestrator says it. */
export interface Order {
  readonly execution: Execution;
  /** Proof that the orchestrator said it, in the form of whoever signs and verifies; opaque here. */
  readonly proof?: unknown;
}

/** A piece of what became of an execution. Any piece may come twice, or again from an earlier offset: nothing changes. */
export type LogChunk =
  /** At most 256 KiB; `offset` counts every byte the task wrote. Bytes between the last piece and this one were dropped. */
  | { readonly kind: 'output'; readonly stream: OutputStream; readonly offset: number; readonly bytes: Uint8Array }
  /** The last one. */
  | { readonly kind: 'ended'; readonly result: TaskResult };

/**
 * Where an agent gets what Temporal does not carry, and brings what it does not want. Every call rejects with
 * `OrderRefused` when asking again is of no use, and with anything else when it is: an outage.
 */
export interface OrderSource {
  fetch(key: OrderKey): Promise<Order>;
  /** The value of a secret reference that this execution may use. */
  secret(ref: string, key: ExecutionKey): Promise<string>;
  /** Content of a source of `copy_files`; an error with a `code` as of the file system (ENOENT) is the file's own. */
  source(path: string, key: ExecutionKey): Promise<Uint8Array>;
  ship(key: ExecutionKey, chunk: LogChunk): Promise<void>;
}

/** There is no such order, secret or right, and there will be none. */
export class OrderRefused extends Error {
  override readonly name = 'OrderRefused';
}

/** Judges an order before anything of it is done; a text says why it must not be. */
export type OrderVerifier = (order: Order, key: OrderKey) => string | undefined | Promise<string | undefined>;
