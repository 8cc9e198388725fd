import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Execution, stableJson } from '../../agent/execution.ts';
import type { ExecutionKey } from '../../core/task-on-node.ts';

const text = z.string().min(1).max(1000);

/** The signed content of an order. */
export const orderStatementSchema = z.strictObject({
  v: z.literal(1),
  /** Id of the signing key. */
  key: text,
  site: text,
  node: text,
  run: text,
  task: text,
  generation: z.int().min(1),
  /** Hash of the task's plan. */
  plan: text,
  type: text,
  mode: z.enum(['apply', 'noop']),
  /** `executionHash` of the execution. */
  execution_hash: text,
  /** ISO 8601; agents refuse it after this time. */
  not_after: z.iso.datetime(),
});

export type Statement = z.output<typeof orderStatementSchema> & ExecutionKey;

/** Hash over everything that decides what the task does: any change of a parameter changes it. */
export const executionHash = (execution: Execution): string =>
  createHash('sha256').update(stableJson(execution)).digest('hex');

/** The prefix of signed orders. */
export const ORDER_PURPOSE = 'sitewright-order/1';
