import { EVENT_ID, type Event, getScalarValue, SCALAR_STYLE } from 'js-yaml';
import type { ValuePath } from '../../core/plain-value.js';
import { eventRange } from './compose.js';
import { readPlainScalar } from './pyyaml-schema.js';

/** A stretch of the source text. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

interface PlacedNode {
  /** The value as written; absent for `key:` without one. */
  readonly range: Range | undefined;
  readonly key?: Range;
  readonly children?: ReadonlyMap<string, PlacedNode>;
  /** Where else keys may be found: the mappings under `<<`. */
  readonly merged?: readonly PlacedNode[];
}

/** Finds where the values of one document stand. Built from the parser's events only when something is wrong. */
export class Places {
  readonly #source: string;
  readonly #events: readonly Event[];
  readonly #anchors = new Map<string, PlacedNode>();
  readonly #root: PlacedNode;
  #next: number;

  constructor(source: string, events: readonly Event[], from: number) {
    this.#source = source;
    this.#events = events;
    this.#next = from;
    this.#root = this.#node(undefined);
  }

  /**
   * The place of the value at `path`, or of its key. A path that leads to nothing (a missing key) has
   * the place of what it is missing in: the key of that mapping, or its first line in a list or at the root.
   */
  find(path: ValuePath, part: 'key' | 'value' = 'value'): Range | undefined {
    let node = this.#root;
    for (const [depth, step] of path.entries()) {
      const child = childOf(node, String(step), 0);
      if (!child) return node.key ?? node.range;
      node = child;
      if (part === 'key' && depth === path.length - 1) return node.key ?? node.range;
    }
    return node.range ?? node.key;
  }

  #node(key: Range | undefined): PlacedNode {
    const index = this.#next++;
    const event = this.#events[index]!;
    const [start, end] = eventRange(this.#source, event);
    const own = { range: start < 0 ? undefined : { start, end }, ...(key && { key }) };
    switch (event.type) {
      case EVENT_ID.SEQUENCE: {
        const children = new Map<string, PlacedNode>();
        const node = this.#remember(event, { ...own, children });
        while (this.#events[this.#next]!.type !== EVENT_ID.POP)
          children.set(String(children.size), this.#node(undefined));
        this.#next += 1;
        return node;
      }
      case EVENT_ID.MAPPING: {
        const children = new Map<string, PlacedNode>();
        const merged: PlacedNode[] = [];
        const node = this.#remember(event, { ...own, children, merged });
        while (this.#events[this.#next]!.type !== EVENT_ID.POP) {
          const keyEvent = this.#events[this.#next]!;
          const keyNode = this.#node(undefined);
          const name = this.#keyText(keyEvent);
          const value = this.#node(keyNode.range);
          if (name === '<<') merged.push(value, ...(value.children?.values() ?? []));
          else if (name !== undefined) children.set(name, value);
        }
        this.#next += 1;
        return node;
      }
      case EVENT_ID.ALIAS: {
        const target = this.#anchors.get(this.#source.slice(event.anchorStart, event.anchorEnd));
        return { ...target, ...own };
      }
      case EVENT_ID.SCALAR:
        return this.#remember(event, own);
      default:
        return own;
    }
  }

  #remember(event: { anchorStart: number; anchorEnd: number }, node: PlacedNode): PlacedNode {
    if (event.anchorStart >= 0) this.#anchors.set(this.#source.slice(event.anchorStart, event.anchorEnd), node);
    return node;
  }

  #keyText(event: Event): string | undefined {
    if (event.type !== EVENT_ID.SCALAR) return undefined;
    const text = getScalarValue(this.#source, event);
    return event.style === SCALAR_STYLE.PLAIN && event.tagStart < 0 ? String(readPlainScalar(text)) : text;
  }
}

function childOf(node: PlacedNode, step: string, depth: number): PlacedNode | undefined {
  const own = node.children?.get(step);
  // A merge of a merge of a merge is as deep as anybody writes; aliases may make it a ring.
  if (own || depth > 3) return own;
  for (const source of node.merged ?? []) {
    const found = childOf(source, step, depth + 1);
    if (found) return found;
  }
  return undefined;
}
