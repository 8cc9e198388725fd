import type { Execution } from '../../agent/execution.js';
import type { Order, OrderKey } from '../../agent/order-source.js';
import { executionHash, ORDER_PURPOSE, type OrderStatement, orderStatementSchema } from './order.js';
import { isSignedBy, type PublicOrderKey, readProof, signedBytes } from './proof.js';

/** Why an order is not obeyed. A new reason is a new variant. */
export type OrderRejection =
  | 'no-order'
  | 'malformed'
  | 'unknown-key'
  | 'bad-signature'
  | 'other-node'
  | 'other-task'
  | 'other-parameters'
  | 'expired';

export type OrderVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly rejection: OrderRejection; readonly message: string };

/**
 * Judges an order before anything of it is used. Nothing that came by the task queue is believed: whoever can write
 * to the queue can ask the node for a task, and gets only what the gateway signed for this very node.
 *
 * @param order from anywhere; undefined when there is none
 * @param wanted what the agent was asked for, and of which site it is
 * @param keys the public keys this node pins
 */
export function verifyOrder(
  order: Order | undefined,
  wanted: OrderKey & { readonly site: string },
  keys: readonly PublicOrderKey[],
  now: Date = new Date(),
): OrderVerdict {
  if (order?.proof === undefined) return rejected('no-order', 'there is no signed order for it');
  const proof = typeof order.proof === 'string' ? readProof(order.proof, orderStatementSchema) : undefined;
  if (proof === undefined) return rejected('malformed', 'the proof of the order is not readable');
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
    return rejected('other-task', `the order is for ${other} ${statement[other]}, asked for was ${wanted[other]}`);
  if (statement.execution_hash !== executionHash(order.execution) || !saysTheSame(statement, order.execution))
    return rejected('other-parameters', 'what came with the order is not what was signed');
  if (now.getTime() > Date.parse(statement.not_after))
    return rejected('expired', `the order was good until ${statement.not_after}, and it is ${now.toISOString()} here`);
  return { ok: true };
}

const saysTheSame = (statement: OrderStatement, execution: Execution): boolean =>
  statement.run === execution.run &&
  statement.task === execution.task &&
  statement.node === execution.node &&
  statement.generation === execution.generation &&
  statement.type === execution.type &&
  statement.mode === (execution.mode ?? 'apply');

const rejected = (rejection: OrderRejection, message: string): OrderVerdict => ({ ok: false, rejection, message });
