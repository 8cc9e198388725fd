import { EVENT_ID, type Event, getScalarValue, SCALAR_STYLE, type ScalarEvent, YAMLException } from 'js-yaml';
import { eventRange } from '../documents/yaml/compose.js';
import { parseYamlEvents } from '../documents/yaml/parse-events.js';
import { parseYaml } from '../documents/yaml/parse-yaml.js';
import { readPlainScalar } from '../documents/yaml/pyyaml-schema.js';
import { SourceText } from '../documents/yaml/source-text.js';
import { type DataNode, keyName, type MappingEntry, type Place, type ScalarNode } from './data-node.js';
import type { Problems } from './problems.js';
import { SourcePlace } from './source-place.js';
import { strayTab } from './stray-tab.js';
import { readTimestamp } from './timestamp.js';

/** Values a file may stand for once its aliases are written out; a few lines of aliases can stand for 10^9. */
const MAX_EXPANDED_VALUES = 200_000;

/**
 * Reads one file of a package: a single YAML document, scalars as PyYAML reads them, last of equal keys
 * wins (with a warning), merge keys work. YAML tags are refused: the loader packages were written for
 * runs code on some of them. Undefined when the file cannot be used; `problems` says why.
 */
export function readYaml(text: string, file: string, problems: Problems): DataNode | undefined {
  let events: Event[];
  try {
    events = parseYamlEvents(text);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    reportSyntax(text, file, error, problems);
    return undefined;
  }
  return new Composer(new SourceText(text, file), file, events, problems).run();
}

/** The reader of documents explains syntax errors best, with hints. */
function reportSyntax(text: string, file: string, error: YAMLException, problems: Problems): void {
  const first = parseYaml(text, { file }).diagnostics.find(({ severity }) => severity === 'error');
  const line = first?.line ?? (error.mark?.line ?? 0) + 1;
  const column = first?.column ?? (error.mark?.column ?? 0) + 1;
  problems.at({ file, line, column }, [], {
    code: first?.code ?? 'yaml.syntax',
    message: first?.message ?? `not valid YAML: ${error.reason}`,
    ...(first?.hint !== undefined && { hint: first.hint }),
  });
}

interface Anchor {
  node?: DataNode;
  weight: number;
}

class Composer {
  readonly #source: SourceText;
  readonly #file: string;
  readonly #events: readonly Event[];
  readonly #problems: Problems;
  readonly #anchors = new Map<string, Anchor>();
  #next = 0;
  #weight = 0;
  #usable = true;
  #redefinesTags = false;

  constructor(source: SourceText, file: string, events: readonly Event[], problems: Problems) {
    this.#source = source;
    this.#file = file;
    this.#events = events;
    this.#problems = problems;
  }

