import { EVENT_ID, type Event, getScalarValue, SCALAR_STYLE, type ScalarEvent } from 'js-yaml';
import { controlCharacterInText, controlCharacterOf } from '../../core/text/control-characters.ts';
import { jsonKey, keyName, type MappingEntry, type ScalarKind, type ScalarNode } from './data-node.ts';
import type { YamlDialect } from './dialect.ts';
import { rangeOf, type SourceRange, type SourceText } from './source-text.ts';
import { readTimestamp } from './timestamp.ts';
import { type Entries, type MakeScalar, scalarNode, type YamlBuilder } from './yaml-builder.ts';
import { eventRange } from './yaml-events.ts';
import type { YamlProblem } from './yaml-problems.ts';
import { readPlainScalar, readTaggedScalar, type ScalarTag, type ScalarValue } from './yaml-scalars.ts';

export interface Composed<T> {
  readonly root: T;
  /** False when aliases or tags could not be resolved: check no schema then, its problems would mislead. */
  readonly usable: boolean;
}

/** Receives a problem. Its place and text are computed when it is shown. */
type Report = (problem: YamlProblem, at: SourceRange) => void;

/** The source of the events. `text` is the whole source, or the part that starts at `base`. */
export interface EventSource {
  readonly source: SourceText;
  readonly text: string;
  readonly base: number;
  readonly events: readonly Event[];
}

interface Anchor<T> {
  /** Absent until it is complete. */
  content?: { readonly value: T; readonly scalar?: ScalarNode };
  /** Values it expands to, itself included. */
  weight: number;
}

const CORE_TAG = 'tag:yaml.org,2002:';
const SCALAR_TAGS: ReadonlySet<string> = new Set<ScalarTag>(['str', 'int', 'float', 'bool', 'null', 'timestamp']);
const COLLECTION_TAGS = { seq: ['seq', 'pairs', 'omap'], map: ['map'] } as const;

/** Aborts the reading of a document whose aliases cost too much. */
class TooExpensive extends Error {}

/**
 * Makes the value of one document out of the parser's events, from the event after its DOCUMENT event. Scalars, merge
 * keys and their precedence are PyYAML's (safe loader). Unlike js-yaml's own constructor it finds all problems, not the
 * first, and knows where each is.
 */
export const composeYaml = <T>(
  from: EventSource,
  next: number,
  dialect: YamlDialect,
  build: YamlBuilder<T>,
  report: Report,
): Composed<T> => new Composer(from, next, dialect, build, report).run();

