import { EVENT_ID, type Event, getScalarValue, SCALAR_STYLE, type ScalarEvent } from 'js-yaml';
import { isMapping, setKey } from '../../core/plain-value.js';
import type { YamlLimits } from './limits.js';
import { readPlainScalar, readTaggedScalar, type ScalarTag } from './pyyaml-schema.js';

/** Something wrong in the values of a document, at offsets of the source text. */
export type ComposeProblem =
  | { readonly kind: 'duplicate-key'; readonly key: string; readonly first: number; readonly same: boolean }
  | { readonly kind: 'complex-key' }
  | { readonly kind: 'unknown-tag'; readonly tag: string }
  | { readonly kind: 'tag-value'; readonly tag: string; readonly text: string }
  | { readonly kind: 'unknown-alias'; readonly name: string; readonly known: readonly string[] }
  | { readonly kind: 'recursive-alias'; readonly name: string }
  | { readonly kind: 'merge-value' }
  | { readonly kind: 'too-many-aliases'; readonly limit: number }
  | { readonly kind: 'alias-expansion'; readonly limit: number };

export type PlacedProblem = ComposeProblem & { readonly start: number; readonly end: number };

export interface Composed {
  readonly value: unknown;
  /** False when part of the value could not be made; what a schema says of it then means nothing. */
  readonly usable: boolean;
  readonly problems: readonly PlacedProblem[];
}

export interface ComposeOptions {
  readonly limits: YamlLimits;
  /** Refuse every tag, even `!!str`. */
  readonly refuseTags: boolean;
}

interface Anchor {
  value: unknown;
  /** Values it stands for, itself included; known once it is complete. */
  size: number;
  complete: boolean;
}

const CORE_TAG = 'tag:yaml.org,2002:';
const SCALAR_TAGS: ReadonlySet<string> = new Set<ScalarTag>(['str', 'int', 'float', 'bool', 'null', 'timestamp']);

/** Ends the work on a document whose aliases would cost too much. */
class TooExpensive extends Error {}

/**
 * Makes the plain value of one document out of the parser's events, from the event after its
 * DOCUMENT event. Scalars, merge keys and their precedence are PyYAML's (safe loader); mapping keys
 * become text as JSON would write them. Unlike js-yaml's own constructor it finds all problems, not
 * the first, and knows where each is.
 */
export function compose(source: string, events: readonly Event[], from: number, options: ComposeOptions): Composed {
  return new Composer(source, events, from, options).run();
}