  run(): DataNode | undefined {
    const [first] = this.#events;
    this.#redefinesTags = first?.type === EVENT_ID.DOCUMENT && first.directives.some(({ kind }) => kind === 'tag');
    const tab = strayTab(this.#source.text, this.#events);
    if (tab !== undefined) {
      this.#fail(tab, 'yaml.syntax', 'not valid YAML: a tab stands here outside of quotes', {
        hint: 'Write blanks: the tools that packages are made for take no tab outside of quotes and blocks of text.',
      });
    }
    const documents = this.#events.filter((event) => event.type === EVENT_ID.DOCUMENT).length;
    if (documents === 0) return this.#usable ? { kind: 'null', value: null, place: this.#place(0) } : undefined;
    this.#next = 1;
    const root = this.#node(0);
    if (documents > 1) {
      // The second document's first value; the marker before it has no place of its own.
      const index = this.#events.findIndex((event, at) => at > 0 && event.type === EVENT_ID.DOCUMENT);
      const [start] = this.#events[index + 1] ? eventRange(this.#source.text, this.#events[index + 1]!) : [0];
      this.#fail(Math.max(start, 0), 'package.several-documents', 'a second YAML document begins here', {
        hint: 'A file of a package holds one document: remove the --- line or split the file.',
      });
    }
    return this.#usable ? root : undefined;
  }

  /** `near` is where the value belongs when it is not written (`key:`). */
  #node(near: number): DataNode {
    const event = this.#events[this.#next++]!;
    this.#count(1, near);
    switch (event.type) {
      case EVENT_ID.SCALAR: {
        const node = this.#scalar(event, near);
        this.#anchor(event).node = node;
        return node;
      }
      case EVENT_ID.SEQUENCE: {
        const anchor = this.#anchor(event);
        const before = this.#weight;
        const tag = this.#collectionTag(event, ['seq', 'pairs', 'omap']);
        const items: DataNode[] = [];
        while (this.#events[this.#next]!.type !== EVENT_ID.POP) items.push(this.#node(event.start));
        this.#next += 1;
        const pairs = tag === 'pairs' || tag === 'omap' ? items.map((item) => this.#pair(item)) : items;
        return this.#finish(anchor, before, { kind: 'list', items: pairs, place: this.#place(event.start) });
      }
      case EVENT_ID.MAPPING: {
        const anchor = this.#anchor(event);
        const before = this.#weight;
        this.#collectionTag(event, ['map']);
        const entries = this.#entries();
        this.#next += 1;
        return this.#finish(anchor, before, { kind: 'mapping', entries, place: this.#place(event.start) });
      }
      case EVENT_ID.ALIAS:
        return this.#alias(event.anchorStart, event.anchorEnd);
      default:
        throw new Error(`unexpected YAML event ${event.type}`);
    }
  }

  #finish(anchor: Anchor, before: number, node: DataNode): DataNode {
    anchor.node = node;
    anchor.weight = this.#weight - before + 1;
    return node;
  }

  #entries(): Map<string, MappingEntry> {
    const own = new Map<string, MappingEntry>();
    const merged: MappingEntry[] = [];
    while (this.#events[this.#next]!.type !== EVENT_ID.POP) {
      const keyEvent = this.#events[this.#next]!;
      const [keyStart] = eventRange(this.#source.text, keyEvent);
      const isMerge = this.#isMergeKey(keyEvent);
      const key = this.#node(keyStart);
      const value = this.#node(keyStart);
      if (isMerge) this.#merge(value, merged);
      else if (key.kind === 'list' || key.kind === 'mapping') {
        this.#fail(keyStart, 'package.complex-key', 'a list or mapping cannot be a key', {
          hint: 'Quote the key if it is text.',
        });
      } else {
        this.#warnOfDuplicate(own, key);
        own.set(keyName(key), { key, value });
      }
    }
    if (merged.length === 0) return own;
    const all = new Map<string, MappingEntry>();
    for (const entry of merged) all.set(keyName(entry.key), entry);
    for (const [name, entry] of own) all.set(name, entry);
    return all;
  }

  #warnOfDuplicate(own: ReadonlyMap<string, MappingEntry>, key: ScalarNode): void {
    const first = own.get(keyName(key));
    if (!first) return;
    this.#problems.at(key, [], {
      severity: 'warning',
      code: 'package.duplicate-key',
      message: `the key '${String(key.value)}' stands here again; line ${first.key.place.line} has it first, and this value replaces that one`,
      hint: 'Keep the one you mean.',
    });
  }

  /** Later entries of `merged` win: of several mappings under one `<<` the first does, as in PyYAML. */
  #merge(value: DataNode, merged: MappingEntry[]): void {
    const sources = value.kind === 'list' ? [...value.items].reverse() : [value];
    for (const source of sources) {
      if (source.kind === 'mapping') merged.push(...source.entries.values());
      else {
        this.#usable = false;
        this.#problems.at(source, [], {
          code: 'package.merge-value',
          message: "'<<' takes a mapping or a list of mappings",
        });
      }
    }
  }

  #isMergeKey(event: Event): boolean {
    return (
      event.type === EVENT_ID.SCALAR &&
      event.style === SCALAR_STYLE.PLAIN &&
      event.tagStart < 0 &&
      this.#source.text.slice(event.valueStart, event.valueEnd) === '<<'
    );
  }

  #scalar(event: ScalarEvent, near: number): ScalarNode {
    const [start] = eventRange(this.#source.text, event);
    const place = this.#place(start < 0 ? near : start);
    this.#refuseTag(event);
    const text = getScalarValue(this.#source.text, event);
    if (event.style !== SCALAR_STYLE.PLAIN) return { kind: 'text', value: text, place };
    const timestamp = readTimestamp(text);
    if (timestamp === 'impossible') {
      this.#fail(start, 'package.impossible-date', `'${text}' has the form of a date, and there is no such date`, {
        hint: 'Quote it if it is text.',
      });
    } else if (timestamp !== undefined) return { kind: 'timestamp', value: timestamp, place };
    const value = readPlainScalar(text);
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

  #alias(start: number, end: number): DataNode {
    const name = this.#source.text.slice(start, end);
    const anchor = this.#anchors.get(name);
    if (!anchor?.node) {
      const message = anchor ? `the anchor '&${name}' contains itself` : `there is no anchor '&${name}' above`;
      this.#fail(start - 1, anchor ? 'package.recursive-alias' : 'package.unknown-alias', message, {
        hint: anchor ? 'Write the inner part out.' : `Quote the value if the text '*${name}' is meant.`,
      });
      return { kind: 'null', value: null, place: this.#place(start - 1) };
    }
    this.#count(anchor.weight - 1, start);
    return this.#weight > MAX_EXPANDED_VALUES ? { kind: 'null', value: null, place: this.#place(start) } : anchor.node;
  }

  #anchor(event: { anchorStart: number; anchorEnd: number }): Anchor {
    const anchor: Anchor = { weight: 1 };
    if (event.anchorStart >= 0) this.#anchors.set(this.#source.text.slice(event.anchorStart, event.anchorEnd), anchor);
    return anchor;
  }

  /**
   * YAML's own tags for lists and mappings make plain data, and released plugins use `!!pairs`: they are
   * read, with a warning. Every other tag is refused.
   */
  #collectionTag(event: { tagStart: number; tagEnd: number }, allowed: readonly string[]): string | undefined {
    if (event.tagStart < 0) return undefined;
    const written = this.#source.text.slice(event.tagStart, event.tagEnd);
    const name = /^(?:!!|!<tag:yaml\.org,2002:)([a-z]+)>?$/.exec(written)?.[1];
    if (name === undefined || !allowed.includes(name) || this.#redefinesTags) {
      this.#refuseTag(event);
      return undefined;
    }
    this.#problems.at(this.#place(event.tagStart), [], {
      severity: 'warning',
      code: 'package.collection-tag',
      message: `the YAML tag ${written} is read${name === 'pairs' || name === 'omap' ? ' as a list of [key, value] lists' : ''}; other tags are refused`,
      hint: 'Write the list or mapping without a tag.',
    });
    return name;
  }

  /** An item of `!!pairs`: a mapping of one key becomes a list of key and value. */
  #pair(item: DataNode): DataNode {
    const entry = item.kind === 'mapping' && item.entries.size === 1 ? [...item.entries.values()][0] : undefined;
    if (entry) return { kind: 'list', items: [entry.key, entry.value], place: item.place };
    this.#usable = false;
    this.#problems.at(item, [], {
      code: 'package.pairs-item',
      message: 'an item of !!pairs must be a mapping of one key',
    });
    return item;
  }

  #refuseTag(event: { tagStart: number; tagEnd: number }): void {
    if (event.tagStart < 0) return;
    const tag = this.#source.text.slice(event.tagStart, event.tagEnd);
    this.#fail(event.tagStart, 'package.yaml-tag', `the YAML tag ${tag} is not allowed in a package`, {
      hint: 'Remove the tag; quote the value if it is text.',
    });
  }

  #count(values: number, offset: number): void {
    const before = this.#weight;
    this.#weight += values;
    if (before <= MAX_EXPANDED_VALUES && this.#weight > MAX_EXPANDED_VALUES) {
      this.#fail(
        Math.max(offset, 0),
        'package.too-many-values',
        `the file stands for more than ${MAX_EXPANDED_VALUES} values`,
        {
          hint: 'Aliases of aliases multiply: write out what is meant.',
        },
      );
    }
  }

  #fail(offset: number, code: string, message: string, more: { hint?: string }): void {
    this.#usable = false;
    this.#problems.at(this.#place(offset), [], { code, message, ...more });
  }

  #place(offset: number): Place {
    return new SourcePlace(this.#file, this.#source, Math.max(offset, 0));
  }
}
