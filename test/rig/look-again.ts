import { setTimeout as delay } from 'node:timers/promises';

/** Between two looks at what goes on by itself: looks without a pause take the processor from what they look at. */
export const lookAgain = (): Promise<void> => delay(20);

/** Looks until it sees what is awaited. */
export async function lookUntil<T>(look: () => Promise<T>, isSeen: (seen: T) => boolean): Promise<T> {
  for (;;) {
    const seen = await look();
    if (isSeen(seen)) return seen;
    await lookAgain();
  }
}
