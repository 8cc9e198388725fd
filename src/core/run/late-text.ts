import type { LateNode, StepTime } from '../contracts/site-run.ts';
import { counted, spanText } from '../text/text.ts';

const NOUNS = { prepare: 'preparation', deploy: 'deployment' } as const;

/** How long a step takes. */
export const stepTimeText = (usual: StepTime): string =>
  usual.step === 'prepare' ? `Preparation: ${usualText(usual)}` : `Deployment: ${usualText(usual)}`;

const usualText = ({ model, median, p99, count }: StepTime): string =>
  `${spanText(median)} in the middle and at most ${spanText(p99)} for 99 of 100, by ${counted(count, 'earlier one')} on ${model ?? 'hardware that MAAS does not know'}`;

/** What takes too long, and what MAAS says of it. */
export function lateText({ node, pace, since, said, ...usual }: LateNode, now: number): string {
  const so = spanText(Math.max(0, (now - Date.parse(since)) / 1000));
  const maas = said === undefined ? '' : `; MAAS last said: ${said}`;
  return `${node} is ${pace} in its ${NOUNS[usual.step]} for ${so}; usual: ${usualText(usual)}${maas}`;
}

/** @param since ISO 8601, in UTC */
export const describeSilence = (since: string): string => `MAAS has not answered since ${since.slice(11, 16)} UTC`;
