import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Execution, stableJson } from '../../agent/journal/execution.ts';
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

/** The newest attempt of a task on a node in its run's history. */
interface LatestAttempt {
  /** 0 before the first attempt. */
  readonly generation: number;
  /** `retry`: it has ended and a retry is scheduled. */
  readonly state: 'open' | 'retry' | 'failed' | 'success';
}

type GenerationVerdict =
  | { readonly kind: 'may-run' }
  /** The history may lag behind the workflow that writes it: try again. */
  | { readonly kind: 'not-yet'; readonly message: string }
  | { readonly kind: 'never'; readonly message: string };

/**
 * Whether a generation of a task may be ordered: the first one, or a later one if the one before ended without success
 * or has a recorded retry. Otherwise anyone with access to a task queue could repeat a task by counting up. A
 * generation that succeeded or has a successor is over: a node that ran it knows the result, and a reinstalled node
 * must not run it again.
 */
export function judgeGeneration(generation: number, latest: LatestAttempt): GenerationVerdict {
  if (latest.generation > generation || (latest.generation === generation && latest.state === 'success'))
    return { kind: 'never', message: `attempt ${generation} of the task is over` };
  if (generation === 1 || latest.generation === generation) return { kind: 'may-run' };
  const message = `attempt ${latest.generation} of the task is ${latest.state}, so it has no attempt ${generation}`;
  if (latest.generation < generation - 1)
    return { kind: latest.generation === generation - 2 ? 'not-yet' : 'never', message };
  switch (latest.state) {
    case 'retry':
    case 'failed':
      return { kind: 'may-run' };
    case 'open':
      return { kind: 'not-yet', message };
    case 'success':
      return { kind: 'never', message };
  }
}
