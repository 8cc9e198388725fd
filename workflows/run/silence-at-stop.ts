import { CancellationScope, patched } from '@temporalio/workflow';
import { aside } from './activity-options.ts';
import { callActivity } from './border.ts';
import type { Control } from './control.ts';

/** Whether a stop asks MAAS. Runs of earlier builds did not. */
export const stopAsksMaas = (): boolean => patched('stop-asks-maas');

/** Since when MAAS has not answered; null: it answers, or nobody knows. For a stop, which does not wait for the report of a silence. */
export async function silenceAtStop(): Promise<string | null> {
  if (!stopAsksMaas()) return null;
  const answer = await callActivity('ask_maas', undefined, aside('whether MAAS answers')).catch(() => null);
  return answer?.since ?? null;
}

/** Runs work that a stop cancels once it finds MAAS silent. A cancellation of the run does not: it waits for its aborts. */
export async function untilStopInSilence(control: Control, work: () => Promise<unknown>): Promise<void> {
  const scope = new CancellationScope({ cancellable: true });
  let isOver = false;
  const leave = async (): Promise<void> => {
    if (isOver || control.cancelled || !stopAsksMaas()) return;
    const since = control.maasSilentSince ?? (await silenceAtStop());
    if (since === null || control.cancelled) return;
    control.maasSilence({ since });
    scope.cancel();
  };
  // A signal's handler runs in the scope of the workflow, whose cancellation would end it.
  control.whenStopped(() => void CancellationScope.nonCancellable(leave));
  try {
    await scope.run(work);
  } finally {
    isOver = true;
  }
}