class Composer<T> {
  readonly #source: SourceText;
  readonly #text: string;
  readonly #base: number;
  readonly #events: readonly Event[];
  readonly #dialect: YamlDialect;
  readonly #build: YamlBuilder<T>;
  readonly #nameOf: (key: ScalarNode) => string;
  readonly #report: Report;
  readonly #maxValues: number;
  readonly #anchors = new Map<string, Anchor<T>>();
  readonly #tagPrefixes = new Map<string, string>([
    ['!', '!'],
    ['!!', CORE_TAG],
  ]);
  #next: number;
  #values = 0;
  #expanded = 0;
  #aliases = 0;
  #usable = true;

  constructor(
    { source, text, base, events }: EventSource,
    next: number,
    dialect: YamlDialect,
    build: YamlBuilder<T>,
    report: Report,
  ) {
    this.#source = source;
    this.#text = text;
    this.#base = base;
    this.#events = events;
    this.#next = next;
    this.#dialect = dialect;
    this.#build = build;
    // Where dates are text, keys are text too, as in the JSON these documents become.
    this.#nameOf = dialect.dates ? keyName : jsonKey;
    this.#report = report;
    this.#maxValues = dialect.limits.maxValues ?? Number.POSITIVE_INFINITY;
    const document = events[next - 1];
    if (document?.type !== EVENT_ID.DOCUMENT) return;
    for (const directive of document.directives) {
      if (directive.kind === 'tag') this.#tagPrefixes.set(directive.handle, directive.prefix);
    }
  }

  run(): Composed<T> {
    const start = this.#range(0, 0);
    try {
      return { root: this.#node(start), usable: this.#usable };
    } catch (error) {
      if (!(error instanceof TooExpensive)) throw error;
      return { root: this.#null(start), usable: false };
    }
  }

  /** `near` is the range for a value that is not written (`key:`). */
  #node(near: SourceRange): T {
    const event = this.#events[this.#next]!;
    switch (event.type) {
      case EVENT_ID.SCALAR:
        return this.#scalar(event, near, this.#build.scalar);
      case EVENT_ID.SEQUENCE: {
        this.#count(near);
        const tag = this.#collectionTag(event, 'seq');
        const anchor = this.#anchor(event);
        const before = this.#values;
        const range = this.#rangeOf(event, near);
        const items: T[] = [];
        while (this.#events[this.#next]!.type !== EVENT_ID.POP) items.push(this.#node(range));
        this.#next += 1;
        const isPairs = tag === 'pairs' || tag === 'omap';
        return this.#finish(anchor, before, this.#build.list(isPairs ? this.#pairs(items, range) : items, range));
      }
      case EVENT_ID.MAPPING: {
        this.#count(near);
        this.#collectionTag(event, 'map');
        const anchor = this.#anchor(event);
        const before = this.#values;
        const range = this.#rangeOf(event, near);
        const entries = this.#entries(range);
        this.#next += 1;
        return this.#finish(anchor, before, this.#build.mapping(entries, range));
      }
      case EVENT_ID.ALIAS: {
        this.#count(near);
        const range = this.#range(event.anchorStart - 1, event.anchorEnd);
        const content = this.#alias(event, range);
        return content ? this.#build.aliased(content.value, range) : this.#null(range);
      }
      default:
        // The parser emits balanced events: one value for a document, pairs for a mapping.
        throw new Error('unbalanced YAML events');
    }
  }

  /** Counts the next event's value before anything is made of it. */
  #count(near: SourceRange): void {
    this.#next += 1;
    this.#values += 1;
    if (this.#values > this.#maxValues) this.#abort({ kind: 'alias-expansion', limit: this.#maxValues }, near);
  }

  #finish(anchor: Anchor<T> | undefined, before: number, value: T): T {
    if (!anchor) return value;
    anchor.content = { value };
    anchor.weight = this.#values - before + 1;
    return value;
  }

  #entries(near: SourceRange): Entries<T> {
    const own: Entries<T> = new Map();
    const merged: (readonly [string, MappingEntry<T>])[] = [];
    while (this.#events[this.#next]!.type !== EVENT_ID.POP) {
      const event = this.#events[this.#next]!;
      const isMerge = this.#isMergeKey(event);
      const key = this.#key(event, near);
      const range = key ?? this.#rangeOf(event, near);
      const valueEvent = this.#events[this.#next]!;
      const value = this.#node(range);
      if (isMerge) this.#merge(value, this.#rangeOf(valueEvent, range), merged);
      else if (key === undefined) this.#fail({ kind: 'complex-key' }, range);
      else {
        const name = this.#nameOf(key);
        const first = own.get(name);
        if (first) this.#duplicate(first, key, value);
        own.set(name, { key: first?.key ?? key, value });
      }
    }
    if (merged.length === 0) return own;
    const all: Entries<T> = new Map(merged);
    for (const [name, entry] of own) all.set(name, entry);
    return all;
  }

  /** Undefined for a list or mapping, which cannot be a key. */
  #key(event: Event, near: SourceRange): ScalarNode | undefined {
    if (event.type === EVENT_ID.SCALAR) return this.#scalar(event, near, scalarNode, true);
    if (event.type !== EVENT_ID.ALIAS) {
      this.#node(near);
      return undefined;
    }
    this.#count(near);
    const range = this.#range(event.anchorStart - 1, event.anchorEnd);
    const content = this.#alias(event, range);
    if (content === undefined) return scalarNode('null', null, range.source, range.start, range.end);
    return content.scalar && { ...content.scalar, ...rangeOf(range) };
  }

  #duplicate(first: MappingEntry<T>, key: ScalarNode, value: T): void {
    const refused = this.#dialect.duplicateKeys === 'refused';
    const same = refused && this.#build.json(first.value) === this.#build.json(value);
    this.#report({ kind: 'duplicate-key', key: String(key.value), first: first.key, refused, same }, key);
  }

  #isMergeKey(event: Event): boolean {
    if (event.type !== EVENT_ID.SCALAR || event.style !== SCALAR_STYLE.PLAIN) return false;
    if (event.tagStart >= 0) return this.#dialect.tags === 'core' && this.#tagName(event) === `${CORE_TAG}merge`;
    return event.valueEnd - event.valueStart === 2 && this.#text.startsWith('<<', event.valueStart);
  }

  /** Later entries of `merged` win: of several mappings under one `<<` the first does, of several `<<` the last. */
  #merge(value: T, at: SourceRange, merged: (readonly [string, MappingEntry<T>])[]): void {
    const items = this.#build.itemsOf(value);
    for (const source of items === undefined ? [value] : [...items].reverse()) {
      const entries = this.#build.entriesOf(source);
      if (entries !== undefined) for (const entry of entries) merged.push(entry);
      else this.#fail({ kind: 'merge-value' }, this.#build.rangeOf(source) ?? at);
    }
  }

  #scalar<R>(event: ScalarEvent, near: SourceRange, make: MakeScalar<R>, isKey = false): R {
    this.#count(near);
    const isPlain = event.style === SCALAR_STYLE.PLAIN;
    const text = getScalarValue(this.#text, event);
    let start = this.#base + event.valueStart;
    let end = this.#base + event.valueEnd;
    if (!isPlain || event.valueStart < 0) ({ start, end } = this.#rangeOf(event, near));
    const control = isKey ? controlCharacterOf(text) : controlCharacterInText(text);
    if (control !== undefined)
      this.#fail({ kind: 'control-character', character: control }, { source: this.#source, start, end });
    let kind: ScalarKind = 'text';
    let value: ScalarValue = text;
    if (event.tagStart >= 0) {
      value = this.#tagged(event, text);
      kind = kindOf(value, text);
    } else if (isPlain) {
      const timestamp = this.#dialect.dates ? readTimestamp(text) : undefined;
      if (timestamp === 'impossible')
        this.#fail({ kind: 'impossible-date', text }, { source: this.#source, start, end });
      const isDate = timestamp !== undefined && timestamp !== 'impossible';
      value = isDate ? timestamp : readPlainScalar(text);
      kind = isDate ? 'timestamp' : kindOf(value, text);
    }
    const anchor = this.#anchor(event);
    if (anchor)
      anchor.content = {
        value: this.#build.scalar(kind, value, this.#source, start, end),
        scalar: scalarNode(kind, value, this.#source, start, end),
      };
    return make(kind, value, this.#source, start, end);
  }

  #tagged(event: ScalarEvent, text: string): ScalarValue {
    const range = this.#range(event.tagStart, event.tagEnd);
    const tag = this.#tagName(event);
    const name = tag.startsWith(CORE_TAG) ? tag.slice(CORE_TAG.length) : '';
    const written = this.#text.slice(event.tagStart, event.tagEnd);
    if (this.#dialect.tags === 'collections') this.#fail({ kind: 'unknown-tag', tag: written }, range);
    else if (tag === '!' || name === 'merge') return text;
    else if (!isScalarTag(name)) this.#fail({ kind: 'unknown-tag', tag: written }, range);
    else {
      const value = readTaggedScalar(name, text);
      if (value !== undefined) return value;
      this.#fail({ kind: 'tag-value', tag: written, text }, range);
    }
    return text;
  }

  /** YAML's own tag of a list or mapping; undefined for none. */
  #collectionTag(event: Event & { tagStart: number; tagEnd: number }, own: 'seq' | 'map'): string | undefined {
    if (event.tagStart < 0) return undefined;
    const range = this.#range(event.tagStart, event.tagEnd);
    const tag = this.#tagName(event);
    const written = this.#text.slice(event.tagStart, event.tagEnd);
    if (this.#dialect.tags === 'core') {
      if (tag !== '!' && tag !== CORE_TAG + own) this.#fail({ kind: 'unknown-tag', tag: written }, range);
      return undefined;
    }
    const name = COLLECTION_TAGS[own].find((known) => tag === CORE_TAG + known);
    if (name === undefined || !/^(?:!!|!<)/.test(written)) this.#fail({ kind: 'unknown-tag', tag: written }, range);
    else this.#report({ kind: 'collection-tag', tag: written, pairs: name.length > 3 }, range);
    return name;
  }

  #pairs(items: readonly T[], range: SourceRange): T[] {
    return items.map((item) => this.#pair(item, range));
  }

  /** An item of `!!pairs`: a mapping of one key becomes a list of key and value. */
  #pair(item: T, list: SourceRange): T {
    const entries = [...(this.#build.entriesOf(item) ?? [])];
    const range = this.#build.rangeOf(item) ?? list;
    if (entries.length === 1) {
      const { key, value } = entries[0]![1];
      return this.#build.list([this.#build.scalar(key.kind, key.value, key.source, key.start, key.end), value], range);
    }
    this.#fail({ kind: 'pairs-item' }, range);
    return item;
  }

  #tagName(event: { tagStart: number; tagEnd: number }): string {
    const written = this.#text.slice(event.tagStart, event.tagEnd);
    if (written === '!') return '!';
    if (written.startsWith('!<')) return written.slice(2, -1);
    const handle = /^!(?:[0-9A-Za-z-]*!)?/.exec(written)![0];
    return (this.#tagPrefixes.get(handle) ?? handle) + written.slice(handle.length);
  }

  #anchor(event: { anchorStart: number; anchorEnd: number }): Anchor<T> | undefined {
    if (event.anchorStart < 0) return undefined;
    const anchor: Anchor<T> = { weight: 1 };
    this.#anchors.set(this.#text.slice(event.anchorStart, event.anchorEnd), anchor);
    return anchor;
  }

  #alias(
    { anchorStart, anchorEnd }: { anchorStart: number; anchorEnd: number },
    at: SourceRange,
  ): Anchor<T>['content'] {
    const name = this.#text.slice(anchorStart, anchorEnd);
    const { maxAliases, maxExpandedValues } = this.#dialect.limits;
    if (++this.#aliases > maxAliases) this.#abort({ kind: 'too-many-aliases', limit: maxAliases }, at);
    const anchor = this.#anchors.get(name);
    if (!anchor?.content) {
      if (anchor) this.#fail({ kind: 'recursive-alias', name }, at);
      else this.#fail({ kind: 'unknown-alias', name, known: this.#anchors.keys() }, at);
      return undefined;
    }
    this.#values += anchor.weight - 1;
    this.#expanded += anchor.weight;
    if (this.#expanded > maxExpandedValues || this.#values > this.#maxValues)
      this.#abort({ kind: 'alias-expansion', limit: Math.min(maxExpandedValues, this.#maxValues) }, at);
    return anchor.content;
  }

  #fail(problem: YamlProblem, at: SourceRange): void {
    this.#usable = false;
    this.#report(problem, at);
  }

  #abort(problem: YamlProblem, at: SourceRange): never {
    this.#fail(problem, at);
    throw new TooExpensive();
  }

  #null({ source, start, end }: SourceRange): T {
    return this.#build.scalar('null', null, source, start, end);
  }

  #rangeOf(event: Event, near: SourceRange): SourceRange {
    const { start, end } = eventRange(this.#text, event);
    return start < 0 ? near : this.#range(start, end);
  }

  #range(start: number, end: number): SourceRange {
    return { source: this.#source, start: this.#base + start, end: this.#base + end };
  }
}

const isScalarTag = (name: string): name is ScalarTag => SCALAR_TAGS.has(name);

/** Every form of a float has a dot, and no form of an integer has one. */
const kindOf = (value: ScalarValue, text: string): ScalarKind => {
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'number':
      return text.includes('.') ? 'float' : 'integer';
    case 'string':
      return 'text';
    default:
      return 'null';
  }
};
