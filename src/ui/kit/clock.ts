// The time of the page: times update themselves, and stop while there is no news.
import { computed, signal } from '@preact/signals';
import { staleSince } from './store.ts';

/** This moment, in milliseconds; passes while the page is visible. */
export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1_000);
document.addEventListener('visibilitychange', () => {
  now.value = Date.now();
});

/** The moment that the page shows: this one, or the last one of which anything is known. */
export const shownMoment = computed(() => (staleSince.value === null ? now.value : staleSince.value.getTime()));

/** The current time, to ten seconds and to the minute: older values change less often. */
export const tenSeconds = computed(() => Math.floor(now.value / 10_000) * 10_000);
export const minute = computed(() => Math.floor(now.value / 60_000) * 60_000);