class Composer {
  readonly #source: string;
  readonly #events: readonly Event[];
  readonly #options: ComposeOptions;
  readonly #anchors = new Map<string, Anchor>();
  readonly #problems: PlacedProblem[] = [];
  readonly #tagPrefixes = new Map<string, string>([
    ['!', '!'],
    ['!!', CORE_TAG],
  ]);
  #next: number;
  #values = 0;
  #expanded = 0;
  #aliases = 0;
  #usable = true;

  constructor(source: string, events: readonly Event[], from: number, options: ComposeOptions) {
    this.#source = source;
    this.#events = events;
    this.#next = from;
    this.#options = options;
    const document = events[from - 1];
    if (document?.type !== EVENT_ID.DOCUMENT) return;
    for (const directive of document.directives) {
      if (directive.kind === 'tag') this.#tagPrefixes.set(directive.handle, directive.prefix);
    }
  }

  run(): Composed {
    let value: unknown = null;
    try {
      value = this.#value();
    } catch (error) {
      if (!(error instanceof TooExpensive)) throw error;
    }
    return { value, usable: this.#usable, problems: this.#problems };
  }

  #value(): unknown {
    const event = this.#events[this.#next++]!;
    this.#values += 1;
    switch (event.type) {
      case EVENT_ID.SCALAR: {
        const value = this.#scalar(event);
        this.#anchor(event, value, 1, true);
        return value;
      }
      case EVENT_ID.SEQUENCE: {
        this.#refuseCollectionTag(event, 'seq');
        const list: unknown[] = [];
        const anchor = this.#anchor(event, list, 0, false);
        const before = this.#values;
        while (this.#events[this.#next]!.type !== EVENT_ID.POP) list.push(this.#value());
        this.#next += 1;
        this.#complete(anchor, before);
        return list;
      }
      case EVENT_ID.MAPPING: {
        this.#refuseCollectionTag(event, 'map');
        const mapping: Record<string, unknown> = {};
        const anchor = this.#anchor(event, mapping, 0, false);
        const before = this.#values;
        this.#fill(mapping);
        this.#next += 1;
        this.#complete(anchor, before);
        return mapping;
      }
      case EVENT_ID.ALIAS:
        return this.#alias(event.anchorStart, event.anchorEnd);
      default:
        // The parser writes balanced events: a document holds one value, a mapping pairs.
        throw new Error('unbalanced YAML events');
    }
  }

  #fill(mapping: Record<string, unknown>): void {
    const own = new Map<string, { value: unknown; start: number }>();
    const merged: Record<string, unknown>[] = [];
    while (this.#events[this.#next]!.type !== EVENT_ID.POP) {
      const [start, end] = this.#range(this.#next);
      const isMerge = this.#isMergeKey(this.#events[this.#next]!);
      const key = this.#key(start, end);
      const valueIndex = this.#next;
      const value = this.#value();
      if (isMerge) {
        this.#merge(value, merged, valueIndex, start, end);
        continue;
      }
      if (key === undefined) continue;
      const first = own.get(key);
      if (first) {
        const same = JSON.stringify(first.value) === JSON.stringify(value);
        this.#problems.push({ kind: 'duplicate-key', key, first: first.start, same, start, end });
      }
      own.set(key, { value, start: first?.start ?? start });
    }
    for (const source of merged) for (const [key, value] of Object.entries(source)) setKey(mapping, key, value);
    for (const [key, { value }] of own) setKey(mapping, key, value);
  }

  #key(start: number, end: number): string | undefined {
    const key = this.#value();
    if (key !== null && typeof key === 'object') {
      this.#fail({ kind: 'complex-key', start, end });
      return undefined;
    }
    return String(key);
  }

  #isMergeKey(event: Event): boolean {
    if (event.type !== EVENT_ID.SCALAR || event.style !== SCALAR_STYLE.PLAIN) return false;
    if (event.tagStart >= 0) return this.#tagName(event) === `${CORE_TAG}merge`;
    return event.valueEnd - event.valueStart === 2 && this.#source.startsWith('<<', event.valueStart);
  }

  /** Of several mappings the first wins; of several `<<` in one mapping the last, as in PyYAML. */
  #merge(value: unknown, into: Record<string, unknown>[], index: number, keyStart: number, keyEnd: number): void {
    const sources = Array.isArray(value) ? [...value].reverse() : [value];
    if (sources.every(isMapping)) {
      into.push(...sources);
      return;
    }
    const [start, end] = this.#range(index);
    this.#fail({ kind: 'merge-value', ...(start < 0 ? { start: keyStart, end: keyEnd } : { start, end }) });
  }

  #scalar(event: ScalarEvent): unknown {
    const text = getScalarValue(this.#source, event);
    if (event.tagStart < 0) return event.style === SCALAR_STYLE.PLAIN ? readPlainScalar(text) : text;
    const tag = this.#tagName(event);
    const place = { start: event.tagStart, end: event.tagEnd };
    const name = tag.startsWith(CORE_TAG) ? tag.slice(CORE_TAG.length) : '';
    const written = this.#source.slice(event.tagStart, event.tagEnd);
    if (this.#options.refuseTags) this.#fail({ kind: 'unknown-tag', tag: written, ...place });
    else if (tag === '!' || name === 'merge') return text;
    else if (!SCALAR_TAGS.has(name)) this.#fail({ kind: 'unknown-tag', tag: written, ...place });
    else {
      const value = readTaggedScalar(name as ScalarTag, text);
      if (value !== undefined) return value;
      this.#fail({ kind: 'tag-value', tag: written, text, ...place });
    }
    return text;
  }

  #refuseCollectionTag(event: Event & { tagStart: number; tagEnd: number }, own: 'seq' | 'map'): void {
    if (event.tagStart < 0) return;
    const tag = this.#tagName(event);
    if (!this.#options.refuseTags && (tag === '!' || tag === CORE_TAG + own)) return;
    const written = this.#source.slice(event.tagStart, event.tagEnd);
    this.#fail({ kind: 'unknown-tag', tag: written, start: event.tagStart, end: event.tagEnd });
  }

  #tagName(event: { tagStart: number; tagEnd: number }): string {
    const written = this.#source.slice(event.tagStart, event.tagEnd);
    if (written === '!') return '!';
    if (written.startsWith('!<')) return written.slice(2, -1);
    const handle = /^!(?:[0-9A-Za-z-]*!)?/.exec(written)![0];
    return (this.#tagPrefixes.get(handle) ?? handle) + written.slice(handle.length);
  }

  #anchor(
    event: { anchorStart: number; anchorEnd: number },
    value: unknown,
    size: number,
    complete: boolean,
  ): Anchor | undefined {
    if (event.anchorStart < 0) return undefined;
    const anchor = { value, size, complete };
    this.#anchors.set(this.#source.slice(event.anchorStart, event.anchorEnd), anchor);
    return anchor;
  }

  #complete(anchor: Anchor | undefined, before: number): void {
    if (!anchor) return;
    anchor.size = this.#values - before + 1;
    anchor.complete = true;
  }

  #alias(start: number, end: number): unknown {
    const name = this.#source.slice(start, end);
    const place = { start: start - 1, end };
    const { maxAliases, maxExpandedValues } = this.#options.limits;
    if (++this.#aliases > maxAliases) this.#giveUp({ kind: 'too-many-aliases', limit: maxAliases, ...place });
    const anchor = this.#anchors.get(name);
    if (!anchor) {
      this.#fail({ kind: 'unknown-alias', name, known: [...this.#anchors.keys()], ...place });
      return null;
    }
    if (!anchor.complete) {
      this.#fail({ kind: 'recursive-alias', name, ...place });
      return null;
    }
    this.#values += anchor.size - 1;
    this.#expanded += anchor.size;
    if (this.#expanded > maxExpandedValues) {
      this.#giveUp({ kind: 'alias-expansion', limit: maxExpandedValues, ...place });
    }
    return anchor.value;
  }

  #fail(problem: PlacedProblem): void {
    this.#usable = false;
    this.#problems.push(problem);
  }

  #giveUp(problem: PlacedProblem): never {
    this.#fail(problem);
    throw new TooExpensive();
  }

  #range(index: number): [number, number] {
    return eventRange(this.#source, this.#events[index]!);
  }
}

/**
 * Where a value begins and ends in the text: quotes included; a collection ends with the line it
 * begins on. Both are -1 for a value that is not written (`key:`).
 */
export function eventRange(source: string, event: Event): [number, number] {
  switch (event.type) {
    case EVENT_ID.SCALAR: {
      if (event.valueStart < 0) return event.tagStart < 0 ? [-1, -1] : [event.tagStart, event.tagEnd];
      const quote = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED ? 1 : 0;
      const start = event.valueStart - quote;
      const block = event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK;
      const indent = block ? /^\s*/.exec(source.slice(start, event.valueEnd))![0].length : 0;
      return [start + indent, event.valueEnd + quote];
    }
    case EVENT_ID.SEQUENCE:
    case EVENT_ID.MAPPING: {
      const rest = /^[^\r\n]*/.exec(source.slice(event.start, event.start + 400))![0];
      return [event.start, event.start + rest.length];
    }
    case EVENT_ID.ALIAS:
      return [event.anchorStart - 1, event.anchorEnd];
    default:
      return [-1, -1];
  }
}
