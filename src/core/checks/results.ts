import type { CheckSummary, KeptResult } from '../contracts/checks.ts';
import { together } from '../data/together.ts';
import { compareText } from '../text/text.ts';
import type { CheckVerdict } from './judge.ts';

/** As the store has it. */
interface Row {
  readonly name: string;
  /** Empty: the check was asked once. */
  readonly node: string;
  readonly runId: string;
  readonly verdict: CheckVerdict;
  readonly text: string;
  readonly output: string | null;
  readonly at: string;
  readonly ms: number;
}

export const keptResult = ({ name, node, runId, ms, verdict, text, output, at }: Row): KeptResult => ({
  ...{ check: name, node: node === '' ? null : node, verdict, text, output },
  ...{ seconds: ms / 1000, at, run: runId },
});

/** The results of each check together, by its name. @param results one of a check and node at most @param most so many that are not well are listed */
export function summaries(results: readonly KeptResult[], most: number): CheckSummary[] {
  return [...together(results, ({ check }) => check)]
    .sort(([a], [b]) => compareText(a, b))
    .map(([check, own]) => {
      const having = (verdict: CheckVerdict) =>
        own.filter((one) => one.verdict === verdict).sort((a, b) => compareText(a.node ?? '', b.node ?? ''));
      const [failed, unknown] = [having('failed'), having('unknown')];
      return {
        check,
        verdict: failed.length > 0 ? 'failed' : unknown.length > 0 ? 'unknown' : 'well',
        counts: { well: own.length - failed.length - unknown.length, failed: failed.length, unknown: unknown.length },
        seconds: Math.max(...own.map(({ seconds }) => seconds)),
        at:
          own
            .map(({ at }) => at)
            .sort(compareText)
            .at(-1) ?? '',
        unwell: [...failed, ...unknown].slice(0, most),
      };
    });
}
