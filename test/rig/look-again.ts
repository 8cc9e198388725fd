import { setTimeout as delay } from 'node:timers/promises';

/** Between two checks of something that changes by itself: checks without a pause take its processor time. */
export const lookAgain = (): Promise<void> => delay(20);

/** Checks until it sees the awaited state. */
export async function lookUntil<T>(look: () => Promise<T>, isSeen: (seen: T) => boolean): Promise<T> {
  for (;;) {
    const seen = await look();
    if (isSeen(seen)) return seen;
    await lookAgain();
  }
}
