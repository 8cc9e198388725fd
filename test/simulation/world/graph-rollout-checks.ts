import type { Execution } from '@sitewright/temporal-simulator';
import type { ExecutablePart } from '../../../activities/graph-contract.ts';
import { fromPayload } from '../../../packages/temporal-simulator/src/sdk.ts';
import type { TaskEnd } from '../../../src/core/graph-run/task-end.ts';
import type { World } from '../../../worker/parts/rehearsals/world.ts';
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

/** People may ask for what breaks the plain rules. */
const EXCEPTIONS = ['promote', 'retry_task', 'skip_task'] as const;

/** Judges each start of a task in a run with a rollout, from the history of the run and the words of the documentation. */
export class GraphRolloutChecks {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
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
    const members = graph.nodes.filter((id) => isOfRollout.has(id));
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
    for (const id of waves.slice(0, Math.max(0, wave)).flat()) {
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
