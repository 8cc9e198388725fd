/**
 * The known names closest to what the user wrote, as a hint ("Did you mean 'masters'?"), or undefined if none is
 * close. Ignores case. An insertion, a deletion, a wrong character and a swap of neighbours each count as one typo.
 * Allows at most `maxTypos`; by default, one per three letters. Parts between hyphens, dots and the like that both names begin or
 * end with say nothing about the rest: `primary-trove` is not close to `primary-controller`.
 */
export function didYouMean(written: string, known: Iterable<string>, maxTypos?: number): string | undefined {
  const nearest = nearestNames(written, known, maxTypos);
  if (nearest.length === 0) return undefined;
  return `Did you mean ${nearest.map((name) => `'${name}'`).join(' or ')}?`;
}

/** Reports that something does not exist, with the existing names and a suggestion. */
export function unknownName(kind: string, written: string, known: readonly string[]): string {
  const hint = didYouMean(written, known);
  const named = written.length > 100 ? `${written.slice(0, 100)}…` : written;
  return `there is no ${kind} '${named}' (known: ${known.join(', ')})${hint === undefined ? '' : `. ${hint}`}`;
}

/** Limit of compared names: a suggestion must not cost seconds. */
const MAX_NAMES = 10_000;

/** Up to three names at the smallest distance, as `didYouMean` finds them. */
export function nearestNames(written: string, known: Iterable<string>, maxTypos?: number): string[] {
  const wanted = written.toLowerCase();
  // The distance costs length²; no known name is longer.
  if (wanted.length > 100) return [];
  const typosIn = (text: string): number => maxTypos ?? Math.max(1, Math.floor(text.length / 3));
  let best = typosIn(wanted);
  let names: string[] = [];
  let looked = 0;
  for (const name of known) {
    if (++looked > MAX_NAMES) break;
    if (name === written || Math.abs(name.length - wanted.length) > best) continue;
    const [own, other] = withoutSharedParts(wanted, name.toLowerCase());
    const limit = Math.min(best, typosIn(own));
    const distance = editDistance(own, other, limit);
    if (distance > limit) continue;
    if (distance < best) names = [];
    best = distance;
    names.push(name);
  }
  return [...new Set(names)].slice(0, 3);
}

/** Without the parts that both begin or end with. */
function withoutSharedParts(a: string, b: string): [string, string] {
  const shorter = Math.min(a.length, b.length);
  let same = 0;
  let start = 0;
  for (; same < shorter && a[same] === b[same]; same++) if (isSeparator(a[same]!)) start = same + 1;
  let end = 0;
  for (same = 0; same < shorter - start && a.at(-same - 1) === b.at(-same - 1); same++)
    if (isSeparator(a.at(-same - 1)!)) end = same + 1;
  return [a.slice(start, a.length - end), b.slice(start, b.length - end)];
}

const isSeparator = (letter: string): boolean => '-_./: @'.includes(letter);

/** Optimal string alignment distance. Above `limit` the result may be any larger number. */
function editDistance(a: string, b: string, limit: number): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let smallest = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, beforeLast[j - 2]! + 1);
      row.push(cost);
      smallest = Math.min(smallest, cost);
    }
    if (smallest > limit) return smallest;
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
