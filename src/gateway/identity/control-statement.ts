import { z } from 'zod';
import type { ControlOrder } from '../../agent/control-judge.ts';
import type { ExecutionKey } from '../../core/task-on-node.ts';
import { isSignedBy, type PinnedKey, readProof, signedBytes } from './proof.ts';
import type { Verdict } from './verify-order.ts';

const text = z.string().min(1).max(1000);

const common = {
  v: z.literal(1),
  /** Id of the signing key. */
  key: text,
  site: text,
  node: text,
  reason: z.string().max(1000),
  by: text.optional(),
  /** ISO 8601; agents refuse it after this time. */
  not_after: z.iso.datetime(),
};

const statementSchema = z.discriminatedUnion('verb', [
  z.strictObject({ ...common, verb: z.literal('cancel'), run: text, task: text, generation: z.int().min(1) }),
  /** `instance`: the agent process to drain. */
  z.strictObject({ ...common, verb: z.literal('drain'), instance: text }),
]);

/** An order about running work of an agent: to cancel a task, or to accept no more tasks. */
export type ControlStatement = z.output<typeof statementSchema>;

/** The target of a control order. */
export type ControlTarget =
  | ({ readonly verb: 'cancel'; readonly site: string } & ExecutionKey)
  | { readonly verb: 'drain'; readonly site: string; readonly node: string; readonly instance: string };

/** Differs from the purpose of task orders, so that one cannot pass for the other. */
export const CONTROL_PURPOSE = 'sitewright-control/1';

/**
 * Verifies an order to cancel or drain.
 *
 * @param wanted the requested verb, and the agent's site
 * @param keys the public keys that this node pins
 */
export function verifyControl(
  proof: string,
  wanted: ControlTarget,
  keys: readonly PinnedKey[],
  now: Date = new Date(),
): (Extract<Verdict, { ok: true }> & { readonly order: ControlOrder }) | Extract<Verdict, { ok: false }> {
  const read = readProof(proof, statementSchema);
  if (read === undefined) return { ok: false, rejection: 'malformed', message: 'the proof of the order is unreadable' };
  const { statement, signature } = read;
  const key = keys.find(({ id }) => id === statement.key);
  if (key === undefined)
    return {
      ok: false,
      rejection: 'unknown-key',
      message: `the order is signed with the unknown key ${statement.key}`,
    };
  if (!isSignedBy(key, signedBytes(CONTROL_PURPOSE, statement), signature))
    return { ok: false, rejection: 'bad-signature', message: 'the signature of the order is wrong' };
  if (statement.site !== wanted.site || statement.node !== wanted.node)
    return {
      ok: false,
      rejection: 'other-node',
      message: `the order is for node ${statement.node} of site ${statement.site}`,
    };
  if (!isAbout(statement, wanted))
    return { ok: false, rejection: 'other-task', message: `the order is not the requested ${wanted.verb}` };
  if (now.getTime() > Date.parse(statement.not_after))
    return {
      ok: false,
      rejection: 'expired',
      message: `the order was valid until ${statement.not_after}, but it is ${now.toISOString()} here`,
    };
  const { reason, by } = statement;
  return { ok: true, order: { reason, ...(by === undefined ? {} : { by }) } };
}

function isAbout(statement: ControlStatement, wanted: ControlTarget): boolean {
  if (statement.verb === 'cancel')
    return (
      wanted.verb === 'cancel' &&
      statement.run === wanted.run &&
      statement.task === wanted.task &&
      statement.generation === wanted.generation
    );
  return wanted.verb === 'drain' && statement.instance === wanted.instance;
}
