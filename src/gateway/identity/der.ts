/**
 * The few parts of DER (ITU-T X.690) that certificates and their requests are made of. Node reads certificates but
 * cannot write them.
 */

/** One value with its tag. */
export interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
  /** Tag, length and content: what a signature covers. */
  readonly whole: Buffer;
}

export const TAG = { integer: 0x02, bitString: 0x03, oid: 0x06, utf8: 0x0c, sequence: 0x30, set: 0x31 } as const;

export function encode(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => encode(TAG.sequence, ...parts);
export const set = (...parts: readonly Uint8Array[]): Buffer => encode(TAG.set, ...parts);
export const octets = (content: Uint8Array): Buffer => encode(0x04, content);
export const bits = (content: Uint8Array, unused = 0): Buffer => encode(TAG.bitString, Buffer.from([unused]), content);
export const yes = encode(0x01, Buffer.from([0xff]));
export const utf8 = (text: string): Buffer => encode(TAG.utf8, Buffer.from(text, 'utf8'));
/** `[n]` around whole values. */
export const tagged = (number: number, ...parts: readonly Uint8Array[]): Buffer => encode(0xa0 | number, ...parts);
/** `[n]` in place of a primitive value's own tag. */
export const implicit = (number: number, content: Uint8Array): Buffer => encode(0x80 | number, content);

/** An integer from 0, given by its bytes. */
export function integer(bytes: Uint8Array): Buffer {
  let from = 0;
  while (from < bytes.length - 1 && bytes[from] === 0) from++;
  const shortest = bytes.subarray(from);
  // The first bit is the sign.
  const sign = ((shortest[0] ?? 0) & 0x80) === 0 ? [] : [Buffer.from([0])];
  return encode(TAG.integer, ...sign, shortest);
}

/** `1.2.840.10045.2.1` */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((value) => {
    const groups = [value & 0x7f];
    for (let left = value >>> 7; left > 0; left >>>= 7) groups.unshift(0x80 | (left & 0x7f));
    return groups;
  });
  return encode(TAG.oid, Buffer.from(bytes));
}

/** A certificate's time: two digits for the year until 2049, four from then on (RFC 5280, 4.1.2.5). */
export function time(moment: Date): Buffer {
  const digits = moment.toISOString().replace(/\.\d+/, '').replace(/[-:T]/g, '');
  return moment.getUTCFullYear() < 2050
    ? encode(0x17, Buffer.from(digits.slice(2), 'ascii'))
    : encode(0x18, Buffer.from(digits, 'ascii'));
}

/** Text that is no DER, or other DER than was expected. */
export class DerError extends Error {
  override readonly name = 'DerError';
}

/** Reads all values of a content, one after the other. @throws DerError */
export function decodeAll(bytes: Buffer): DerValue[] {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length; ) {
    const value = decodeAt(bytes, at);
    values.push(value);
    at += value.whole.length;
  }
  return values;
}

/** Reads the one value that the bytes are. @throws DerError */
export function decode(bytes: Buffer): DerValue {
  const value = decodeAt(bytes, 0);
  if (value.whole.length !== bytes.length) throw new DerError('bytes follow the end');
  return value;
}

function decodeAt(bytes: Buffer, at: number): DerValue {
  const tag = bytes[at];
  const first = bytes[at + 1];
  if (tag === undefined || first === undefined) throw new DerError('it ends too early');
  if ((tag & 0x1f) === 0x1f) throw new DerError('a tag of more than one byte');
  let length = first;
  let begin = at + 2;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4 || begin + count > bytes.length) throw new DerError('a length that is not allowed');
    length = bytes.readUIntBE(begin, count);
    begin += count;
    if (length < 0x80 || (count > 1 && length < 256 ** (count - 1)))
      throw new DerError('a length that is not the shortest');
  }
  if (begin + length > bytes.length) throw new DerError('it ends too early');
  return { tag, content: bytes.subarray(begin, begin + length), whole: bytes.subarray(at, begin + length) };
}

/** The values of a sequence. @throws DerError */
export function partsOf(value: DerValue | undefined): DerValue[] {
  if (value?.tag !== TAG.sequence) throw new DerError('a sequence is missing');
  return decodeAll(value.content);
}

/** `-----BEGIN LABEL-----` … */
export function toPem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** The bytes of the first block with this label. @throws DerError */
export function fromPem(label: string, text: string): Buffer {
  const found = new RegExp(`-----BEGIN ${label}-----\\s+([A-Za-z0-9+/=\\s]+?)\\s*-----END ${label}-----`).exec(text);
  if (found === null) throw new DerError(`there is no ${label}`);
  return Buffer.from(found[1] ?? '', 'base64');
}
