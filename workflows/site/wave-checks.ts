import { CancellationScope, TemporalFailure } from '@temporalio/workflow';
import type { AskingRun, RunCheck } from '../../activities/contract.ts';
import type { PlannedCheck } from '../../src/core/checks/check.ts';
import type { CheckFinding } from '../../src/core/checks/wave-checks.ts';
import type { SitePlan } from '../../src/core/contracts/site-run.ts';
import { given } from '../../src/core/data/given.ts';
import type { WaveRest } from '../../src/core/deployment/baremetal.ts';
import { NODES_A_CHECK } from '../../src/core/graph-run/cut.ts';
import { CLAIM_LOST } from '../../src/core/run/failure.ts';
import { counted } from '../../src/core/text/text.ts';
import { graphWorkflowId } from '../protocol.ts';
import { checkCall } from '../run/activity-options.ts';
import { callActivity, startChildOf } from '../run/border.ts';
import { stepError } from '../run/failures.ts';
import type { SiteRun } from './site-run.ts';

type CheckRest = Omit<Extract<WaveRest, { readonly kind: 'check' }>, 'kind'>;

/** Checks of documents, as a run has them asked. Nodes are numbers. */
export interface Asking {
  readonly of: Pick<RunCheck, 'site' | 'revision' | 'run_id' | 'cluster'>;
  readonly checks: readonly PlannedCheck[];
  readonly heartbeat_seconds: number;
  /** The name of a node in the documents. */
  nameOf(node: number): string;
  /** Has nodes ask these checks together. @param turn tells it from other times */
  askInRun(names: readonly string[], nodes: readonly number[], turn: string): Promise<AskedInRun>;
}

type AskedInRun =
  /** Where their answers are, and why not everybody could ask. */
  | { readonly ran: AskingRun; readonly why: string | undefined }
  /** Why nobody could. */
  | { readonly ran?: undefined; readonly why: string };

/** In a run on a site, whose cluster has the nodes. */
export const askingOfSite = (run: SiteRun, plan: SitePlan): Asking => ({
  of: { site: plan.site, revision: plan.revision, run_id: run.progress.run_id },
  checks: plan.checks ?? [],
  heartbeat_seconds: plan.pace.heartbeat_seconds,
  nameOf: (node) => plan.nodes[node]!,
  askInRun: (names, nodes, turn) => askInChild(run, plan, names, nodes, turn),
});

/** What came of the checks of a group, or of a role. */
export interface WaveAnswers {
  readonly group: number;
  readonly findings: readonly CheckFinding[];
  readonly askedAt: number;
}

/**
 * The checks of a wave, which a run asks beside all else that it does. Whoever promotes, retries, holds or stops it does not wait
 * for their answers.
 */
export class WaveChecks {
  readonly #asking: Asking;
  readonly #wake: () => void;
  #turn = 0;
  #asked: { readonly group: number; readonly scope: CancellationScope } | null = null;
  #answers: WaveAnswers | null = null;
  #error: unknown = null;

