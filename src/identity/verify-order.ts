import { createPublicKey, verify } from 'node:crypto';
import type { Execution, ExecutionKey } from '../agent/execution.js';
import { executionHash, type OrderStatement, orderBytes, signedOrderSchema } from './order.js';
import type { PublicOrderKey } from './order-keys.js';

/** What the agent was asked to run, by whomever: the order must be for exactly that. */
export interface WantedOrder extends ExecutionKey {
  readonly site: string;
  readonly plan: string;
  readonly type: string;
  readonly mode: 'apply' | 'noop';
}

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
  | { readonly ok: true; readonly execution: Execution }
  | { readonly ok: false; readonly rejection: OrderRejection; readonly message: string };

/**
 * Judges an order before anything of it is used. Nothing that came by the task queue is believed: whoever can write
 * to the queue can ask the node for a task, and gets only what the gateway signed for this very node.
 *
 * @param document what came as the order, from anywhere; undefined when there is none
 * @param keys the public keys this node pins
 */
export function verifyOrder(
  document: unknown,
  wanted: WantedOrder,
  keys: readonly PublicOrderKey[],
  now: Date = new Date(),
): OrderVerdict {
  if (document === undefined || document === null) return rejected('no-order', 'there is no order for it');
  const parsed = signedOrderSchema.safeParse(document);
  if (!parsed.success) return rejected('malformed', `the order is not readable: ${parsed.error.issues[0]?.message}`);
  const { order, signature, execution } = parsed.data as unknown as {
    order: OrderStatement;
    signature: string;
    execution: Execution;
  };
  const key = keys.find(({ id }) => id === order.key);
  if (key === undefined) return rejected('unknown-key', `the order is signed with the unknown key ${order.key}`);
  if (!isSignedBy(key, order, signature)) return rejected('bad-signature', 'the signature of the order is wrong');
  if (order.site !== wanted.site || order.node !== wanted.node)
    return rejected('other-node', `the order is for node ${order.node} of site ${order.site}`);
  const other = (['run', 'task', 'generation', 'plan', 'type', 'mode'] as const).find(
    (name) => order[name] !== wanted[name],
  );
  if (other !== undefined)
    return rejected('other-task', `the order is for ${other} ${order[other]}, asked for was ${wanted[other]}`);
  if (order.execution_hash !== executionHash(execution) || !saysTheSame(order, execution))
    return rejected('other-parameters', 'what came with the order is not what was signed');
  if (now.getTime() > Date.parse(order.not_after))
    return rejected('expired', `the order was good until ${order.not_after}, and it is ${now.toISOString()} here`);
  return { ok: true, execution };
}

function isSignedBy(key: PublicOrderKey, order: OrderStatement, signature: string): boolean {
  try {
    return verify(null, orderBytes(order), createPublicKey(key.public_key), Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
}

const saysTheSame = (order: OrderStatement, execution: Execution): boolean =>
  order.run === execution.run &&
  order.task === execution.task &&
  order.node === execution.node &&
  order.generation === execution.generation &&
  order.type === execution.type &&
  order.mode === (execution.mode ?? 'apply');

const rejected = (rejection: OrderRejection, message: string): OrderVerdict => ({ ok: false, rejection, message });
