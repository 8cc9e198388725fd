import type { Execution } from '../../agent/journal/execution.ts';
import type { Order } from '../../agent/order-source.ts';
import type { RunTask } from '../../core/task-on-node.ts';
import { executionHash, ORDER_PURPOSE, orderStatementSchema, type Statement } from './order.ts';
import { isSignedBy, type PinnedKey, readProof, signedBytes } from './proof.ts';

/** Why an order is refused. */
type OrderRejection =
  | 'no-order'
  | 'malformed'
  | 'unknown-key'
  | 'bad-signature'
  | 'other-node'
  | 'other-task'
  | 'other-parameters'
  | 'expired';

export type Verdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly rejection: OrderRejection; readonly message: string };

/**
 * Verifies an order before any use. The task queue is not trusted: anyone with access to it can request a task from the
 * node, but the node runs only what the gateway signed for it.
 *
 * @param order from any source; undefined if there is none
 * @param wanted the requested verb, and the agent's site
 * @param keys the public keys that this node pins
 */
export function verifyOrder(
  order: Order | undefined,
  wanted: RunTask & { readonly site: string },
  keys: readonly PinnedKey[],
  now: Date = new Date(),
): Verdict {
  if (order?.proof === undefined) return rejected('no-order', 'it has no signed order');
  const proof = typeof order.proof === 'string' ? readProof(order.proof, orderStatementSchema) : undefined;
  if (proof === undefined) return rejected('malformed', 'the proof of the order is unreadable');
  const { statement, signature } = proof;
  const key = keys.find(({ id }) => id === statement.key);
  if (key === undefined) return rejected('unknown-key', `the order is signed with the unknown key ${statement.key}`);
  if (!isSignedBy(key, signedBytes(ORDER_PURPOSE, statement), signature))
    return rejected('bad-signature', 'the signature of the order is wrong');
  if (statement.site !== wanted.site || statement.node !== wanted.node)
    return rejected('other-node', `the order is for node ${statement.node} of site ${statement.site}`);
  const other = (['run', 'task', 'generation', 'plan', 'type', 'mode'] as const).find(
    (name) => statement[name] !== wanted[name],
  );
  if (other !== undefined)
    return rejected('other-task', `the order is for ${other} ${statement[other]}, not for ${wanted[other]}`);
  if (statement.execution_hash !== executionHash(order.execution) || !hasSameParts(statement, order.execution))
    return rejected('other-parameters', 'the parameters of the order differ from the signed ones');
  if (now.getTime() > Date.parse(statement.not_after))
    return rejected('expired', `the order was valid until ${statement.not_after}, but it is ${now.toISOString()} here`);
  return { ok: true };
}

const hasSameParts = (statement: Statement, execution: Execution): boolean =>
  statement.run === execution.run &&
  statement.task === execution.task &&
  statement.node === execution.node &&
  statement.generation === execution.generation &&
  statement.type === execution.type &&
  statement.mode === (execution.mode ?? 'apply');

const rejected = (rejection: OrderRejection, message: string): Verdict => ({ ok: false, rejection, message });
