import fc from 'fast-check';
import { expect, it } from 'vitest';
import { judgeCheck, type Sample } from '../../../../src/core/checks/judge.ts';

const checks = fc.record({
  within: fc.nat(30),
  every: fc.integer({ min: 1, max: 10 }),
  failures: fc.integer({ min: 1, max: 5 }),
});
const answers = fc.array(fc.tuple(fc.constantFrom(true, false, null), fc.nat(9_000)), { maxLength: 40 });

/** Asks as the worker does: at once, then when the judge says so. The answers take their time, and then there are none any more. */
function asked(check: Parameters<typeof judgeCheck>[0], given: readonly (readonly [boolean | null, number])[]) {
  const samples: Sample[] = [];
  let now = 1_000;
  for (let at = 0; ; at++) {
    const judged = judgeCheck(check, samples, 1_000, now);
    if ('verdict' in judged) return { ...judged, samples, now };
    expect(judged.again).toBeLessThanOrEqual(Math.max(now, 1_000) + check.every * 1000);
    const [ok, takes] = given[at] ?? [null, 0];
    now = Math.max(now, judged.again) + takes;
    samples.push({ at: now, ok, text: `answer ${at}` });
    if (at > 1_000) throw new Error('it has no verdict');
  }
}

it('a check is well with its first good answer, and never without one', () =>
  fc.assert(
    fc.property(checks, answers, (check, given) => {
      const { verdict, text, samples, now } = asked(check, given);
      const last = samples.at(-1)!;
      expect(text).toBe(last.text);
      expect(verdict).toBe(last.ok === true ? 'well' : last.ok === false ? 'failed' : 'unknown');
      expect(samples.slice(0, -1).every(({ ok }) => ok !== true)).toBe(true);
      if (verdict === 'well') return;
      expect(samples.length).toBeGreaterThanOrEqual(check.failures);
      expect(now - 1_000).toBeGreaterThanOrEqual(check.within * 1000);
      // Whoever had asked less would not have known.
      const before = samples.at(-2);
      const wasOver = before !== undefined && before.at - 1_000 >= check.within * 1000;
      expect(wasOver && samples.length > check.failures).toBe(false);
    }),
  ));

it('a check that was not asked has no verdict', () => {
  expect(judgeCheck({ within: 0, every: 1, failures: 1 }, [], 0, 60_000)).toEqual({ again: 60_000 });
});
