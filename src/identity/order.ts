import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Execution, type ExecutionKey, stableJson } from '../agent/execution.js';

/** What an order says, and what its signature covers. */
export interface OrderStatement extends ExecutionKey {
  readonly v: 1;
  /** Id of the key it is signed with. */
  readonly key: string;
  readonly site: string;
  /** Hash of the plan the task is of. */
  readonly plan: string;
  readonly type: string;
  readonly mode: 'apply' | 'noop';
  /** `executionHash` of what is to be executed: parameters, secrets, limits, all of it. */
  readonly execution_hash: string;
  /** ISO 8601: an agent accepts it for the first time until then. */
  readonly not_after: string;
}

/** An order with its proof and with what it orders. Secrets are in it by reference only. */
export interface SignedOrder {
  readonly order: OrderStatement;
  /** Ed25519 over `orderBytes`, base64url. */
  readonly signature: string;
  readonly execution: Execution;
}

const text = z.string().min(1).max(1000);

export const signedOrderSchema = z.strictObject({
  order: z.strictObject({
    v: z.literal(1),
    key: text,
    site: text,
    node: text,
    run: text,
    task: text,
    generation: z.int().min(1),
    plan: text,
    type: text,
    mode: z.enum(['apply', 'noop']),
    execution_hash: text,
    not_after: z.iso.datetime(),
  }),
  signature: text,
  execution: z.looseObject({}),
});

/** Hash over everything that decides what will be done: one changed letter of a parameter is another hash. */
export const executionHash = (execution: Execution): string =>
  createHash('sha256').update(stableJson(execution)).digest('hex');

/** The bytes that are signed: a purpose no other text of ours begins with, then the statement with sorted keys. */
export const orderBytes = (order: OrderStatement): Buffer => Buffer.from(`sitewright-order/1\n${stableJson(order)}`);
