import { EVENT_ID, type Event, getScalarValue, SCALAR_STYLE, type ScalarEvent } from 'js-yaml';
import { type DataNode, jsonKey, keyName, type MappingEntry, type Place, type ScalarNode } from './data-node.js';
import type { YamlDialect } from './dialect.js';
import { nodeValue } from './node-value.js';
import { SourcePlace, type SourceText } from './source-text.js';
import { readTimestamp } from './timestamp.js';
import { eventRange } from './yaml-events.js';
import type { YamlProblem } from './yaml-problems.js';
import { readPlainScalar, readTaggedScalar, type ScalarTag, type ScalarValue } from './yaml-scalars.js';

export interface Composed {
  readonly root: DataNode;
  /** False when aliases or tags could not be resolved: check no schema then, its problems would mislead. */
  readonly usable: boolean;
  /** Whether aliases put parts of the tree in several places. */
  readonly shares: boolean;
}

/** The source of the events. `text` is the whole source, or the part that starts at `base`. */
export interface EventSource {
  readonly source: SourceText;
  readonly text: string;
  readonly base: number;
  readonly events: readonly Event[];
}

interface Anchor {
  /** Absent until it is complete. */
  node?: DataNode;
  /** Values it expands to, itself included. */
  weight: number;
}

const CORE_TAG = 'tag:yaml.org,2002:';
const SCALAR_TAGS: ReadonlySet<string> = new Set<ScalarTag>(['str', 'int', 'float', 'bool', 'null', 'timestamp']);
const COLLECTION_TAGS = { seq: ['seq', 'pairs', 'omap'], map: ['map'] } as const;

/** Aborts the reading of a document whose aliases cost too much. */
class TooExpensive extends Error {}

/**
 * Makes the tree of one document out of the parser's events, from the event after its DOCUMENT event. Scalars, merge
 * keys and their precedence are PyYAML's (safe loader). Unlike js-yaml's own constructor it finds all problems, not the
 * first, and knows where each is.
 */
export function composeYaml(
  from: EventSource,
  next: number,
  dialect: YamlDialect,
  report: (problem: YamlProblem, place: Place) => void,
): Composed {
  return new Composer(from, next, dialect, report).run();
}

