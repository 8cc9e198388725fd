import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';

/** One timer at a time. It is reset only when something is due earlier, because each reset costs events. */
interface Alarm {
  /** Calls `onRing` at this time (milliseconds) or earlier. null: nothing is due. */
  set(at: number | null): void;
  stop(): void;
}

export function createAlarm(onRing: () => void, summary = 'until the next retry, record or report is due'): Alarm {
  let current: { readonly at: number; readonly scope: CancellationScope } | null = null;

  function stop(): void {
    current?.scope.cancel();
    current = null;
  }

  return {
    set(at) {
      // A later time needs no new timer: the timer rings early, finds nothing due and is set again.
      if (at === null || (current !== null && current.at <= at)) return;
      stop();
      const scope = new CancellationScope({ cancellable: true });
      const mine = { at, scope };
      current = mine;
      void scope
        .run(() => sleep(Math.max(1, at - Date.now()), { summary }))
        .then(
          () => {
            if (current === mine) current = null;
            onRing();
          },
          (error: unknown) => {
            if (!isCancellation(error)) throw error;
          },
        );
    },
    stop,
  };
}
