import type { ActivitySettings } from '../../activities/index.ts';
import { given } from '../../src/core/data/given.ts';
import type { RehearsalAnswer, RehearsalOrder, Rehearser } from '../../src/ops/rehearsals/order.ts';
import { answerOf, Thread } from '../../src/platform/threads/thread.ts';
import type { MaasPace } from './simulation/maas-port.ts';

export interface RehearsalThreadData {
  readonly settings: ActivitySettings;
  /** Of MAAS; default: the usual. */
  readonly pace?: MaasPace | undefined;
  /** Path of the module of helper functions. */
  readonly helpers?: string | undefined;
  /** Path of the module of tag extensions. */
  readonly tagExtensions?: string | undefined;
}

/** 30,000 tasks on 850 nodes take one gigabyte (bench/rehearsal-results.md). */
const MAX_MEGABYTES = 2_048;
/** Of processor time. 30,000 tasks take 90 seconds. */
const MAX_MS = 300_000;

/** Rehearses in a thread, one run at a time: it takes over clock and chance of what runs there. */
export function openRehearser(data: RehearsalThreadData): Rehearser & { close(): Promise<void> } {
  const thread = new Thread<RehearsalOrder, RehearsalAnswer>({
    program: new URL('./simulation/rehearsal-main.ts', import.meta.url),
    makes: 'the rehearsal',
    data,
    maxMegabytes: MAX_MEGABYTES,
  });
  return {
    rehearse: async (order, signal) => answerOf(await thread.ask(order, { workMs: MAX_MS, ...given({ signal }) })),
    close: () => thread.close(),
  };
}
