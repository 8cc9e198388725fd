import type { Execution } from '@sitewright/temporal-simulator';
import type { ExecutablePart } from '../../../activities/graph-contract.ts';
import { fromPayload } from '../../../packages/temporal-simulator/src/sdk.ts';
import { together } from '../../../src/core/data/together.ts';
import type { TaskEnd } from '../../../src/core/graph-run/task-end.ts';
import type { RolloutPolicy } from '../../../src/core/rollout/policy.ts';
import type { World } from '../../../worker/parts/rehearsals/world.ts';
import type { GivenAnswer } from './hosts.ts';
import { endedOf, isRequested, limitOf, wavesOf } from './rollout-checks.ts';

/** What is known of a task when another starts. */
interface Known {
  readonly node: string;
  readonly isOk: boolean;
  /** A failure after which nothing is tried again. */
  readonly hasFailed: boolean;
  /** Its agent was silent: its run decides how it ended. */
  readonly isLost: boolean;
}

const TASK_ON_NODE = /^(.+)@(\d+)(?::(\d+))?$/;

interface PlacedNode {
  readonly name: string;
  /** Empty: none. */
  readonly rack: string;
}

/** People may ask for what breaks the plain rules. */
const EXCEPTIONS = ['promote', 'retry_task', 'retry_node', 'skip_task'] as const;
/** Times of results are those of their workflow tasks, and of soaks those of the clock of the workflow. */
const TOLERANCE_MS = 1_000;

/** Judges each start of a task in a run with a rollout, from the history of the run and the words of the documentation. */
export class GraphRolloutChecks {
  readonly #world: World;
  readonly #nodeOf: (id: string) => PlacedNode;
  readonly #answers: readonly GivenAnswer[];
  readonly #order: readonly string[];

  /** @param answers that hosts and nodes have given to checks @param order of nodes, as the role wants it */
  constructor(
    world: World,
    nodeOf: (id: string) => PlacedNode,
    answers: readonly GivenAnswer[],
    order: readonly string[] = [],
  ) {
    this.#order = order;
    this.#world = world;
    this.#nodeOf = nodeOf;
    this.#answers = answers;
  }

