/** Replaces each secret. */
export const REDACTED = '[secret]';
const MARK = Buffer.from(REDACTED);

/** Shorter values are not redacted: they would match almost anywhere; see docs/how-to/agents.md. */
const SHORTEST = 4;

/** The texts to look for: each secret, and each long line of one (keys are printed line by line). */
function needlesOf(secrets: Iterable<string>): Buffer[] {
  const texts = new Set<string>();
  for (const secret of secrets) {
    if (secret.length >= SHORTEST) texts.add(secret);
    const trimmed = secret.trim();
    if (trimmed.length >= SHORTEST) texts.add(trimmed);
    for (const line of secret.split('\n')) if (line.trim().length >= 16) texts.add(line.trim());
  }
  return [...texts].map((text) => Buffer.from(text)).sort((a, b) => b.length - a.length);
}

/**
 * Removes secrets from a stream, even if a secret is split between chunks: bytes that may be the start of a secret are
 * held back until more arrives.
 */
export class Scrubber {
  readonly #needles: readonly Buffer[];
  #held: Buffer = Buffer.alloc(0);

  constructor(secrets: Iterable<string>) {
    this.#needles = needlesOf(secrets);
  }

  /** Returns the text that may be passed on now. */
  push(chunk: Buffer): Buffer {
    if (this.#needles.length === 0) return chunk;
    const text = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    return this.#replace(text, (at) => this.#openFrom(text, at));
  }

  /** Returns the rest at the end of the stream. */
  flush(): Buffer {
    const rest = this.#held;
    return this.#replace(rest, () => rest.length);
  }

  /** Replaces from the left; bytes at `openFrom` or later are held back. */
  #replace(text: Buffer, openFrom: (at: number) => number): Buffer {
    const passed: Buffer[] = [];
    let at = 0;
    let open = openFrom(at);
    for (let hit = this.#firstHit(text, at); hit !== undefined && hit.at < open; hit = this.#firstHit(text, at)) {
      passed.push(text.subarray(at, hit.at), MARK);
      at = hit.at + hit.length;
      open = openFrom(at);
    }
    passed.push(text.subarray(at, open));
    this.#held = Buffer.from(text.subarray(open));
    return Buffer.concat(passed);
  }

  #firstHit(text: Buffer, from: number): { at: number; length: number } | undefined {
    let first: { at: number; length: number } | undefined;
    // Needles are sorted by length, so that the longer of two at the same position matches.
    for (const needle of this.#needles) {
      const at = text.indexOf(needle, from);
      if (at >= 0 && (first === undefined || at < first.at)) first = { at, length: needle.length };
    }
    return first;
  }

  /** Start of the first suffix, at `from` or later, that may be the start of a secret. */
  #openFrom(text: Buffer, from: number): number {
    const longest = this.#needles[0]!.length;
    for (let at = Math.max(from, text.length - longest + 1); at < text.length; at += 1) {
      const length = text.length - at;
      const isOpen = this.#needles.some(
        (needle) => needle.length > length && needle[0] === text[at] && text.compare(needle, 0, length, at) === 0,
      );
      if (isOpen) return at;
    }
    return text.length;
  }
}

/** Removes secrets from every string inside a value. */
export function scrubValue<T>(value: T, secrets: readonly string[]): T {
  if (secrets.length === 0) return value;
  const scrub = (inner: unknown): unknown => {
    if (typeof inner === 'string') {
      const scrubber = new Scrubber(secrets);
      return Buffer.concat([scrubber.push(Buffer.from(inner)), scrubber.flush()]).toString();
    }
    if (Array.isArray(inner)) return inner.map(scrub);
    if (typeof inner === 'object' && inner !== null)
      return Object.fromEntries(Object.entries(inner).map(([key, entry]) => [scrub(key) as string, scrub(entry)]));
    return inner;
  };
  return scrub(value) as T;
}
