import type { Check } from './check.ts';

/** One answer to a check. `null`: there was none, or none that says anything. */
export interface Sample {
  /** When it came, in milliseconds. */
  readonly at: number;
  readonly ok: boolean | null;
  readonly text: string;
}

/** `unknown`: nothing is known, which is never well. */
export const CHECK_VERDICTS = ['well', 'failed', 'unknown'] as const;
export type CheckVerdict = (typeof CHECK_VERDICTS)[number];

export type Judgement =
  | { readonly verdict: CheckVerdict; readonly text: string }
  /** Ask again at that time. */
  | { readonly again: number };

/**
 * Judges a check by its answers so far. It is well with its first good answer. It is not, when the last `failures` answers
 * were not good and `within` is over; the last of them says whether it has failed, or nothing is known.
 *
 * @param since when it was asked first
 */
export function judgeCheck(
  { within, every, failures }: Pick<Check, 'within' | 'every' | 'failures'>,
  samples: readonly Sample[],
  since: number,
  now: number,
): Judgement {
  const last = samples.at(-1);
  if (last === undefined) return { again: now };
  const { at, ok, text } = last;
  if (ok === true) return { verdict: 'well', text };
  const isOver = at >= since + within * 1000;
  if (isOver && samples.length >= failures) return { verdict: ok === false ? 'failed' : 'unknown', text };
  return { again: at + every * 1000 };
}
