import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Execution, type ExecutionKey, stableJson } from '../../agent/execution.js';

const text = z.string().min(1).max(1000);

/** What an order says, and what its signature covers. */
export const orderStatementSchema = z.strictObject({
  v: z.literal(1),
  /** Id of the key it is signed with. */
  key: text,
  site: text,
  node: text,
  run: text,
  task: text,
  generation: z.int().min(1),
  /** Hash of the plan the task is of. */
  plan: text,
  type: text,
  mode: z.enum(['apply', 'noop']),
  /** `executionHash` of what is to be executed. */
  execution_hash: text,
  /** ISO 8601: an agent accepts it until then. */
  not_after: z.iso.datetime(),
});

export type OrderStatement = z.output<typeof orderStatementSchema> & ExecutionKey;

/** Hash over everything that decides what will be done: one changed letter of a parameter is another hash. */
export const executionHash = (execution: Execution): string =>
  createHash('sha256').update(stableJson(execution)).digest('hex');

/** What signatures of orders begin with. */
export const ORDER_PURPOSE = 'sitewright-order/1';
