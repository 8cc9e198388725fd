import { isMapping, setKey, type ValuePath } from '../../core/data/plain-value.ts';
import type { YamlDocument } from '../yaml-document.ts';

/** Where a value is written. */
export interface Origin {
  readonly yaml: YamlDocument;
  readonly path: ValuePath;
}

/**
 * A value that knows where it is written. It never changes: what layering and substitution make of it shares all parts
 * that stay the same, so that a copy costs nothing.
 */
export class Traced {
  readonly from: Origin;
  #value: { readonly plain: unknown } | undefined;
  #entries: ReadonlyMap<string, Traced> | undefined;
  #items: readonly Traced[] | undefined;
  #size: Size | undefined;

  private constructor(from: Origin) {
    this.from = from;
  }

  /** A value as it is written there. */
  static written(plain: unknown, from: Origin): Traced {
    const made = new Traced(from);
    made.#value = { plain };
    return made;
  }

  static mapping(entries: Iterable<readonly [string, Traced]>, from: Origin): Traced {
    const made = new Traced(from);
    made.#entries = new Map(entries);
    return made;
  }

  static list(items: readonly Traced[], from: Origin): Traced {
    const made = new Traced(from);
    made.#items = items;
    return made;
  }

  /** Plain data; parts are shared, so treat it as read-only. */
  get value(): unknown {
    this.#value ??= { plain: this.#compose() };
    return this.#value.plain;
  }

  /** Undefined unless it is a mapping. */
  entries(): ReadonlyMap<string, Traced> | undefined {
    const written = this.#value?.plain;
    if (!this.#entries && isMapping(written)) {
      const { yaml, path } = this.from;
      this.#entries = new Map(
        Object.entries(written).map(([key, value]) => [key, Traced.written(value, { yaml, path: [...path, key] })]),
      );
    }
    return this.#entries;
  }

  /** Undefined unless it is a list. */
  items(): readonly Traced[] | undefined {
    const written = this.#value?.plain;
    if (!this.#items && Array.isArray(written)) {
      const { yaml, path } = this.from;
      this.#items = written.map((value: unknown, index) => Traced.written(value, { yaml, path: [...path, index] }));
    }
    return this.#items;
  }

  /** The same mapping with some entries set, or removed where they are undefined. New ones come last. */
  withEntries(changes: Iterable<readonly [string, Traced | undefined]>): Traced {
    const entries = new Map(this.entries());
    for (const [key, value] of changes) {
      if (value) entries.set(key, value);
      else entries.delete(key);
    }
    return Traced.mapping(entries, this.from);
  }

  withItems(items: readonly Traced[]): Traced {
    return Traced.list(items, this.from);
  }

  /** Another text in its place. */
  replacedBy(text: string): Traced {
    return Traced.written(text, this.from);
  }

  /** A mapping without entries, in its place. */
  emptied(): Traced {
    return Traced.mapping([], this.from);
  }

  /** How much it takes written out. */
  get size(): Size {
    this.#size ??= this.#measure();
    return this.#size;
  }

  /** Where the value at a path is written, or where it is missing. */
  originOf(path: ValuePath): Origin {
    let node: Traced = this;
    for (const [depth, step] of path.entries()) {
      const next = node.entries()?.get(String(step)) ?? node.items()?.[Number(step)];
      if (!next) return { yaml: node.from.yaml, path: [...node.from.path, ...path.slice(depth)] };
      node = next;
    }
    return node.from;
  }

  #compose(): unknown {
    if (this.#items) return this.#items.map(({ value }) => value);
    const plain: Record<string, unknown> = {};
    for (const [key, { value }] of this.#entries ?? []) setKey(plain, key, value);
    return plain;
  }

  #measure(): Size {
    if (this.#value && !this.#entries && !this.#items) return sizeOf(this.#value.plain);
    return around([...(this.#items ?? this.#entries?.values() ?? [])].map(({ size }) => size));
  }
}

interface Size {
  /** Its values, and a little for each character. */
  readonly weight: number;
  readonly depth: number;
}

const CHARACTERS_OF_A_VALUE = 64;

function sizeOf(plain: unknown): Size {
  if (typeof plain === 'string') return { weight: 1 + Math.floor(plain.length / CHARACTERS_OF_A_VALUE), depth: 0 };
  if (typeof plain !== 'object' || plain === null) return { weight: 1, depth: 0 };
  return around(Object.values(plain).map(sizeOf));
}

const around = (inside: readonly Size[]): Size => ({
  weight: inside.reduce((sum, { weight }) => sum + weight, 1),
  depth: inside.reduce((deepest, { depth }) => Math.max(deepest, depth), 0) + 1,
});
