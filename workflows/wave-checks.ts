import { CancellationScope } from '@temporalio/workflow';
import type { PlannedCheck } from '../src/core/checks/check.ts';
import type { CheckFinding } from '../src/core/checks/wave-checks.ts';
import { given } from '../src/core/data/given.ts';
import type { WaveRest } from '../src/core/deployment/index.ts';
import { CLAIM_LOST } from '../src/core/run/index.ts';
import type { SitePlan } from '../src/core/site-run/index.ts';
import { counted } from '../src/core/text/text.ts';
import { checkCall } from './activity-options.ts';
import { callActivity } from './border.ts';
import { stepError } from './failures.ts';

type CheckRest = Extract<WaveRest, { readonly kind: 'check' }>;

/** What came of the checks of a group. */
export interface WaveAnswers {
  readonly group: number;
  readonly findings: readonly CheckFinding[];
  readonly askedAt: number;
}

/** How many nodes one activity asks about. */
const NODES_AT_ONCE = 100;

/**
 * The checks of a wave, which a run asks beside all else that it does. Whoever promotes, retries, holds or stops it does not wait
 * for their answers.
 */
export class WaveChecks {
  readonly #plan: SitePlan;
  readonly #run: string;
  readonly #wake: () => void;
  #asked: { readonly group: number; readonly scope: CancellationScope } | null = null;
  #answers: WaveAnswers | null = null;
  #error: unknown = null;

  /** @param run by the run id of its first execution. @param wake called when there are answers to `take` */
  constructor(plan: SitePlan, run: string, wake: () => void) {
    this.#plan = plan;
    this.#run = run;
    this.#wake = wake;
  }

  /** Asks these checks, unless they are being asked. Null: nobody waits for answers any more. */
  ask(rest: CheckRest | null): void {
    if (this.#asked !== null && this.#asked.group === rest?.group) return;
    this.#asked?.scope.cancel();
    this.#asked = null;
    this.#answers = null;
    if (rest === null) return;
    const scope = new CancellationScope({ cancellable: true });
    const { group } = rest;
    const asked = { group, scope };
    const askedAt = Date.now();
    this.#asked = asked;
    // Whoever ended the questions waits for no answer.
    const whenWanted = (take: () => void): void => {
      if (this.#asked !== asked) return;
      take();
      this.#wake();
    };
    scope
      .run(() => Promise.all(rest.checks.map((name) => askCheck(this.#plan, this.#run, name, rest.nodes))))
      .then(
        (findings) => whenWanted(() => void (this.#answers = { group, findings, askedAt })),
        (error: unknown) => whenWanted(() => void (this.#error = error)),
      );
  }

  /** The answers that have arrived, once. @throws the failure of a question that ends the run */
  take(): WaveAnswers | null {
    if (this.#error !== null) throw this.#error;
    const answers = this.#answers;
    this.#answers = null;
    if (answers !== null) this.#asked = null;
    return answers;
  }
}

/** Asks a check of a plan. @throws when nobody waits for the answer any more, or the run has lost its site */
export async function askCheck(
  plan: SitePlan,
  run: string,
  name: string,
  nodes: readonly number[],
): Promise<CheckFinding> {
  const planned = plan.checks?.find((one) => one.name === name);
  if (planned === undefined) return { name, each: 'wave', unwell: [], unasked: 'the plan has no such check' };
  const { each } = planned;
  const slices = each === 'wave' ? [undefined] : slicesOf(nodes);
  try {
    const answers = await Promise.all(slices.map((slice) => answerTo(plan, run, planned, slice)));
    return { name, each, unwell: answers.flat() };
  } catch (error) {
    const { type, message } = stepError(error);
    if (type === CLAIM_LOST || CancellationScope.current().consideredCancelled) throw error;
    return { name, each, unwell: [], unasked: message };
  }
}

async function answerTo(
  { site, revision, nodes, pace }: SitePlan,
  run_id: string,
  { name, seconds }: PlannedCheck,
  slice?: readonly number[],
): Promise<CheckFinding['unwell']> {
  const of = slice === undefined ? '' : ` of ${counted(slice.length, 'node')}`;
  const request = { site, run_id, revision, check: name, ...given({ nodes: slice?.map((index) => nodes[index]!) }) };
  const options = checkCall(`check ${name}${of}`, seconds, pace.heartbeat_seconds);
  const { unwell } = await callActivity('run_check', request, options);
  return unwell.map((one) => ({ ...one, nodes: one.nodes.flatMap((at) => slice?.[at] ?? []) }));
}

const slicesOf = (nodes: readonly number[]): (readonly number[])[] =>
  Array.from({ length: Math.ceil(nodes.length / NODES_AT_ONCE) }, (_, at) =>
    nodes.slice(at * NODES_AT_ONCE, (at + 1) * NODES_AT_ONCE),
  );
