import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Plan } from './program.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Does as the program wants it. */
export async function act(plan: Plan): Promise<string> {
  const context = Context.current();
  await pause(3);
  switch (plan) {
    case 'succeeds':
      return 'done';
    case 'fails once':
      if (context.info.attempt === 1) throw new Error('the first try fails');
      return 'done';
    case 'fails':
      throw new Error('each try fails');
    case 'fails for good':
      throw ApplicationFailure.nonRetryable('fails for good');
    case 'times out':
      await pause(5_000);
      return 'too late';
    case 'is deaf':
      for (;;) await pause(3_600_000);
    default:
      while (!context.cancellationSignal.aborted) {
        context.heartbeat();
        await pause(100);
      }
      if (plan === 'is stubborn') return 'done all the same';
      throw context.cancellationSignal.reason;
  }
}
