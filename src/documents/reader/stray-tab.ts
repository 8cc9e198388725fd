import { EVENT_ID, type Event, SCALAR_STYLE } from 'js-yaml';

const protectedStyles: ReadonlySet<unknown> = new Set([
  SCALAR_STYLE.SINGLE_QUOTED,
  SCALAR_STYLE.DOUBLE_QUOTED,
  SCALAR_STYLE.LITERAL_BLOCK,
  SCALAR_STYLE.FOLDED_BLOCK,
]);

/**
 * Offset of the first tab outside quoted text, text blocks and comments; undefined when there
 * is none. YAML allows tabs between words and at line ends; PyYAML, which packages were written for, does not.
 */
export function strayTab(text: string, events: readonly Event[]): number | undefined {
  if (!text.includes('\t')) return undefined;
  let at = 0;
  for (const event of events) {
    if (event.type !== EVENT_ID.SCALAR || !protectedStyles.has(event.style) || event.valueStart < 0) continue;
    const found = tabBetween(text, at, event.valueStart);
    if (found !== undefined) return found;
    at = event.valueEnd;
  }
  return tabBetween(text, at, text.length);
}

function tabBetween(text: string, start: number, end: number): number | undefined {
  for (let at = start; at < end; at++) {
    const c = text[at];
    if (c === '\t') return at;
    if (c !== '#' || !/\s/.test(text[at - 1] ?? '\n')) continue;
    while (at < end && text[at] !== '\n' && text[at] !== '\r') at++;
  }
  return undefined;
}