  /** As the documentation says. Their ids are in the order of their names, and there are two racks at most. */
  #inOrder(ids: readonly string[]): readonly string[] {
    const racks = together(ids, (id) => this.#nodeOf(id).rack);
    const byRack = [...racks.keys()].sort().map((rack) => racks.get(rack)!);
    if (this.#order.includes('rack')) return byRack.flat();
    return this.#order.includes('spread') ? ids.flatMap((_, at) => byRack.flatMap((all) => all[at] ?? [])) : ids;
  }

  /** An activity was scheduled. */
  begins(workflowId: string, activityId: string): void {
    const [, name = '', node = ''] = TASK_ON_NODE.exec(activityId) ?? [];
    if (name === '') return;
    const run = this.#world.temporal.newest(workflowId)!;
    const part = partOf(run);
    const [rollout] = part?.graph.rollouts ?? [];
    if (part === undefined || rollout === undefined || run.earlierRuns.length > 0) return;
    if (EXCEPTIONS.some((action) => isRequested(run.turns, action))) return;
    const { graph } = part;
    const keyOf = (task: number): string => `${graph.names[graph.nameOf[task]!]}@${graph.nodes[graph.nodeOf[task]!]}`;
    const worked = [...graph.nodeOf.keys()].filter((task) => graph.noWork[task] !== 1);
    const isOfRollout = new Set(rollout.waves.flat().map((at) => graph.nodes[at]!));
    const members = this.#inOrder(graph.nodes.filter((id) => isOfRollout.has(id)));
    const waves = wavesOf(rollout.policy, members);
    const wave = waves.findIndex((ids) => ids.includes(node));
    const violated = (why: string): void =>
      this.#world.violated(`${workflowId} starts ${activityId} of wave ${wave + 1} of ${waves.length}, and ${why}`);
    const retries = new Map(graph.retries.map(([task, count]) => [keyOf(task), count]));
    const known = knownIn({ ...run, turns: run.turns.slice(0, -1) }, retries);
    const now = knownIn(run, retries);
    const failed = members.filter((id) => [...known.values()].some((one) => one.node === id && one.hasFailed));
    const limit = limitOf(rollout.policy, members.length);
    if (failed.length >= limit) violated(`${failed.join(', ')} have failed: ${limit} stop it`);
    const before = waves.slice(0, Math.max(0, wave)).flat();
    if (before.length > 0) {
      const soakedAt = soakOf(run, before, waves[wave]!, rollout.policy.soak);
      if (this.#world.time.now < soakedAt) violated(`the waves before have not soaked for ${rollout.policy.soak} s`);
      this.#checked(rollout.policy, soakedAt, before, failed, limit, violated);
    }
    for (const id of before) {
      const own = [...now.values()].filter((one) => one.node === id);
      if (own.some(({ hasFailed, isLost }) => hasFailed || isLost)) continue;
      const open = worked.filter(
        (task) => graph.nodes[graph.nodeOf[task]!] === id && now.get(keyOf(task))?.isOk !== true,
      );
      // One whose agent is offline has none that began.
      if (open.length > 0 && hasBegun(run, id))
        violated(`${open.map(keyOf).join(', ')} of a wave before has no result`);
    }
  }

  /** Checks are well before a wave opens. Who has not answered since is not well. */
  #checked(
    { checks = [] }: Pick<RolloutPolicy, 'checks'>,
    soakedAt: number,
    before: readonly string[],
    failed: readonly string[],
    limit: number,
    violated: (why: string) => void,
  ): void {
    const isWell = (asked: string): boolean =>
      this.#answers.some(({ host, at, isGood }) => host === asked && isGood && at >= soakedAt);
    if (checks.includes('gateway') && !isWell('gateway')) violated('the gateway has not answered well since');
    const ofNodes = checks.filter((name) => name !== 'gateway');
    const unwell = before.filter((id) => !ofNodes.every((name) => isWell(`${name} of ${this.#nodeOf(id).name}`)));
    const notWell = new Set([...failed, ...unwell]);
    if (unwell.length > 0 && notWell.size >= limit)
      violated(`${[...notWell].join(', ')} have failed, or are not well since: ${limit} stop it`);
  }
}

/** Until when the nodes of the waves before soak. */
function soakOf({ turns }: Execution, before: readonly string[], wave: readonly string[], soak: number): number {
  const nodeIn = (id: string | null | undefined): string => TASK_ON_NODE.exec(id ?? '')?.[2] ?? '';
  const openedAt = turns.find(({ activations }) =>
    activations.some(({ commands }) =>
      commands.some(({ scheduleActivity }) => wave.includes(nodeIn(scheduleActivity?.activityId))),
    ),
  )?.at;
  const results = endedOf(turns, 'run_task').filter(
    ({ id, at }) => before.includes(nodeIn(id)) && at <= (openedAt ?? Number.POSITIVE_INFINITY),
  );
  return Math.max(0, ...results.map(({ at }) => at)) + soak * 1000 - TOLERANCE_MS;
}

const hasBegun = ({ turns }: Execution, node: string): boolean =>
  turns.some(({ activations }) =>
    activations.some(({ commands }) =>
      commands.some(({ scheduleActivity }) => TASK_ON_NODE.exec(scheduleActivity?.activityId ?? '')?.[2] === node),
    ),
  );

/** The whole graph, where one workflow drives it. */
function partOf({ turns }: Execution): ExecutablePart | undefined {
  const texts = endedOf(turns, 'load_graph_part').map(({ result }) => result?.completed?.result);
  const [text] = texts;
  if (texts.length !== 1 || text == null) return undefined;
  return JSON.parse(fromPayload<{ readonly text: string }>(text).text) as ExecutablePart;
}

/** The last results of tasks, as their run has heard of them. */
function knownIn({ turns }: Pick<Execution, 'turns'>, retries: ReadonlyMap<string, number>): Map<string, Known> {
  const known = new Map<string, Known>();
  for (const { id, result } of endedOf(turns, 'run_task')) {
    const [, name = '', node = '', attempt = '1'] = TASK_ON_NODE.exec(id) ?? [];
    const answer = result?.completed?.result;
    if (name === '') continue;
    if (answer == null) {
      known.set(`${name}@${node}`, { node, isOk: false, hasFailed: false, isLost: true });
      continue;
    }
    const { outcome } = fromPayload<TaskEnd>(answer);
    const key = `${name}@${node}`;
    const isTriedAgain = outcome === 'failed' && Number(attempt) <= (retries.get(key) ?? 0);
    const isOk = outcome === 'success' || outcome === 'skipped';
    known.set(key, { node, isOk, hasFailed: !isOk && !isTriedAgain, isLost: false });
  }
  return known;
}
