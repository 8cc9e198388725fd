import { type AnyActivity, type Host, Worker } from '@sitewright/temporal-simulator';
import { Context } from '@temporalio/activity';
import type { AgentFacts, RunTask, TaskEnd } from '../../../activities/graph-contract.ts';
import { TASK_MARGIN_SECONDS } from '../../../src/core/task-on-node.ts';
import { TASK_TYPE_NAMES } from '../../../src/core/task-types/index.ts';
import { controlQueue, nodeQueue } from '../../../workflows/protocol.ts';
import { pause, type World } from './world.ts';

const MAX_BEAT_MS = 60_000;

/** How tasks go on a node. */
export interface TaskModel {
  /** How its node tries a task that fails; undefined: it does not fail. */
  fails(task: string): { readonly tries: number; readonly pause: number } | undefined;
  /** In seconds. */
  takes(task: string): number;
}

/**
 * Starts the agent of a node that answers for tasks instead of running them: each takes its time, and fails or succeeds. It does not
 * ask whether the run is paused: nobody pauses a rehearsal.
 */
export function startRehearsedNode(
  world: World,
  { site, node }: { readonly site: string; readonly node: string },
  tasks: TaskModel,
): void {
  const { time } = world;
  const queue = nodeQueue(site, node);
  const host: Host = { name: `agent ${node}`, alive: true, stalledUntil: 0 };
  const random = world.random.fork(host.name);
  const ends = new Map<string, TaskEnd>();
  const started = new Set<string>();
  const agent = time.hosts.run(host, () => {
    const run_task = async (request: RunTask): Promise<TaskEnd> => {
      const key = `${request.run} ${request.task} ${request.generation}`;
      const known = ends.get(key);
      if (known !== undefined) return known;
      started.add(key);
      const end = await follow(request);
      ends.set(key, end);
      return end;
    };
    const follow = async ({ task, generation }: RunTask): Promise<TaskEnd> => {
      const context = Context.current();
      const { heartbeatTimeoutMs = MAX_BEAT_MS, startToCloseTimeoutMs } = context.info;
      // A node ends a task at its time limit, which the activity outlasts.
      const limit = startToCloseTimeoutMs - TASK_MARGIN_SECONDS * 1000;
      const startedAt = time.now;
      const failing = tasks.fails(task);
      const { tries, pause: between } = failing ?? { tries: 1, pause: 0 };
      const takes = (tasks.takes(task) * tries + between * (tries - 1)) * 1000;
      const endsAt = startedAt + Math.max(1, Math.min(limit, Math.round(takes)));
      while (time.now < endsAt && !context.cancellationSignal.aborted) {
        await pause(Math.min(heartbeatTimeoutMs / 2, endsAt - time.now));
        context.heartbeat({ gen: generation });
      }
      const times = {
        started_at: new Date(startedAt).toISOString(),
        ended_at: new Date(time.now).toISOString(),
      };
      if (time.now < endsAt) return { outcome: 'cancelled', message: 'an operator cancelled it', ...times };
      const each = tries === 1 ? '' : `, at each of ${tries} tries`;
      if (failing !== undefined)
        return { outcome: 'failed', message: `it fails in this rehearsal${each}`, exit_code: 1, ...times };
      return { outcome: 'success', changed: true, ...times };
    };
    const ping = async ({ attempt }: { attempt?: RunTask }): Promise<AgentFacts> => ({
      node,
      agent_version: '1.0.0',
      boot_id: `boot-${node}`,
      task_types: TASK_TYPE_NAMES,
      containment: 'none',
      ...(attempt === undefined
        ? {}
        : { started: started.has(`${attempt.run} ${attempt.task} ${attempt.generation}`) }),
    });
    const run = { run_task } as unknown as Record<string, AnyActivity>;
    const control = { ping, cancel_task: async () => undefined } as unknown as Record<string, AnyActivity>;
    return new Worker({
      host,
      time,
      activities: { [queue]: run, [controlQueue(queue)]: control },
      latency: () => random.int(1, 30),
    });
  });
  world.temporal.join(agent);
}
