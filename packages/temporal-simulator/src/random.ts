/** A seeded source of choices (sfc32). Each part of the world has its own, so that a change of one does not move the others. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
    [this.#a, this.#b, this.#c] = [hash(name, 1), hash(name, 2), hash(name, 3)];
    for (let round = 0; round < 12; round++) this.next();
  }

  /** From 0 to below 1. */
  next(): number {
    const t = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + t;
    return (t >>> 0) / 4_294_967_296;
  }

  /** A whole number, both ends included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new RangeError('nothing to choose from');
    return from[Math.floor(this.next() * from.length)]!;
  }

  /** By weight. */
  weighed<T>(from: readonly (readonly [weight: number, value: T])[]): T {
    let at = this.next() * from.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of from) if ((at -= weight) < 0) return value;
    return from.at(-1)![1];
  }

  shuffled<T>(from: readonly T[]): T[] {
    const all = [...from];
    for (let end = all.length - 1; end > 0; end--) {
      const other = this.int(0, end);
      [all[end], all[other]] = [all[other]!, all[end]!];
    }
    return all;
  }

  /** A source of its own. */
  fork(name: string): Random {
    return new Random(`${this.#name}/${name}`);
  }

  uuid(): string {
    const hex = Array.from({ length: 32 }, () => Math.floor(this.next() * 16).toString(16)).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}

/** 32 bits of a text (FNV-1a with a final mix). */
export function hash(text: string, salt = 0): number {
  let value = 2_166_136_261 ^ salt;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 16_777_619);
  value = Math.imul(value ^ (value >>> 16), 2_246_822_507);
  value = Math.imul(value ^ (value >>> 13), 3_266_489_909);
  return (value ^ (value >>> 16)) | 0;
}
