import { reboot as type } from '../../core/task-types/machines.js';
import { runner } from '../task-runner.js';

/** How often the command is given when the machine does not go down. */
const MOST_FIRES = 3;
const LOOK_MS = 500;

/**
 * Restarts the machine. The boot id that must change is written down before; the restart ends this
 * runner, and the agent that comes up afterwards finds the new boot id and calls it done. A machine
 * that does not go down is asked again, then given up: the caller may have its power cycled.
 */
export const reboot = runner(type, {
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
});
