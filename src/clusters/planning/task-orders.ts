import { findTaskType, type TaskLimits } from '../../core/task-types/index.ts';
import type { Plan, TaskInstance } from '../../graph/index.ts';
import type { TaskOrder } from '../task-order.ts';

/** For types unknown to this release: an agent may be newer. */
const UNKNOWN_TYPE: TaskLimits = {
  timeoutSec: 3_600,
  timeoutCovers: 'all-tries',
  retries: 0,
  intervalSec: 0,
  killGraceSec: 30,
};

/** A task checked by the description of its type (src/core/task-types). */
interface JudgedTask {
  readonly limits: TaskLimits;
  /** Time limit on its node in seconds, including all attempts and the pauses between them. */
  readonly seconds: number;
  /** For which its runner will refuse its parameters. */
  readonly problems: readonly string[];
  /** Those for its node. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/**
 * Checks the tasks of a plan, equal parameters once.
 *
 * @returns judges a task; `uid`: the node's id in the plan, `agent`: the name of its agent
 */
export function judging(): (instance: TaskInstance, uid: string, agent: string) => JudgedTask {
  const judged = new Map<unknown, JudgedTask>();
  return ({ type, parameters: given = NOTHING }, uid, agent) => {
    const known = findTaskType(type);
    // Instances share parameters that do not depend on the node.
    const before = known?.partFor === undefined ? judged.get(given) : undefined;
    if (before !== undefined) return before;
    const { parameters, problem } = known?.partFor?.(given, uid, agent) ?? { parameters: given };
    const prepared = known?.prepare(parameters, { node: agent });
    const limits = prepared?.limits ?? UNKNOWN_TYPE;
    const task = {
      parameters,
      limits,
      seconds: secondsOf(limits),
      problems: [
        ...(problem === undefined ? [] : [problem]),
        ...(known === undefined || known.over.length === 0 ? [`will be refused: nothing can run ${type}`] : []),
        // Unknown keys were reported when the graph was read.
        ...(prepared?.problems ?? [])
          .filter(({ kind }) => kind !== 'unknown')
          .map(({ message }) => `will be refused by its node: ${message}`),
      ],
    };
    if (known?.partFor === undefined) judged.set(given, task);
    return task;
  };
}

const NOTHING: Readonly<Record<string, unknown>> = {};

const secondsOf = ({ timeoutSec, timeoutCovers, retries, intervalSec, killGraceSec }: TaskLimits): number =>
  Math.ceil(
    (timeoutCovers === 'all-tries' ? timeoutSec : timeoutSec * (retries + 1) + intervalSec * retries) + killGraceSec,
  );

/** The order for a task on a node of a site. */
export function taskOrder(plan: Plan, instance: TaskInstance, judged: JudgedTask, site: string): TaskOrder {
  const { secrets } = plan.tasks[instance.task]!.merged.task;
  const { limits, seconds, parameters } = judged;
  return {
    site,
    uid: plan.nodes[instance.node]!,
    type: instance.type,
    parameters,
    timeout_sec: limits.timeoutSec,
    retries: limits.retries,
    interval_sec: limits.intervalSec,
    deadline_sec: seconds,
    ...(Array.isArray(secrets) ? { secrets } : {}),
  };
}
