import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import type { ControlOrder } from '../../agent/control-judge.ts';
import type { Execution } from '../../agent/journal/execution.ts';
import type { Order } from '../../agent/order-source.ts';
import { PrivateFileError, readOrMakePrivate, writePrivate } from '../../platform/files/private-file.ts';
import { CONTROL_PURPOSE, type ControlStatement, type ControlTarget } from './control-statement.ts';
import { executionHash, ORDER_PURPOSE, type Statement } from './order.ts';
import { type PinnedKey, signStatement } from './proof.ts';

const keyRingSchema = z.strictObject({
  current: z.string(),
  private_key: z.string(),
  keys: z.array(z.strictObject({ id: z.string(), public_key: z.string(), since: z.string() })).min(1),
});
type KeyRing = z.output<typeof keyRingSchema>;

/** An order before signing. */
interface OrderToSign {
  readonly site: string;
  readonly plan: string;
  readonly execution: Execution;
  readonly notAfter: Date;
}

interface ControlToSign {
  readonly target: ControlTarget;
  readonly order: ControlOrder;
  readonly notAfter: Date;
}

/**
 * The Ed25519 keys of orders, in a private file. It is created at first use and read again when it changes, so that a
 * rotation needs no restart. Only the newest key has its private half. The public halves of older keys stay until
 * dropped, for nodes that have not received the new one.
 */
export class SigningKeys {
  readonly #path: string;
  #read: { text: string; ring: KeyRing; privateKey: KeyObject } | undefined;

  constructor(folder: string) {
    this.#path = join(folder, 'order-keys.json');
  }

  /** The keys that nodes pin, newest first. @throws PrivateFileError */
  publicKeys(): readonly PinnedKey[] {
    return this.#ring().ring.keys.map(({ id, public_key }) => ({ id, public_key }));
  }

  sign({ site, plan, execution, notAfter }: OrderToSign): Order & { readonly proof: string } {
    const { ring, privateKey } = this.#ring();
    const { run, task, node, generation, type, mode = 'apply' } = execution;
    const statement: Statement = {
      v: 1,
      key: ring.current,
      site,
      node,
      run,
      task,
      generation,
      plan,
      type,
      mode,
      execution_hash: executionHash(execution),
      not_after: notAfter.toISOString(),
    };
    return { execution, proof: signStatement(ORDER_PURPOSE, statement, privateKey) };
  }

  /** Signs an order to cancel or to drain. */
  signControl({ target, order, notAfter }: ControlToSign): string {
    const { ring, privateKey } = this.#ring();
    const statement = { v: 1, key: ring.current, ...target, ...order, not_after: notAfter.toISOString() } as const;
    return signStatement(CONTROL_PURPOSE, statement satisfies ControlStatement, privateKey);
  }

  /** Creates a new signing key and deletes the private half of the former one. Returns the new id. */
  rotate(now: Date = new Date()): string {
    const { ring } = this.#ring();
    const next = makeRing(now);
    writePrivate(this.#path, JSON.stringify({ ...next, keys: [...next.keys, ...ring.keys] }, null, 2));
    return next.current;
  }

  /** Drops a key; nodes stop accepting it after they next fetch the keys. False if it is unknown or in use. */
  drop(id: string): boolean {
    const { ring } = this.#ring();
    if (id === ring.current || !ring.keys.some((key) => key.id === id)) return false;
    writePrivate(this.#path, JSON.stringify({ ...ring, keys: ring.keys.filter((key) => key.id !== id) }, null, 2));
    return true;
  }

  #ring(): { ring: KeyRing; privateKey: KeyObject } {
    const text = readOrMakePrivate(this.#path, () => JSON.stringify(makeRing(new Date()), null, 2));
    if (this.#read?.text !== text) {
      const ring = keyRingSchema.safeParse(parsed(text));
      if (!ring.success) throw new PrivateFileError(`${this.#path} contains no order keys`);
      this.#read = { text, ring: ring.data, privateKey: createPrivateKey(ring.data.private_key) };
    }
    return this.#read;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function makeRing(now: Date): KeyRing {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const public_key = publicKey.export({ type: 'spki', format: 'pem' }) as string;
  const id = `order-${createPublicKey(public_key).export({ format: 'jwk' }).x?.slice(0, 12) ?? ''}`;
  return {
    current: id,
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    keys: [{ id, public_key, since: now.toISOString() }],
  };
}

/** A one-time token: 256 random bits. Only its hash is stored; the token itself exists only in the node's user data. */
export function newEnrolmentToken(): { readonly token: string; readonly hash: string } {
  const token = `swt_${randomBytes(32).toString('base64url')}`;
  return { token, hash: hashOfToken(token) };
}

/** A plain hash is enough, because no one can guess a token. */
export const hashOfToken = (token: string): string => createHash('sha256').update(token).digest('hex');
