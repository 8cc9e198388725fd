import type { CheckVerdict } from './judge.ts';

/** Not well, or nothing is known. */
export type Unwell = Exclude<CheckVerdict, 'well'>;

/** What came of one check of a wave. */
export interface CheckFinding {
  readonly name: string;
  readonly each: 'node' | 'wave';
  /** Empty if all are well. Of a check of the wave one without nodes, otherwise with their numbers. */
  readonly unwell: readonly { readonly verdict: Unwell; readonly text: string; readonly nodes: readonly number[] }[];
  /** Why nobody could ask. */
  readonly unasked?: string;
}

/** What is shown of a check. */
export interface CheckResult {
  readonly name: string;
  readonly verdict: CheckVerdict;
  /** Number of nodes for which it is not well. */
  readonly nodes?: number;
  readonly text?: string;
}

/** The last answers to the checks of a rollout. */
export interface CheckedWaves {
  /** When they were asked. */
  readonly at: number;
  readonly results: readonly (CheckResult & { readonly holds: boolean })[];
}

/** A check of nodes fails those; what belongs to the wave, or was not asked, holds it. */
export function resultOf({ name, each, unwell, unasked }: CheckFinding): CheckedWaves['results'][number] {
  if (unasked !== undefined) return { name, verdict: 'unknown', text: unasked, holds: true };
  const [first] = unwell;
  if (first === undefined) return { name, verdict: 'well', holds: false };
  const verdict = unwell.some((one) => one.verdict === 'failed') ? 'failed' : 'unknown';
  const { text } = unwell.find((one) => one.verdict === verdict) ?? first;
  if (each === 'wave') return { name, verdict, text, holds: true };
  return { name, verdict, text, nodes: unwell.reduce((sum, { nodes }) => sum + nodes.length, 0), holds: false };
}

/** Whether all these checks were asked, and none of them holds the rollout. */
export const areWell = ({ results }: CheckedWaves, checks: readonly string[]): boolean =>
  checks.every((name) => results.find((one) => one.name === name)?.holds === false);
