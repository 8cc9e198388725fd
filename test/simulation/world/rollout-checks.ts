import type { Execution } from '@sitewright/temporal-simulator';
import { fromPayload } from '../../../packages/temporal-simulator/src/sdk.ts';
import type { SitePlan } from '../../../src/core/contracts/site-run.ts';
import type { World } from '../../../worker/parts/rehearsals/world.ts';
import type { CallRequest, SliceResult } from '../../../workflows/contract.ts';
import type { GivenAnswer } from './hosts.ts';

type Turn = Execution['turns'][number];
type Rollout = NonNullable<SitePlan['groups'][number]['rollout']>;

/** A step of a node that has ended, when its workflow heard of it. */
interface Ended {
  readonly node: string;
  readonly verb: string;
  readonly isOk: boolean;
  readonly at: number;
}

/** Times of results are those of their workflow tasks, and of soaks those of the workflow's clock. */
const TOLERANCE_MS = 1_000;

/** Judges each start of a node of a rollout, from the histories of the run and the words of the documentation. */
export class RolloutChecks {
  readonly #world: World;

  readonly #answers: () => readonly GivenAnswer[];

  constructor(world: World, answers: () => readonly GivenAnswer[]) {
    this.#world = world;
    this.#answers = answers;
  }

  /** An activity was scheduled. Retries are requests of people, who may have them at any time. */
  begins(workflowId: string, activityId: string): void {
    const [verb = '', group = '', node = '', again] = activityId.split(':');
    if ((verb !== 'prepare' && verb !== 'deploy') || again !== undefined) return;
    const { temporal } = this.#world;
    const execution = temporal.newest(workflowId)!;
    const run = execution.parent === undefined ? execution : temporal.newest(execution.parent.workflowId)!;
    const parts = temporal.executions.filter(({ workflowId: id }) =>
      id.startsWith(`${run.workflowId}/${run.originalRunId}/`),
    );
    // Those of before a reset are heard of no more.
    if (run.earlierRuns.length > 0 && (parts.length > 0 || execution !== run)) return;
    const plan = planOf(run);
    // Also one that has failed before it began.
    if (isRetried(run.turns, node)) return;
    const rollout = plan?.groups.find(({ name }) => name === group)?.rollout;
    if (plan === undefined || rollout === undefined || isShared(plan, group)) return;
    const done = indexesOf(plan.done);
    const waves = wavesOf(
      rollout,
      indexesOf(rollout.order)
        .filter((index) => !done.includes(index))
        .map((index) => plan.nodes[index]!),
    );
    const wave = waves.findIndex((names) => names.includes(node));
    const violated = (why: string): void =>
      this.#world.violated(`${workflowId} begins ${activityId} of wave ${wave + 1} of ${waves.length}, and ${why}`);
    if (wave < 0) {
      violated('it has none');
      return;
    }
    const family = [run, ...parts];
    const before = waves.slice(0, wave).flat();
    const ended = inOrder(family.flatMap(endedIn));
    const isAsked = (name: string): boolean => isRequested(run.turns, name);
    const open = before.filter(
      (name) => !ended.some((one) => one.node === name && (one.verb === 'deploy' || !one.isOk)),
    );
    if (open.length > 0 && !isAsked('retry_node')) violated(`${open.join(', ')} of a wave before has no result`);
    if (isAsked('promote')) return;
    const known = inOrder(
      family.flatMap((one) => {
        const all = endedIn(one === execution ? { ...one, turns: one.turns.slice(0, -1) } : one);
        return one === execution || execution === run ? all : all.filter(({ at }) => at < execution.startedAt);
      }),
    );
    const failed = waves.flat().filter((name) => known.findLast((one) => one.node === name)?.isOk === false);
    const limit = limitOf(rollout, waves.flat().length);
    if (failed.length >= limit) violated(`${failed.join(', ')} have failed: ${limit} stop it`);
    const isFirst = !family.some(({ turns }) =>
      startsIn(turns).some(({ id }) => id !== activityId && waves[wave]!.includes(id.split(':')[2] ?? '')),
    );
    if (wave > 0 && verb === 'prepare' && isFirst)
      this.#opens(rollout, run, before, ended, limit - failed.length, violated);
  }

  /** A wave begins. */
  #opens(
    { soak, checks = [] }: Rollout,
    run: Execution,
    before: readonly string[],
    ended: readonly Ended[],
    failuresLeft: number,
    violated: (why: string) => void,
  ): void {
    const results = ended.filter(({ node }) => before.includes(node));
    if (!results.some(({ verb, isOk }) => verb === 'deploy' && isOk)) violated('no node is well yet');
    const last = Math.max(...results.flatMap(({ verb, at }) => (verb === 'abort' ? [] : [at])));
    const soakedAt = last + soak * 1000 - TOLERANCE_MS;
    const isWell = (host: string): boolean =>
      this.#answers().some((answer) => answer.host === host && answer.isGood && answer.at >= soakedAt);
    if (checks.includes('gateway') && !isWell('gateway')) violated('the gateway has not answered well since');
    if (checks.includes('metrics')) {
      const isDeployed = (name: string): boolean => results.findLast(({ node }) => node === name)?.isOk === true;
      const unwell = before.filter((name) => isDeployed(name) && !isWell(name));
      if (unwell.length >= failuresLeft) violated(`${unwell.join(', ')} have not answered well since`);
    }
    if (soak === 0) return;
    if (this.#world.time.now < soakedAt) violated(`the wave before has not soaked for ${soak} s`);
    const looks = endedOf(run.turns, 'inspect_nodes').filter(({ at }) => at >= soakedAt);
    if (looks.length === 0) violated('nobody has looked at the nodes since their soak');
  }
}