class Composer {
  readonly #source: SourceText;
  readonly #text: string;
  readonly #base: number;
  readonly #events: readonly Event[];
  readonly #dialect: YamlDialect;
  readonly #report: (problem: YamlProblem, place: Place) => void;
  readonly #anchors = new Map<string, Anchor>();
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
    report: (problem: YamlProblem, place: Place) => void,
  ) {
    this.#source = source;
    this.#text = text;
    this.#base = base;
    this.#events = events;
    this.#next = next;
    this.#dialect = dialect;
    this.#report = report;
    const document = events[next - 1];
    if (document?.type !== EVENT_ID.DOCUMENT) return;
    for (const directive of document.directives) {
      if (directive.kind === 'tag') this.#tagPrefixes.set(directive.handle, directive.prefix);
    }
  }

  run(): Composed {
    const start = this.#place(0, 0);
    try {
      return { root: this.#node(start), usable: this.#usable, shares: this.#aliases > 0 };
    } catch (error) {
      if (!(error instanceof TooExpensive)) throw error;
      return { root: { kind: 'null', value: null, place: start }, usable: false, shares: false };
    }
  }

  /** `near` is the place for a value that is not written (`key:`). */
  #node(near: Place): DataNode {
    const event = this.#events[this.#next++]!;
    this.#values += 1;
    const { maxValues } = this.#dialect.limits;
    if (maxValues !== undefined && this.#values > maxValues)
      this.#abort({ kind: 'alias-expansion', limit: maxValues }, near);
    switch (event.type) {
      case EVENT_ID.SCALAR: {
        const node = this.#scalar(event, near);
        const anchor = this.#anchor(event);
        if (anchor) anchor.node = node;
        return node;
      }
      case EVENT_ID.SEQUENCE: {
        const tag = this.#collectionTag(event, 'seq');
        const [anchor, before, place] = [this.#anchor(event), this.#values, this.#placeOf(event, near)];
        const items: DataNode[] = [];
        while (this.#events[this.#next]!.type !== EVENT_ID.POP) items.push(this.#node(place));
        this.#next += 1;
        const pairs = tag === 'pairs' || tag === 'omap' ? items.map((item) => this.#pair(item)) : items;
        return this.#finish(anchor, before, { kind: 'list', items: pairs, place });
      }
      case EVENT_ID.MAPPING: {
        this.#collectionTag(event, 'map');
        const [anchor, before, place] = [this.#anchor(event), this.#values, this.#placeOf(event, near)];
        const entries = this.#entries(place);
        this.#next += 1;
        return this.#finish(anchor, before, { kind: 'mapping', entries, place });
      }
      case EVENT_ID.ALIAS:
        return this.#alias(event.anchorStart, event.anchorEnd);
      default:
        // The parser emits balanced events: one value for a document, pairs for a mapping.
        throw new Error('unbalanced YAML events');
    }
  }

  #finish(anchor: Anchor | undefined, before: number, node: DataNode): DataNode {
    if (!anchor) return node;
    anchor.node = node;
    anchor.weight = this.#values - before + 1;
    return node;
  }

  #entries(near: Place): Map<string, MappingEntry> {
    const own = new Map<string, MappingEntry>();
    const merged: MappingEntry[] = [];
    while (this.#events[this.#next]!.type !== EVENT_ID.POP) {
      const isMerge = this.#isMergeKey(this.#events[this.#next]!);
      const key = this.#node(near);
      const value = this.#node(key.place);
      if (isMerge) this.#merge(value, merged);
      else if (key.kind === 'list' || key.kind === 'mapping') this.#fail({ kind: 'complex-key' }, key.place);
      else {
        // Where dates are text, keys are text too, as in the JSON these documents become.
        const name = this.#dialect.dates ? keyName(key) : jsonKey(key);
        const first = own.get(name);
        if (first) this.#duplicate(first, key, value);
        own.set(name, { key: first?.key ?? key, value });
      }
    }
    if (merged.length === 0) return own;
    const all = new Map<string, MappingEntry>();
    for (const entry of merged) all.set(this.#dialect.dates ? keyName(entry.key) : jsonKey(entry.key), entry);
    for (const [name, entry] of own) all.set(name, entry);
    return all;
  }

  #duplicate(first: MappingEntry, key: ScalarNode, value: DataNode): void {
    const refused = this.#dialect.duplicateKeys === 'refused';
    const jsonOf = (node: DataNode) => JSON.stringify(nodeValue(node, (scalar) => scalar.value, true));
    const same = refused && jsonOf(first.value) === jsonOf(value);
    const { line, column } = first.key.place;
    this.#report({ kind: 'duplicate-key', key: String(key.value), line, column, refused, same }, key.place);
  }

  #isMergeKey(event: Event): boolean {
    if (event.type !== EVENT_ID.SCALAR || event.style !== SCALAR_STYLE.PLAIN) return false;
    if (event.tagStart >= 0) return this.#dialect.tags === 'core' && this.#tagName(event) === `${CORE_TAG}merge`;
    return event.valueEnd - event.valueStart === 2 && this.#text.startsWith('<<', event.valueStart);
  }

  /** Later entries of `merged` win: of several mappings under one `<<` the first does, of several `<<` the last. */
  #merge(value: DataNode, merged: MappingEntry[]): void {
    const sources = value.kind === 'list' ? [...value.items].reverse() : [value];
    for (const source of sources) {
      if (source.kind === 'mapping') for (const entry of source.entries.values()) merged.push(entry);
      else {
        this.#usable = false;
        this.#report({ kind: 'merge-value' }, value.kind === 'list' ? source.place : value.place);
      }
    }
  }

  #scalar(event: ScalarEvent, near: Place): ScalarNode {
    const place =
      event.style === SCALAR_STYLE.PLAIN && event.valueStart >= 0
        ? this.#place(event.valueStart, event.valueEnd)
        : this.#placeOf(event, near);
    const text = getScalarValue(this.#text, event);
    if (event.tagStart >= 0) return scalarNode(this.#tagged(event, text), text, place);
    if (event.style !== SCALAR_STYLE.PLAIN) return { kind: 'text', value: text, place };
    if (this.#dialect.dates) {
      const timestamp = readTimestamp(text);
      if (timestamp === 'impossible') this.#fail({ kind: 'impossible-date', text }, place);
      else if (timestamp !== undefined) return { kind: 'timestamp', value: timestamp, place };
    }
    return scalarNode(readPlainScalar(text), text, place);
  }

  #tagged(event: ScalarEvent, text: string): ScalarValue {
    const place = this.#place(event.tagStart, event.tagEnd);
    const tag = this.#tagName(event);
    const name = tag.startsWith(CORE_TAG) ? tag.slice(CORE_TAG.length) : '';
    const written = this.#text.slice(event.tagStart, event.tagEnd);
    if (this.#dialect.tags === 'collections') this.#fail({ kind: 'unknown-tag', tag: written }, place);
    else if (tag === '!' || name === 'merge') return text;
    else if (!isScalarTag(name)) this.#fail({ kind: 'unknown-tag', tag: written }, place);
    else {
      const value = readTaggedScalar(name, text);
      if (value !== undefined) return value;
      this.#fail({ kind: 'tag-value', tag: written, text }, place);
    }
    return text;
  }

  /** YAML's own tag of a list or mapping; undefined for none. */
  #collectionTag(event: Event & { tagStart: number; tagEnd: number }, own: 'seq' | 'map'): string | undefined {
    if (event.tagStart < 0) return undefined;
    const place = this.#place(event.tagStart, event.tagEnd);
    const tag = this.#tagName(event);
    const written = this.#text.slice(event.tagStart, event.tagEnd);
    if (this.#dialect.tags === 'core') {
      if (tag !== '!' && tag !== CORE_TAG + own) this.#fail({ kind: 'unknown-tag', tag: written }, place);
      return undefined;
    }
    const name = COLLECTION_TAGS[own].find((known) => tag === CORE_TAG + known);
    if (name === undefined || !/^(?:!!|!<)/.test(written)) this.#fail({ kind: 'unknown-tag', tag: written }, place);
    else this.#report({ kind: 'collection-tag', tag: written, pairs: name.length > 3 }, place);
    return name;
  }

  /** An item of `!!pairs`: a mapping of one key becomes a list of key and value. */
  #pair(item: DataNode): DataNode {
    const entry = item.kind === 'mapping' && item.entries.size === 1 ? [...item.entries.values()][0] : undefined;
    if (entry) return { kind: 'list', items: [entry.key, entry.value], place: item.place };
    this.#usable = false;
    this.#report({ kind: 'pairs-item' }, item.place);
    return item;
  }

  #tagName(event: { tagStart: number; tagEnd: number }): string {
    const written = this.#text.slice(event.tagStart, event.tagEnd);
    if (written === '!') return '!';
    if (written.startsWith('!<')) return written.slice(2, -1);
    const handle = /^!(?:[0-9A-Za-z-]*!)?/.exec(written)![0];
    return (this.#tagPrefixes.get(handle) ?? handle) + written.slice(handle.length);
  }

  #anchor(event: { anchorStart: number; anchorEnd: number }): Anchor | undefined {
    if (event.anchorStart < 0) return undefined;
    const anchor: Anchor = { weight: 1 };
    this.#anchors.set(this.#text.slice(event.anchorStart, event.anchorEnd), anchor);
    return anchor;
  }

  #alias(start: number, end: number): DataNode {
    const name = this.#text.slice(start, end);
    const place = this.#place(start - 1, end);
    const { maxAliases, maxExpandedValues, maxValues = Number.POSITIVE_INFINITY } = this.#dialect.limits;
    if (++this.#aliases > maxAliases) this.#abort({ kind: 'too-many-aliases', limit: maxAliases }, place);
    const anchor = this.#anchors.get(name);
    if (!anchor?.node) {
      if (anchor) this.#fail({ kind: 'recursive-alias', name }, place);
      else this.#fail({ kind: 'unknown-alias', name, known: [...this.#anchors.keys()] }, place);
      return { kind: 'null', value: null, place };
    }
    this.#values += anchor.weight - 1;
    this.#expanded += anchor.weight;
    if (this.#expanded > maxExpandedValues || this.#values > maxValues)
      this.#abort({ kind: 'alias-expansion', limit: Math.min(maxExpandedValues, maxValues) }, place);
    return { ...anchor.node, place };
  }

  #fail(problem: YamlProblem, place: Place): void {
    this.#usable = false;
    this.#report(problem, place);
  }

  #abort(problem: YamlProblem, place: Place): never {
    this.#fail(problem, place);
    throw new TooExpensive();
  }

  #placeOf(event: Event, near: Place): Place {
    const { start, end } = eventRange(this.#text, event);
    return start < 0 ? near : this.#place(start, end);
  }

  #place(start: number, end: number): Place {
    return new SourcePlace(this.#source, this.#base + start, this.#base + end);
  }
}

const isScalarTag = (name: string): name is ScalarTag => SCALAR_TAGS.has(name);

function scalarNode(value: ScalarValue, text: string, place: Place): ScalarNode {
  switch (typeof value) {
    case 'boolean':
      return { kind: 'boolean', value, place };
    case 'number':
      // Every form of a float has a dot, and no form of an integer has one.
      return { kind: text.includes('.') ? 'float' : 'integer', value, place };
    case 'string':
      return { kind: 'text', value, place };
    default:
      return { kind: 'null', value: null, place };
  }
}
