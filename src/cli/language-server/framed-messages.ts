/** A message of JSON-RPC. */
export interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: unknown;
}

/** No message of an editor is longer. */
const LONGEST = 64 * 1024 * 1024;

/** Reads messages as the Language Server Protocol frames them: a header with their length in bytes, then JSON. */
export class FramedReader {
  #rest = Buffer.alloc(0);

  /** The messages that are complete with these bytes. @throws where the header names no length */
  read(bytes: Buffer): readonly Message[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const found: Message[] = [];
    for (;;) {
      const end = this.#rest.indexOf('\r\n\r\n');
      if (end < 0) return found;
      const length = Number(
        /^content-length: *(\d+)\r?$/im.exec(this.#rest.toString('latin1', 0, end))?.[1] ?? Number.NaN,
      );
      if (!(length <= LONGEST)) throw new Error('a message without a usable Content-Length');
      const start = end + 4;
      if (this.#rest.length < start + length) return found;
      found.push(JSON.parse(this.#rest.toString('utf8', start, start + length)) as Message);
      this.#rest = this.#rest.subarray(start + length);
    }
  }
}

export function framed(message: object): string {
  const text = JSON.stringify({ jsonrpc: '2.0', ...message });
  return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}