const commandsOf = ({ activations }: Turn) => activations.flatMap(({ commands }) => commands);
const jobsOf = ({ activations }: Turn) => activations.flatMap(({ jobs }) => jobs);

const startsIn = (turns: readonly Turn[]) =>
  turns.flatMap((turn) =>
    commandsOf(turn).flatMap(({ scheduleActivity: one }) =>
      one ? [{ id: one.activityId ?? '', type: one.activityType ?? '', seq: one.seq ?? 0 }] : [],
    ),
  );

/** Ends of activities of one type. */
export function endedOf(turns: readonly Turn[], type: string) {
  const seqs = new Map(startsIn(turns).map((one) => [one.seq, one]));
  return turns.flatMap((turn) =>
    jobsOf(turn).flatMap(({ resolveActivity: end }) => {
      const start = seqs.get(end?.seq ?? -1);
      return end && start?.type === type ? [{ id: start.id, at: turn.at, result: end.result }] : [];
    }),
  );
}

/** A node whose part someone ended has failed with it, whether or not it had begun. What it still reports changes nothing. */
function endedIn({ turns, input, status, closedAt, parent, result: partResult }: Execution): Ended[] {
  const ended = ['prepare_node', 'deploy_node'].flatMap((type) =>
    endedOf(turns, type).map(({ id, at, result }): Ended => {
      const [verb = '', , node = ''] = id.split(':');
      const answer = result?.completed?.result;
      return { verb, node, at, isOk: answer != null && fromPayload<{ readonly ok: boolean }>(answer).ok };
    }),
  );
  if (parent === undefined || status === 'RUNNING') return ended;
  const part = status === 'COMPLETED' ? (partResult as SliceResult) : undefined;
  if (part?.end.kind === 'complete' || part?.end.kind === 'held') return ended;
  const { verb, nodes } = fromPayload<CallRequest>(input[0]);
  const isInTime = ({ index, name }: CallRequest['nodes'][number]): boolean =>
    part === undefined
      ? ended.some(({ node }) => node === name)
      : part.finished.some(([finished]) => finished === index);
  const lost = nodes.filter((node) => !isInTime(node)).map(({ name }) => name);
  const inTime = ended.filter(({ node }) => !lost.includes(node));
  return [...inTime, ...lost.map((node) => ({ verb, node, at: closedAt ?? 0, isOk: false }))];
}

const inOrder = (all: readonly Ended[]): readonly Ended[] => all.toSorted((one, other) => one.at - other.at);

function planOf({ turns }: Execution): SitePlan | undefined {
  const answer = endedOf(turns, 'load_plan').at(-1)?.result?.completed?.result;
  if (answer == null) return undefined;
  const read = fromPayload<{ readonly ok: boolean; readonly plan?: SitePlan }>(answer);
  return read.plan;
}

export const isRequested = (turns: readonly Turn[], name: string): boolean =>
  turns.some((turn) =>
    jobsOf(turn).some((job) => job.signalWorkflow?.signalName === name || job.doUpdate?.name === name),
  );

const isRetried = (turns: readonly Turn[], node: string): boolean =>
  turns.some((turn) =>
    jobsOf(turn).some(
      ({ doUpdate: update }) =>
        update?.name === 'retry_node' && fromPayload<{ readonly node?: string }>(update.input?.[0]).node === node,
    ),
  );

/** Whether a node of the group may be deployed by another group. */
const isShared = ({ groups }: SitePlan, group: string): boolean => {
  const own = indexesOf(groups.find(({ name }) => name === group)!.nodes);
  return groups.some(({ name, nodes }) => name !== group && indexesOf(nodes).some((index) => own.includes(index)));
};

function indexesOf(ranges: readonly number[]): number[] {
  const indexes: number[] = [];
  for (let at = 0; at < ranges.length; at += 2)
    for (let index = ranges[at]!; index <= ranges[at + 1]!; index++) indexes.push(index);
  return indexes;
}

const nodesIn = (amount: number | string, total: number): number =>
  typeof amount === 'number' ? amount : Math.max(1, Math.floor((Number.parseInt(amount, 10) * total) / 100));

export function wavesOf({ first, growth }: Pick<Rollout, 'first' | 'growth'>, names: readonly string[]): string[][] {
  const waves: string[][] = [];
  let size = nodesIn(first, names.length);
  for (let at = 0; at < names.length; ) {
    waves.push(names.slice(at, at + size));
    at += size;
    if (growth === 'all') size = names.length;
    else if (growth === 'double') size *= 2;
    else if ('add' in growth) size += nodesIn(growth.add, names.length);
    else size = nodesIn(growth.by, names.length);
  }
  return waves;
}

export const limitOf = ({ stop_at }: Pick<Rollout, 'stop_at'>, total: number): number =>
  'failed' in stop_at ? stop_at.failed : Math.max(1, Math.ceil((stop_at.percent * total) / 100));
