import { setTimeout as delay } from 'node:timers/promises';

/** Between two looks at what goes on by itself: looks without a pause take the processor from what they look at. */
export const lookAgain = (): Promise<void> => delay(20);
