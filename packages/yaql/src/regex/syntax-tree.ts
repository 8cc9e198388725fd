import type { CharacterClass } from './characters.ts';

/** A parsed pattern of Python's `re` dialect. */
export type PatternNode =
  | { readonly type: 'character'; readonly code: number; readonly ignoreCase: boolean; readonly ascii: boolean }
  | { readonly type: 'any'; readonly dotAll: boolean }
  | { readonly type: 'class'; readonly set: CharacterClass }
  | { readonly type: 'assertion'; readonly at: Assertion }
  | { readonly type: 'group'; readonly index: number; readonly body: PatternNode }
  /** Kept apart from its body because a quantifier may not follow a bare quantified item. */
  | { readonly type: 'plain-group'; readonly body: PatternNode }
  | { readonly type: 'backreference'; readonly index: number; readonly ignoreCase: boolean; readonly ascii: boolean }
  | {
      readonly type: 'look';
      readonly behind: boolean;
      readonly negative: boolean;
      readonly body: PatternNode;
      readonly width: number;
    }
  | { readonly type: 'atomic'; readonly body: PatternNode }
  | { readonly type: 'conditional'; readonly index: number; readonly yes: PatternNode; readonly no: PatternNode }
  | {
      readonly type: 'repeat';
      readonly min: number;
      readonly max: number;
      readonly mode: RepeatMode;
      readonly body: PatternNode;
    }
  | { readonly type: 'sequence'; readonly items: readonly PatternNode[] }
  | { readonly type: 'alternation'; readonly options: readonly PatternNode[] };

export type RepeatMode = 'greedy' | 'lazy' | 'possessive';

export type Assertion =
  | 'text-start'
  | 'text-end'
  | 'line-start'
  | 'line-end'
  /** `$` without multiLine: the end or before a final newline. */
  | 'end-or-final-newline'
  | 'word-boundary'
  | 'no-word-boundary'
  | 'ascii-word-boundary'
  | 'no-ascii-word-boundary';

/** The upper bound of `{n,}`. */
export const unlimited = 0xffffffff;

/** The least and the greatest number of characters a pattern can match. */
export function widthOf(
  node: PatternNode,
  groupWidths: ReadonlyMap<number, readonly [number, number]>,
): [number, number] {
  switch (node.type) {
    case 'character':
    case 'any':
    case 'class':
      return [1, 1];
    case 'assertion':
    case 'look':
      return [0, 0];
    case 'group':
    case 'plain-group':
    case 'atomic':
      return widthOf(node.body, groupWidths);
    case 'backreference': {
      const [low, high] = groupWidths.get(node.index) ?? [0, unlimited];
      return [low, high];
    }
    case 'conditional': {
      const [a, b] = widthOf(node.yes, groupWidths);
      const [c, d] = widthOf(node.no, groupWidths);
      return [Math.min(a, c), Math.max(b, d)];
    }
    case 'repeat': {
      const [low, high] = widthOf(node.body, groupWidths);
      return [Math.min(low * node.min, unlimited), high === 0 ? 0 : Math.min(high * node.max, unlimited)];
    }
    case 'sequence': {
      let low = 0;
      let high = 0;
      for (const item of node.items) {
        const [a, b] = widthOf(item, groupWidths);
        low = Math.min(low + a, unlimited);
        high = Math.min(high + b, unlimited);
      }
      return [low, high];
    }
    case 'alternation': {
      let low = unlimited;
      let high = 0;
      for (const option of node.options) {
        const [a, b] = widthOf(option, groupWidths);
        low = Math.min(low, a);
        high = Math.max(high, b);
      }
      return [low, high];
    }
  }
}
