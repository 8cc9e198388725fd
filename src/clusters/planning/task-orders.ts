import { prepareTask } from '../../agent/prepare-task.js';
import type { TaskLimits } from '../../agent/task-type.js';
import { filesByNode } from '../../agent/task-types/upload-files.js';
import type { Plan, TaskInstance } from '../../graph/index.js';
import type { TaskOrder } from '../index.js';

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

/** What a task's node gets, and how it is judged. */
export interface JudgedTask extends TaskJudgement {
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Judges tasks by the agent's own table of types (src/agent/task-types). Equal parameters are judged once. */
export class TaskJudge {
  readonly #known = new Map<unknown, JudgedTask>();

  /**
   * @param uid the node's id in the plan
   * @param agent what its agent is called
   */
  judge({ id, type, parameters = NOTHING }: TaskInstance, uid: string, agent: string): JudgedTask {
    const perNode = type === 'upload_files';
    // Instances share the parameters that do not depend on the node.
    const before = perNode ? undefined : this.#known.get(parameters);
    if (before !== undefined) return before;
    const own = perNode ? filesOf(parameters, uid, agent) : { parameters, problems: [] };
    const prepared = prepareTask({
      run: 'plan',
      task: id,
      node: agent,
      generation: 1,
      type,
      parameters: own.parameters,
    });
    const limits = prepared.ok ? prepared.task.limits : UNKNOWN_TYPE;
    const refusals = prepared.ok
      ? []
      : prepared.problems.map(({ message }) => `will be refused by its node: ${message}`);
    const judged = {
      parameters: own.parameters,
      limits,
      seconds: secondsOf(limits),
      problems: [...own.problems, ...refusals],
    };
    if (!perNode) this.#known.set(parameters, judged);
    return judged;
  }
}

const NOTHING: Readonly<Record<string, unknown>> = {};

/** Of an `upload_files` task the files for the node it runs on, which its agent knows by its own name. */
function filesOf(parameters: Readonly<Record<string, unknown>>, uid: string, agent: string) {
  const byNode = filesByNode(parameters);
  const entries = byNode.get(uid)?.nodes;
  const others = [...byNode.keys()].filter((node) => node !== uid);
  return {
    parameters: {
      ...parameters,
      nodes: Array.isArray(entries) ? entries.map((entry: object) => ({ ...entry, uid: agent })) : [],
    },
    problems:
      others.length === 0
        ? []
        : [`has files for ${others.join(', ')} too, which only a task on those nodes can place: place it there`],
  };
}

const secondsOf = ({ timeoutSec, timeoutCovers, retries, intervalSec, killGraceSec }: TaskLimits): number =>
  Math.ceil(
    (timeoutCovers === 'all-tries' ? timeoutSec : timeoutSec * (retries + 1) + intervalSec * retries) + killGraceSec,
  );

/** The order of one task on one node of a site. */
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
