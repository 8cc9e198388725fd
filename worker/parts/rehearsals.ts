import type { ActivitySettings } from '../../activities/index.ts';
import { given } from '../../src/core/data/given.ts';
import type { RehearsalAnswer, RehearsalOrder, Rehearser } from '../../src/ops/rehearsals/order.ts';
import { answerOf, Thread } from '../../src/platform/threads/thread.ts';

export interface RehearsalThreadData {
  readonly settings: ActivitySettings;
}

/** Of a cluster of 200 nodes and 200 tasks: a third of it. */
const MAX_MEGABYTES = 2_048;
/** Of processor time: a day of a large site takes seconds. */
const MAX_MS = 60_000;

/** Rehearses in a thread, one run at a time: it takes over clock and chance of what runs there. */
export function openRehearser(settings: ActivitySettings): Rehearser & { close(): Promise<void> } {
  const thread = new Thread<RehearsalOrder, RehearsalAnswer>({
    program: new URL('./simulation/rehearsal-main.ts', import.meta.url),
    makes: 'the rehearsal',
    data: { settings } satisfies RehearsalThreadData,
    maxMegabytes: MAX_MEGABYTES,
  });
  return {
    rehearse: async (order, signal) => answerOf(await thread.ask(order, { workMs: MAX_MS, ...given({ signal }) })),
    close: () => thread.close(),
  };
}
