import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type Payload, type PayloadCodec, ValueError } from '@temporalio/common';
import type { EncryptionKeys } from './encryption-keys.ts';
import { payloadFromBytes, payloadToBytes } from './payload-bytes.ts';

const ENCODING = 'binary/encrypted';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const bytesOf = (text: string): Uint8Array => Buffer.from(text);
const textOf = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString('utf8');

/**
 * Encrypts payloads with AES-256-GCM before they leave this process. The metadata names encoding and key; nonce,
 * ciphertext and tag are the data. Unencrypted payloads pass unchanged.
 *
 * A key that it does not know is looked for in the file of keys again: a process that was restarted with a new key writes with it
 * while others, which have a copy of the new file already, still run. They write with the former key until they are restarted.
 */
export class EncryptionCodec implements PayloadCodec {
  readonly #current: string;
  #keys: ReadonlyMap<string, Buffer>;
  readonly #readAgain: (() => EncryptionKeys) | undefined;

  /** @param readAgain the keys of the file as it is now */
  constructor({ current, keys }: EncryptionKeys, readAgain?: () => EncryptionKeys) {
    this.#current = current;
    this.#keys = keys;
    this.#readAgain = readAgain;
  }

  async encode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => this.#encrypted(payload));
  }

  /** @throws ValueError for an unknown key, or tampered data */
  async decode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => this.#decrypted(payload));
  }

  #encrypted(payload: Payload): Payload {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#keys.get(this.#current) as Buffer, nonce);
    const data = Buffer.concat([nonce, cipher.update(payloadToBytes(payload)), cipher.final(), cipher.getAuthTag()]);
    return { metadata: { encoding: bytesOf(ENCODING), 'encryption-key-id': bytesOf(this.#current) }, data };
  }

  #decrypted(payload: Payload): Payload {
    const { metadata, data } = payload;
    if (textOf(metadata?.encoding) !== ENCODING) return payload;
    const id = textOf(metadata?.['encryption-key-id']);
    const key = this.#keys.get(id) ?? this.#newKey(id);
    if (key === undefined) throw new ValueError(`this was encrypted with the key ${id}, which is not in the key file`);
    const bytes = Buffer.from(data ?? []);
    try {
      const end = bytes.length - TAG_BYTES;
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(bytes.subarray(end));
      return payloadFromBytes(Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, end)), decipher.final()]));
    } catch (error) {
      throw new ValueError(`data encrypted with the key ${id} was changed, or the key differs`, error);
    }
  }

  #newKey(id: string): Buffer | undefined {
    try {
      const { keys } = this.#readAgain?.() ?? { keys: new Map() };
      // A key that has left the file is still used here until the restart.
      if (keys.has(id)) this.#keys = new Map([...this.#keys, ...keys]);
    } catch {
      // It is being copied, or wrong: the next attempt or start shows it.
    }
    return this.#keys.get(id);
  }
}
