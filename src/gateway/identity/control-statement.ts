import { z } from 'zod';
import type { ControlOrder } from '../../agent/control-judge.js';
import type { ExecutionKey } from '../../agent/execution.js';
import { isSignedBy, type PublicOrderKey, readProof, signedBytes } from './proof.js';
import type { OrderVerdict } from './verify-order.js';

const text = z.string().min(1).max(1000);

const common = {
  v: z.literal(1),
  /** Id of the key it is signed with. */
  key: text,
  site: text,
  node: text,
  reason: z.string().max(1000),
  by: text.optional(),
  /** ISO 8601: an agent accepts it until then. */
  not_after: z.iso.datetime(),
};

const statementSchema = z.discriminatedUnion('verb', [
  z.strictObject({ ...common, verb: z.literal('cancel'), run: text, task: text, generation: z.int().min(1) }),
  /** `instance`: the one process of the agent that it is for. */
  z.strictObject({ ...common, verb: z.literal('drain'), instance: text }),
]);

/** An order about what an agent does already: to end a task, or to take no more. */
export type ControlStatement = z.output<typeof statementSchema>;

/** What it is about. */
export type ControlTarget =
  | ({ readonly verb: 'cancel'; readonly site: string } & ExecutionKey)
  | { readonly verb: 'drain'; readonly site: string; readonly node: string; readonly instance: string };

/** Another purpose than that of tasks: none can be taken for the other. */
export const CONTROL_PURPOSE = 'sitewright-control/1';

/**
 * Judges an order to cancel or to drain.
 *
 * @param wanted what the agent was asked for, and of which site it is
 * @param keys the public keys this node pins
 */
export function verifyControl(
  proof: string,
  wanted: ControlTarget,
  keys: readonly PublicOrderKey[],
  now: Date = new Date(),
): (Extract<OrderVerdict, { ok: true }> & { readonly order: ControlOrder }) | Extract<OrderVerdict, { ok: false }> {
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
    return { ok: false, rejection: 'other-task', message: `the order is not to ${wanted.verb} what was asked for` };
  if (now.getTime() > Date.parse(statement.not_after))
    return {
      ok: false,
      rejection: 'expired',
      message: `the order was good until ${statement.not_after}, and it is ${now.toISOString()} here`,
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
