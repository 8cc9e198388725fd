import type { Verdict } from './world/verdict.ts';

/** What was violated, without ids and times. */
export const kindOf = (violation: string): string =>
  violation
    .split('\n')[0]!
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replace(/\b(s[a-z0-9]{5})\b/g, 'MACHINE')
    .replace(/[0-9]+/g, 'N')
    .slice(0, 60);

/**
 * Leaves out of a seed's script, one after the other, all parts without which the same is violated. Until nothing more can go: leaving
 * one out may make another needless.
 *
 * @param live lives through the seed without some parts of its script
 */
export async function shrunk(
  live: (without: readonly string[]) => Promise<Verdict>,
  without: readonly string[] = [],
): Promise<Verdict> {
  let best = await live(without);
  if (best.violation === null) return best;
  const kind = kindOf(best.violation);
  let left = [...without];
  const all = best.parts.length;
  for (let before = -1; before !== left.length; ) {
    before = left.length;
    for (const part of best.parts.filter((one) => !left.includes(one)).reverse()) {
      const next = await live([...left, part]);
      if (next.violation === null || kindOf(next.violation) !== kind) continue;
      left = [...left, part];
      best = next;
    }
  }
  const kept = best.parts.filter((one) => !left.includes(one));
  const told = `--- of ${all} parts, ${kept.length} are needed: ${kept.join(', ') || 'none'}; --without '${left.join(',')}'`;
  return { ...best, story: [...best.story, told] };
}
