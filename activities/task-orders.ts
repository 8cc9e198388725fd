import { prepareTask } from '../src/agent/prepare-task.js';
import type { TaskLimits } from '../src/agent/task-type.js';
import type { TaskOrder } from '../src/clusters/index.js';
import type { Plan, TaskInstance } from '../src/graph/index.js';

/** For types this release has no runner of: an agent may be newer. Seconds. */
const UNKNOWN_TYPE: TaskLimits = {
  timeoutSec: 3_600,
  timeoutCovers: 'all-tries',
  retries: 0,
  intervalSec: 0,
  killGraceSec: 30,
};

/** The limits of a task, and what of its parameters its runner will refuse. */
export interface TaskJudgement {
  readonly limits: TaskLimits;
  /** Seconds it may take on its node, all tries and the pauses between them included. */
  readonly seconds: number;
  readonly problems: readonly string[];
}

/** Judges tasks by the agent's own table of types (src/agent/task-types). Equal parameters are judged once. */
export class TaskJudge {
  private readonly known = new Map<unknown, TaskJudgement>();

  judge({ id, type, parameters }: TaskInstance, node: string): TaskJudgement {
    // Instances share the parameters that do not depend on the node.
    const before = parameters === undefined ? undefined : this.known.get(parameters);
    if (before !== undefined && type !== 'upload_files') return before;
    const prepared = prepareTask({ run: 'plan', task: id, node, generation: 1, type, parameters: parameters ?? {} });
    const limits = prepared.ok ? prepared.task.limits : UNKNOWN_TYPE;
    const judgement = {
      limits,
      seconds: secondsOf(limits),
      problems: prepared.ok ? [] : prepared.problems.map(({ message }) => message),
    };
    if (parameters !== undefined) this.known.set(parameters, judgement);
    return judgement;
  }
}

const secondsOf = ({ timeoutSec, timeoutCovers, retries, intervalSec, killGraceSec }: TaskLimits): number =>
  Math.ceil(
    (timeoutCovers === 'all-tries' ? timeoutSec : timeoutSec * (retries + 1) + intervalSec * retries) + killGraceSec,
  );

/** The order of one task on one node of a site. */
export function taskOrder(
  plan: Plan,
  instance: TaskInstance,
  { limits, seconds }: TaskJudgement,
  site: string,
): TaskOrder {
  const { secrets } = plan.tasks[instance.task]!.merged.task;
  return {
    site,
    uid: plan.nodes[instance.node]!,
    type: instance.type,
    parameters: instance.parameters ?? {},
    timeout_sec: limits.timeoutSec,
    retries: limits.retries,
    interval_sec: limits.intervalSec,
    deadline_sec: seconds,
    ...(Array.isArray(secrets) ? { secrets } : {}),
  };
}
