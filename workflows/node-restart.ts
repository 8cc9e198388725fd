import { ActivityFailure, isCancellation, sleep } from '@temporalio/workflow';
import type { AgentFacts, RunTask } from '../activities/graph-contract.ts';
import type { TaskEnd } from '../src/core/graph-run/index.ts';
import { callActivity } from './border.ts';
import { stepError } from './failures.ts';
import { taskActivityId } from './protocol.ts';
import { nodeTask, ofMaster, type Patience } from './task-options.ts';

/** A node that answers with its old boot id may be about to shut down. */
const LOOK_AGAIN_MS = 5_000;

/** A restart that the node did not perform, or after which it does not answer. */
interface MissedRestart {
  readonly request: RunTask;
  /** Id of the node in the graph. */
  readonly id: string;
  /** How the node's own restart ended. */
  readonly end: TaskEnd;
  /** Queue of the orchestrator's own agent, which reaches MAAS. */
  readonly master: string;
  /** The boot id that must change, if known. */
  readonly bootId: string | undefined;
  /** Limit of the task: for the power cycle, and again for the node's return. */
  readonly seconds: number;
  readonly patience: Patience;
  /** null: the agent did not answer within the offline wait. */
  readonly ping: () => Promise<AgentFacts | null>;
}

/** Whether MAAS must cycle the power after a node's own restart. Not after a cancellation or refusal. */
export const needsPowerCycle = ({ type, mode }: RunTask, end: TaskEnd): boolean =>
  type === 'reboot' &&
  mode === 'apply' &&
  (end.failure_kind === 'not-rebooted' || end.failure_kind === 'offline' || end.outcome === 'lost');

/** Cycles the power of a node through MAAS and waits for its agent. A new boot id means success. */
export async function restartByPowerCycle(missed: MissedRestart): Promise<TaskEnd> {
  const { request, id, end, master, seconds, patience } = missed;
  const why = end.message ?? 'its own restart failed';
  const failed = (message: string): TaskEnd => ({ outcome: 'failed', message: `${why}; ${message}`.slice(0, 300) });
  const activityId = `${taskActivityId(request.task, id, request.generation)}/power`;
  const summary = `power-cycle ${id} for ${request.task}: ${why}`.slice(0, 200);
  let powered: TaskEnd;
  try {
    const options = nodeTask(activityId, summary, master, seconds, ofMaster(patience));
    powered = await callActivity('run_task', request, options);
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    return failed(`its power was not cycled: ${stepError(error).message}`);
  }
  if (powered.outcome !== 'success') return failed(`its power was not cycled: ${powered.message ?? powered.outcome}`);
  const until = Date.now() + seconds * 1000;
  for (;;) {
    const answer = await missed.ping();
    if (answer !== null && answer.boot_id !== missed.bootId) {
      const message = `restarted by a power cycle, because ${why}`.slice(0, 300);
      return { outcome: 'success', changed: true, message, ended_at: new Date(Date.now()).toISOString() };
    }
    if (Date.now() >= until)
      return failed(
        answer === null ? 'it did not answer after a power cycle' : 'its boot id is the same after a power cycle',
      );
    if (answer !== null) await sleep(LOOK_AGAIN_MS, { summary: `check ${id} again` });
  }
}
