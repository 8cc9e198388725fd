import type { ActivitySettings } from '../../../activities/index.ts';
import { given } from '../../../src/core/data/given.ts';
import type { RehearsalAnswer, RehearsalOrder, Rehearser } from '../../../src/ops/rehearsals/order.ts';
import { answerOf, Thread } from '../../../src/platform/threads/thread.ts';
import type { MaasPace } from './maas-port.ts';

export interface RehearsalThreadData {
  readonly settings: ActivitySettings;
  /** Of MAAS; default: the usual. */
  readonly pace?: MaasPace | undefined;
  /** Path of the module of helper functions. */
  readonly helpers?: string | undefined;
  /** Path of the module of tag extensions. */
  readonly tagExtensions?: string | undefined;
}

/** With 30,000 tasks on 850 nodes the whole process has one gigabyte (bench/rehearsal-results.md). */
export const MOST_MEGABYTES = 1_280;
/** Of processor time. 30,000 tasks take 90 seconds. */
const MAX_MS = 300_000;

/** Of the memory that this process may use: who is over it is killed, with all other requests. */
const SHARE = 5 / 8;

/** @param limit bytes that this process may use; 0 or absent: no limit is known */
export function rehearsalMegabytes(limit: number | undefined): number {
  return limit ? Math.min(MOST_MEGABYTES, Math.floor((limit / 1024 ** 2) * SHARE)) : MOST_MEGABYTES;
}

/** Rehearses in a thread, one run at a time: it takes over clock and chance of what runs there. */
export function openRehearser(data: RehearsalThreadData): Rehearser & { close(): Promise<void> } {
  const thread = new Thread<RehearsalOrder, RehearsalAnswer>({
    program: new URL('./rehearsal-main.ts', import.meta.url),
    makes: 'the rehearsal',
    data,
    maxMegabytes: rehearsalMegabytes(process.constrainedMemory()),
  });
  return {
    rehearse: async (order, signal) => answerOf(await thread.ask(order, { workMs: MAX_MS, ...given({ signal }) })),
    close: () => thread.close(),
  };
}