  constructor(asking: Asking, wake: () => void) {
    this.#asking = asking;
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
    const turn = (this.#turn += 1);
    this.#asked = asked;
    // Whoever ended the questions waits for no answer.
    const whenWanted = (take: () => void): void => {
      if (this.#asked !== asked) return;
      take();
      this.#wake();
    };
    scope
      .run(() => askChecks(this.#asking, rest.checks, rest.nodes, turn))
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
 * @throws when nobody waits for the answers any more, or the run has lost its claim
 */
export async function askChecks(
  asking: Asking,
  names: readonly string[],
  nodes: readonly number[],
  turn: number,
): Promise<readonly CheckFinding[]> {
  const isFor = (by: PlannedCheck['on_nodes']) => (name: string) => plannedIn(asking, name)?.on_nodes === by;
  const workers = Promise.all(names.filter(isFor(undefined)).map((name) => askCheck(asking, name, nodes)));
  const runs = [names.filter(isFor('together')), ...names.filter(isFor('alone')).map((name) => [name])];
  const [asked, ...found] = await Promise.all([workers, askOnNodes(asking, runs, nodes, turn)]);
  const all = [...asked, ...found.flat()];
  return names.flatMap((name) => all.find((one) => one.name === name) ?? []);
}

/** Nodes ask in graphs, one after the other. */
async function askOnNodes(
  asking: Asking,
  runs: readonly (readonly string[])[],
  nodes: readonly number[],
  turn: number,
): Promise<readonly CheckFinding[]> {
  const found: CheckFinding[] = [];
  for (const [at, names] of runs.entries()) {
    if (names.length === 0) continue;
    if (nodes.length === 0) {
      found.push(...names.map((name): CheckFinding => ({ name, each: 'node', unwell: [] })));
      continue;
    }
    const { ran, why } = await asking.askInRun(names, nodes, `${turn}.${at + 1}`);
    const answers =
      ran === undefined
        ? names.map((name): CheckFinding => ({ name, each: 'node', unwell: [], unasked: why }))
        : await Promise.all(names.map((name) => askCheck(asking, name, nodes, ran)));
    found.push(...answers.map((one) => (one.unasked === undefined ? one : { ...one, unasked: why ?? one.unasked })));
  }
  return found;
}

async function askInChild(
  run: SiteRun,
  plan: SitePlan,
  names: readonly string[],
  nodes: readonly number[],
  turn: string,
): Promise<AskedInRun> {
  const { site, revision, cluster } = plan;
  const { run_id, input } = run.progress;
  if (cluster === undefined) return { why: 'no cluster is linked to this site, whose nodes would ask' };
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
  const why = await whyNotEnded(child.result());
  return { ran: { workflow_id: id, run_id: child.run }, why };
}

/** Why a child has no result; undefined: it has one. @throws when nobody waits for it any more */
export const whyNotEnded = (result: Promise<unknown>): Promise<string | undefined> =>
  result.then(
    () => undefined,
    (error: unknown) => {
      if (CancellationScope.current().consideredCancelled || !(error instanceof TemporalFailure)) throw error;
      return stepError(error).message;
    },
  );

const plannedIn = ({ checks }: Asking, name: string): PlannedCheck | undefined =>
  checks.find((one) => one.name === name);

/** Asks a check, or what nodes have `ran`. */
async function askCheck(
  asking: Asking,
  name: string,
  nodes: readonly number[],
  ran?: RunCheck['ran'],
): Promise<CheckFinding> {
  const planned = plannedIn(asking, name);
  if (planned === undefined) return { name, each: 'wave', unwell: [], unasked: 'the plan has no such check' };
  const { each } = planned;
  const slices = each === 'wave' ? [undefined] : slicesOf(nodes);
  try {
    const answers = await Promise.all(slices.map((slice) => answerTo(asking, planned, slice, ran)));
    return { name, each, unwell: answers.flat() };
  } catch (error) {
    const { type, message } = stepError(error);
    if (type === CLAIM_LOST || CancellationScope.current().consideredCancelled) throw error;
    return { name, each, unwell: [], unasked: message };
  }
}

async function answerTo(
  { of: asked, nameOf, heartbeat_seconds }: Asking,
  { name, seconds }: PlannedCheck,
  slice?: readonly number[],
  ran?: RunCheck['ran'],
): Promise<CheckFinding['unwell']> {
  const of = slice === undefined ? '' : ` of ${counted(slice.length, 'node')}`;
  const request = { ...asked, check: name, ...given({ nodes: slice?.map(nameOf), ran }) };
  const options = checkCall(`check ${name}${of}`, seconds, heartbeat_seconds);
  const { unwell } = await callActivity('run_check', request, options);
  return unwell.map((one) => ({ ...one, nodes: one.nodes.flatMap((at) => slice?.[at] ?? []) }));
}

const slicesOf = (nodes: readonly number[]): (readonly number[])[] =>
  Array.from({ length: Math.ceil(nodes.length / NODES_A_CHECK) }, (_, at) =>
    nodes.slice(at * NODES_A_CHECK, (at + 1) * NODES_A_CHECK),
  );
