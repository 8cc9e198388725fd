import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Execution, type ExecutionKey, stableJson } from '../agent/execution.js';

const text = z.string().min(1).max(1000);

/** What an order says, and what its signature covers. */
const statementSchema = z.strictObject({
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

export type OrderStatement = z.output<typeof statementSchema> & ExecutionKey;

/** Hash over everything that decides what will be done: one changed letter of a parameter is another hash. */
export const executionHash = (execution: Execution): string =>
  createHash('sha256').update(stableJson(execution)).digest('hex');

/** The bytes that are signed: a purpose no other text of ours begins with, then the statement with sorted keys. */
export const orderBytes = (statement: OrderStatement): Buffer =>
  Buffer.from(`sitewright-order/1\n${stableJson(statement)}`);

/** Statement and signature as the one text that travels with an execution. */
export const writeProof = (statement: OrderStatement, signature: Uint8Array): string =>
  `${Buffer.from(stableJson(statement)).toString('base64url')}.${Buffer.from(signature).toString('base64url')}`;

/** The opposite of `writeProof`; undefined when the text is none. Nothing of it is verified yet. */
export function readProof(proof: string): { statement: OrderStatement; signature: Buffer } | undefined {
  const [body, signature, ...more] = proof.split('.');
  if (body === undefined || signature === undefined || more.length > 0 || proof.length > 20_000) return undefined;
  try {
    const statement = statementSchema.safeParse(JSON.parse(Buffer.from(body, 'base64url').toString('utf8')));
    if (!statement.success) return undefined;
    return { statement: statement.data, signature: Buffer.from(signature, 'base64url') };
  } catch {
    return undefined;
  }
}
