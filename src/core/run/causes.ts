import type { NodeReport } from '../contracts/site-run-report.ts';
import { together } from '../data/together.ts';

/** Something that failed, and why. */
export interface Failed {
  readonly name: string;
  readonly reason: string;
  readonly hint?: string | undefined;
  /** Other names of it that its reason may contain. */
  readonly also?: readonly (string | undefined)[];
}

/** One reason of several failures. */
export interface Cause {
  /** Where the reason names what failed, and several did: `…`. */
  readonly reason: string;
  /** The fix, if it is the same for all. */
  readonly hint: string | undefined;
  readonly names: readonly string[];
}

/** Failures by their causes, the most frequent first: reasons that differ only in the name of what failed are one. */
export function causesOf(failures: readonly Failed[]): readonly Cause[] {
  const byReason = together(failures, (one) => withoutNames(one, one.reason));
  const causes = [...byReason].map(([reason, all]): Cause => {
    const [first] = all as readonly [Failed];
    const hints = new Set(all.map((one) => withoutNames(one, one.hint ?? '')));
    const shared = all.length === 1 ? first.hint : [...hints][0] || undefined;
    return {
      reason: all.length === 1 ? first.reason : reason,
      hint: hints.size === 1 ? shared : undefined,
      names: [...new Set(all.map(({ name }) => name))],
    };
  });
  return causes.sort((a, b) => b.names.length - a.names.length);
}

/** Causes of failed nodes. */
export const causesOfNodes = (nodes: readonly NodeReport[]): readonly Cause[] =>
  causesOf(
    nodes.flatMap(({ name, state, system_id, reason = 'no reason is known', hint }) =>
      state === 'failed' ? [{ name, reason, hint, also: [system_id] }] : [],
    ),
  );

function withoutNames({ name, also = [] }: Failed, text: string): string {
  const names = [name, ...also].filter((one) => one !== undefined && one !== '') as string[];
  return names.sort((a, b) => b.length - a.length).reduce((left, one) => left.split(one).join('…'), text);
}
