import { reboot as type } from '../../core/task-types/machines.ts';
import { runner } from './task-runner.ts';

/** How many times to run the command if the machine does not go down. */
const MAX_REBOOTS = 3;
const POLL_MS = 500;

/**
 * Restarts the machine. The old boot id is recorded first. The restart ends this runner, and the agent that starts
 * afterwards sees the new boot id and closes the execution as successful. If the machine does not go down, the command
 * is repeated, then the task fails: the caller may power-cycle the machine.
 */
export const reboot = runner(type, {
  run: async (p, context) => {
    const before = context.readBootId();
    context.armReboot(before);
    const summary = { bootIdBefore: before };
    const ends = performance.now() + p.timeout * 1000;
    for (let fired = 1; ; fired += 1) {
      context.print(`restart ${fired} of at most ${MAX_REBOOTS}`);
      const end = await context.run({ argv: context.rebootCommand });
      if (end.kind === 'not-started') return { failure: end.failure, changed: false, summary };
      const again = fired < MAX_REBOOTS ? performance.now() + (p.timeout * 1000) / MAX_REBOOTS : ends;
      while (performance.now() < Math.min(again, ends) && !context.stop.aborted) {
        if (context.readBootId() !== before) return { failure: null, changed: true, summary };
        await context.pause(POLL_MS);
      }
      if (context.readBootId() !== before) return { failure: null, changed: true, summary };
      if (fired === MAX_REBOOTS || context.stop.aborted)
        return { failure: { kind: 'not-rebooted', fired }, changed: false, summary };
    }
  },
});
