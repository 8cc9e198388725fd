import type { TaskType } from '../task-type.js';

/** How often the command is given when the machine does not go down. */
const MOST_FIRES = 3;
const LOOK_MS = 500;

/**
 * Restarts the machine. The boot id that must change is written down before; the restart ends this
 * runner, and the agent that comes up afterwards finds the new boot id and calls it done. A machine
 * that does not go down is asked again, then given up: the caller may have its power cycled.
 */
export const reboot: TaskType<{ readonly timeout: number }> = {
  name: 'reboot',
  noop: 'skip',
  read: (parameters) => ({ timeout: parameters.amount('timeout', 900) }),
  // The runner keeps the time itself, so that it ends with its own reason.
  limits: (p) => ({
    timeoutSec: p.timeout + 60,
    timeoutCovers: 'all-tries',
    retries: 0,
    intervalSec: 0,
    killGraceSec: 5,
  }),
  run: async (p, context) => {
    const before = context.readBootId();
    context.armReboot(before);
    const summary = { bootIdBefore: before };
    const ends = performance.now() + p.timeout * 1000;
    for (let fired = 1; ; fired += 1) {
      context.print(`restart ${fired} of at most ${MOST_FIRES}`);
      const end = await context.run({ argv: context.rebootCommand });
      if (end.kind === 'not-started') return { failure: end.failure, changed: false, summary };
      const again = fired < MOST_FIRES ? performance.now() + (p.timeout * 1000) / MOST_FIRES : ends;
      while (performance.now() < Math.min(again, ends) && !context.stop.aborted) {
        if (context.readBootId() !== before) return { failure: null, changed: true, summary };
        await context.pause(LOOK_MS);
      }
      if (context.readBootId() !== before) return { failure: null, changed: true, summary };
      if (fired === MOST_FIRES || context.stop.aborted)
        return { failure: { kind: 'not-rebooted', fired }, changed: false, summary };
    }
  },
};
