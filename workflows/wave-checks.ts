import { CancellationScope, TemporalFailure } from '@temporalio/workflow';
import type { RunCheck } from '../activities/contract.ts';
import type { PlannedCheck } from '../src/core/checks/check.ts';
import type { CheckFinding } from '../src/core/checks/wave-checks.ts';
import { given } from '../src/core/data/given.ts';
import type { WaveRest } from '../src/core/deployment/index.ts';
import { CLAIM_LOST } from '../src/core/run/index.ts';
import type { SitePlan } from '../src/core/site-run/index.ts';
import { counted } from '../src/core/text/text.ts';
import { checkCall } from './activity-options.ts';
import { callActivity, startChildOf } from './border.ts';
import { stepError } from './failures.ts';
import { graphWorkflowId } from './protocol.ts';
import type { SiteRun } from './site-run.ts';

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
  readonly #run: SiteRun;
  #turn = 0;
  #asked: { readonly group: number; readonly scope: CancellationScope } | null = null;
  #answers: WaveAnswers | null = null;
  #error: unknown = null;

  constructor(run: SiteRun, plan: SitePlan) {
    this.#plan = plan;
    this.#run = run;
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
    const turn = (this.#turn += 1);
    this.#asked = asked;
    // Whoever ended the questions waits for no answer.
    const whenWanted = (take: () => void): void => {
      if (this.#asked !== asked) return;
      take();
      this.#run.control.wake();
    };
    scope
      .run(() => askChecks(this.#run, this.#plan, rest.checks, rest.nodes, turn))
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

/**
 * Asks checks of a plan: workers and nodes at the same time.
 *
 * @param turn how often the run has asked
 * @throws when nobody waits for the answers any more, or the run has lost its site
 */
export async function askChecks(
  run: SiteRun,
  plan: SitePlan,
  names: readonly string[],
  nodes: readonly number[],
  turn: number,
): Promise<readonly CheckFinding[]> {
  const isFor = (by: PlannedCheck['on_nodes']) => (name: string) => plannedIn(plan, name)?.on_nodes === by;
  const workers = Promise.all(
    names.filter(isFor(undefined)).map((name) => askCheck(plan, run.progress.run_id, name, nodes)),
  );
  const runs = [names.filter(isFor('together')), ...names.filter(isFor('alone')).map((name) => [name])];
  const [asked, ...found] = await Promise.all([workers, askOnNodes(run, plan, runs, nodes, turn)]);
  const all = [...asked, ...found.flat()];
  return names.flatMap((name) => all.find((one) => one.name === name) ?? []);
}

/** Nodes ask in runs of graphs on the cluster of the site, one after the other. */
async function askOnNodes(
  run: SiteRun,
  plan: SitePlan,
  runs: readonly (readonly string[])[],
  nodes: readonly number[],
  turn: number,
): Promise<readonly CheckFinding[]> {
  const found: CheckFinding[] = [];
  for (const [at, names] of runs.entries())
    if (names.length > 0) found.push(...(await askInRun(run, plan, names, nodes, `${turn}.${at + 1}`)));
  return found;
}

async function askInRun(
  run: SiteRun,
  plan: SitePlan,
  names: readonly string[],
  nodes: readonly number[],
  turn: string,
): Promise<readonly CheckFinding[]> {
  const { site, revision, cluster } = plan;
  const { run_id, input } = run.progress;
  const unasked = (why: string) =>
    names.map((name): CheckFinding => ({ name, each: 'node', unwell: [], unasked: why }));
  if (cluster === undefined) return unasked('no cluster is linked to this site, whose nodes would ask');
  if (nodes.length === 0) return names.map((name) => ({ name, each: 'node', unwell: [] }));
  const id = run.idOf(`${graphWorkflowId(cluster, run_id)}:checks:${turn}`);
  const child = await startChildOf('execute_graph', {
    id,
    input: {
      cluster,
      checks: { site, revision, names, nodes: nodes.map((index) => plan.nodes[index]!) },
      ...given({ started_by: run.startedBy, reason: input.reason }),
    },
    summary: `checks ${names.join(', ')}`,
    attributes: run.attributesOf({ SiteName: site, StartedBy: run.startedBy, RunPhase: 'starting' }),
  });
  const refusal = await child.result().then(
    () => undefined,
    (error: unknown) => {
      if (CancellationScope.current().consideredCancelled || !(error instanceof TemporalFailure)) throw error;
      return stepError(error).message;
    },
  );
  const ran = { workflow_id: id, run_id: child.run };
  const found = await Promise.all(names.map((name) => askCheck(plan, run_id, name, nodes, ran)));
  return found.map((one) => (one.unasked === undefined || refusal === undefined ? one : { ...one, unasked: refusal }));
}

const plannedIn = ({ checks }: SitePlan, name: string): PlannedCheck | undefined =>
  checks?.find((one) => one.name === name);

/** Asks a check of a plan, or what nodes have `ran`. */
async function askCheck(
  plan: SitePlan,
  run: string,
  name: string,
  nodes: readonly number[],
  ran?: RunCheck['ran'],
): Promise<CheckFinding> {
  const planned = plannedIn(plan, name);
  if (planned === undefined) return { name, each: 'wave', unwell: [], unasked: 'the plan has no such check' };
  const { each } = planned;
  const slices = each === 'wave' ? [undefined] : slicesOf(nodes);
  try {
    const answers = await Promise.all(slices.map((slice) => answerTo(plan, run, planned, slice, ran)));
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
  ran?: RunCheck['ran'],
): Promise<CheckFinding['unwell']> {
  const of = slice === undefined ? '' : ` of ${counted(slice.length, 'node')}`;
  const request = {
    site,
    run_id,
    revision,
    check: name,
    ...given({ nodes: slice?.map((index) => nodes[index]!), ran }),
  };
  const options = checkCall(`check ${name}${of}`, seconds, pace.heartbeat_seconds);
  const { unwell } = await callActivity('run_check', request, options);
  return unwell.map((one) => ({ ...one, nodes: one.nodes.flatMap((at) => slice?.[at] ?? []) }));
}

const slicesOf = (nodes: readonly number[]): (readonly number[])[] =>
  Array.from({ length: Math.ceil(nodes.length / NODES_AT_ONCE) }, (_, at) =>
    nodes.slice(at * NODES_AT_ONCE, (at + 1) * NODES_AT_ONCE),
  );
