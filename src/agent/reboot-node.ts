import type { TaskResult } from './result.js';

/** What is needed to restart a node for certain. */
export interface RebootSteps {
  /** Runs the `reboot` task on the node and follows it to its result; rejects when the node is not heard of in time. */
  readonly rebootTask: () => Promise<TaskResult>;
  /** Switches the machine off and on from outside (MAAS). Absent: there is no such way. */
  readonly powerCycle?: () => Promise<void>;
  /** The boot id once the node is heard of again; rejects when it is not in time. */
  readonly awaitBootId: () => Promise<string>;
  /** The boot id before. */
  readonly bootId: string;
}

export type RebootEnd =
  | { readonly kind: 'rebooted'; readonly by: 'task' | 'power-cycle'; readonly bootId: string }
  /** The task's own end, e.g. cancelled: nothing was forced. */
  | { readonly kind: 'ended'; readonly result: TaskResult }
  | { readonly kind: 'failed'; readonly message: string };

const failed = (message: string): RebootEnd => ({ kind: 'failed', message });
const said = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Asks the node to restart; when it does not, or is not heard of again, has its power cycled. The boot id decides. */
export async function rebootNode(steps: RebootSteps): Promise<RebootEnd> {
  let reason: string;
  try {
    const result = await steps.rebootTask();
    if (result.outcome === 'ok') return { kind: 'rebooted', by: 'task', bootId: result.bootId };
    if (result.failure?.kind !== 'not-rebooted') return { kind: 'ended', result };
    reason = result.message;
  } catch (error) {
    reason = said(error);
  }
  if (steps.powerCycle === undefined) return failed(`${reason}; there is no way to cycle its power`);
  try {
    await steps.powerCycle();
    const bootId = await steps.awaitBootId();
    if (bootId !== steps.bootId) return { kind: 'rebooted', by: 'power-cycle', bootId };
    return failed(`${reason}; the boot id is the same after a power cycle`);
  } catch (error) {
    return failed(`${reason}; then the power cycle failed: ${said(error)}`);
  }
}
