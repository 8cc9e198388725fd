import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';
import type { Control } from './control.ts';

/** The time limit of one call. The clock stops while the run is paused. */
interface CallClock {
  readonly expired: boolean;
  /** Stops or continues the clock as the run is paused or resumed. Call it after each change. */
  follow(): void;
  stop(): void;
}

export function startClock(seconds: number, summary: string, control: Control): CallClock {
  let left = seconds * 1000;
  let startedAt = 0;
  let timer: CancellationScope | null = null;
  const clock = {
    expired: false,
    follow() {
      if (control.paused) halt();
      else run();
    },
    stop() {
      halt();
    },
  };

  function run(): void {
    if (timer || clock.expired) return;
    const scope = new CancellationScope({ cancellable: true });
    timer = scope;
    startedAt = Date.now();
    void scope
      .run(() => sleep(Math.max(0, left), { summary }))
      .then(() => {
        clock.expired = true;
        timer = null;
        control.wake();
      })
      .catch((error: unknown) => {
        if (!isCancellation(error)) throw error;
      });
  }

  function halt(): void {
    if (!timer) return;
    left -= Date.now() - startedAt;
    timer.cancel();
    timer = null;
  }

  run();
  return clock;
}
