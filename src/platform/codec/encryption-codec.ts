import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type Payload, type PayloadCodec, type SerializationContext, ValueError } from '@temporalio/common';
import protobuf from 'protobufjs';
import { bindsToPlace, type EncryptionKeys } from './encryption-keys.ts';
import { type PayloadPlace, placeFromText, placeOf } from './payload-place.ts';

const ENCODING = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';
const PLACE = 'encryption-place';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const bytesOf = (text: string): Uint8Array => Buffer.from(text);
const textOf = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString('utf8');

/**
 * Encrypts payloads with AES-256-GCM before they leave this process. The metadata names encoding and key; nonce,
 * ciphertext and tag are the data. Unencrypted payloads pass unchanged.
 *
 * A key that binds also has the payload's place authenticated, which the metadata names: a ciphertext that was moved into
 * another workflow, activity or namespace is refused there. A payload without a place is none of such a key.
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

  async encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return this.encodeAt(payloads, placeOf(context) ?? []);
  }

  /** @throws ValueError for an unknown key, tampered data, or data of another place */
  async decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    const here = placeOf(context);
    return this.decodeIf(payloads, (place) => here === undefined || place.every((part, at) => part === here[at]));
  }

  encodeAt(payloads: readonly Payload[], place: PayloadPlace): Payload[] {
    return payloads.map((payload) => this.#encrypted(payload, place));
  }

  /** @param belongs whether data of a place may be here */
  decodeIf(payloads: readonly Payload[], belongs: (place: PayloadPlace) => boolean): Payload[] {
    return payloads.map((payload) => this.#decrypted(payload, belongs));
  }

  #encrypted(payload: Payload, place: PayloadPlace): Payload {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#keys.get(this.#current) as Buffer, nonce);
    const bound = bindsToPlace(this.#current) ? bytesOf(JSON.stringify(place)) : undefined;
    if (bound !== undefined) cipher.setAAD(bound);
    const data = Buffer.concat([nonce, cipher.update(payloadToBytes(payload)), cipher.final(), cipher.getAuthTag()]);
    const metadata = { encoding: bytesOf(ENCODING), [KEY_ID]: bytesOf(this.#current) };
    return { metadata: bound === undefined ? metadata : { ...metadata, [PLACE]: bound }, data };
  }

  #decrypted(payload: Payload, belongs: (place: PayloadPlace) => boolean): Payload {
    const { metadata, data } = payload;
    if (textOf(metadata?.encoding) !== ENCODING) return payload;
    const id = textOf(metadata?.[KEY_ID]);
    const key = this.#keys.get(id) ?? this.#newKey(id);
    if (key === undefined) throw new ValueError(`this was encrypted with the key ${id}, which is not in the key file`);
    const bytes = Buffer.from(data ?? []);
    // The key decides, not the data: no one can take the place away from it.
    const bound = bindsToPlace(id) ? Buffer.from(metadata?.[PLACE] ?? []) : undefined;
    const decrypted = decryptedBytes(key, bytes, bound);
    if (decrypted === undefined)
      throw new ValueError(`data encrypted with the key ${id} was changed, or the key differs`);
    if (bound !== undefined && !belongs(placeFromText(bound.toString())))
      throw new ValueError(`data encrypted with the key ${id} is of another place: ${bound.toString()}`);
    return decrypted;
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

/** Undefined: what was written with this key and place was something else. */
function decryptedBytes(key: Buffer, bytes: Buffer, bound: Buffer | undefined): Payload | undefined {
  const end = bytes.length - TAG_BYTES;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    if (bound !== undefined) decipher.setAAD(bound);
    decipher.setAuthTag(bytes.subarray(end));
    return payloadFromBytes(Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, end)), decipher.final()]));
  } catch {
    return undefined;
  }
}

const { Reader, Writer } = protobuf;

/** Encodes a payload as Temporal's protobuf message (metadata = 1, data = 2), like the codecs of other SDKs. */
export function payloadToBytes({ metadata, data }: Payload): Uint8Array {
  const writer = Writer.create();
  for (const [key, value] of Object.entries(metadata ?? {}))
    writer.uint32(10).fork().uint32(10).string(key).uint32(18).bytes(value).ldelim();
  if (data && data.length > 0) writer.uint32(18).bytes(data);
  return writer.finish();
}

/** The inverse. @throws RangeError for bytes that are not a payload */
export function payloadFromBytes(bytes: Uint8Array): Payload {
  const reader = Reader.create(bytes);
  const metadata: Record<string, Uint8Array> = {};
  let data: Uint8Array = new Uint8Array();
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === 10) readEntry(Reader.create(reader.bytes()), metadata);
    else if (tag === 18) data = reader.bytes();
    else reader.skipType(tag & 7);
  }
  return { metadata, data };
}

function readEntry(reader: protobuf.Reader, metadata: Record<string, Uint8Array>): void {
  let key = '';
  let value: Uint8Array = new Uint8Array();
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === 10) key = reader.string();
    else if (tag === 18) value = reader.bytes();
    else reader.skipType(tag & 7);
  }
  metadata[key] = value;
}
